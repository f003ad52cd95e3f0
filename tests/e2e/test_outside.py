# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Recordings without any privilege: compilers are read from outside."""

import collections
import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess

import crates
import lab
from compiles import BOOTSTRAP, profiled_path
from lab import each
from mm_profdata import Profile
from test_without_root import User

MISSING = "recording from outside, as CAP_BPF, CAP_PERFMON are missing"
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
PROCESS_VM_READV, BPF, PERF_EVENT_OPEN = 310, 321, 298


def forbid(*calls):
    """A function for subprocess: the system calls fail with EPERM from then on, as in a container."""
    load, equal, ret, allow, refuse = 0x20, 0x15, 0x06, 0x7fff0000, 0x00050000 | 1
    lines = [(load, 0, 0, 0)]
    for i, call in enumerate(calls):
        lines.append((equal, len(calls) - i, 0, call))
    lines += [(ret, 0, 0, allow), (ret, 0, 0, refuse)]
    code = b"".join(struct.pack("HBBI", *line) for line in lines)

    def run():
        libc = ctypes.CDLL(None, use_errno=True)
        buffer = ctypes.create_string_buffer(code, len(code))
        program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(buffer))
        assert not libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        assert not libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_char_p(program)), ctypes.get_errno()

    return run


def run(user, *argv, forbidden=(), **env):
    return subprocess.run(
        [user.qprof, *argv], timeout=lab.TIMEOUT, preexec_fn=forbid(*forbidden) if forbidden else None,
        **{**user.arguments(**env), "cwd": user.home})


def arguments(pid):
    try:
        return lab.read_text("/proc/%d/cmdline" % pid)
    except OSError:
        return ""


def queries_of(t, trace):
    done = t.run_qprof("report", "--by", "query", "--json", trace)
    assert done.returncode == 0, done.stderr
    return {q["name"]: q for q in json.loads(done.stdout)["queries"]}


def assert_equal(queries, profile):
    """What is said to be exact is; returns how many are. Executions that share an id are all of one
    query in rustc's profile (SHARED in equality.py)."""
    truth = profile.counts()
    ids = collections.Counter(event.invocation for event in profile.intervals())
    exact = [name for name, q in queries.items() if q["count"] is not None]
    wrong = {name: (queries[name]["count"], truth[name]) for name in exact
             if queries[name]["count"] != truth[name]}
    assert not sum(ours - theirs for ours, theirs in wrong.values()), wrong
    assert sum(abs(ours - theirs) for ours, theirs in wrong.values()) <= 2 * sum(
        n - 1 for n in ids.values()), wrong
    return len(exact)


def edited(user, out, name, flags):
    """The crate's source, which has another function than when it was compiled into `name`."""
    directory = os.path.join(out, name + ".src")
    shutil.copytree(os.path.dirname(crates.source(crates.LONG)), directory)
    source = os.path.join(directory, "lib.rs")
    argv = crates.arguments(crates.LONG, out, *flags, "-Cincremental=" + os.path.join(out, name),
                            at=source)
    subprocess.run([user.rustc, *argv], check=True, **user.arguments(**BOOTSTRAP))
    with open(source, "a") as f:
        f.write("\npub fn added() -> usize { let v: Vec<u8> = Vec::new(); v.len() }\n")
    return source


@each("metadata", "debug", "release", "threads", "first incremental", "edited incremental")
def test_counts_are_rustcs_own(t, mode):
    """A compiler that was gone too early, as on a busy machine, has none that are exact."""
    flags = {"metadata": ["--emit=metadata"], "debug": ["-g"], "release": ["-O"],
             "threads": ["-Zthreads=4"]}.get(mode, ["-g"])
    least = 100 if mode == "edited incremental" else 150
    with User(t, None) as user:
        trace = os.path.join(user.home, "trace.qpt")
        for attempt in range(5):
            out = os.path.join(user.home, "out")
            os.makedirs(out, exist_ok=True)
            os.chown(out, user.pw.pw_uid, user.pw.pw_gid)

            def compile_it(name, *more):
                source = None
                if "incremental" in mode:
                    more += ("-Cincremental=" + os.path.join(out, name),)
                if mode == "edited incremental":
                    source = edited(user, out, name, flags)
                os.chown(t.path(name + ".profile"), user.pw.pw_uid, user.pw.pw_gid)
                done = run(user, "--force", "-o", trace, "--", user.rustc,
                           *crates.arguments(crates.LONG, out, *flags, *more, at=source), **BOOTSTRAP)
                done.status, done.stderr = done.returncode, done.stderr.encode()
                return done

            done, path = profiled_path(t, "truth%d." % attempt, "query-provider", compile_it)
            assert MISSING in done.stderr.decode(), done.stderr
            queries = queries_of(t, trace)
            exact = assert_equal(queries, Profile.read(path))
            if exact or mode == "threads":
                break
    # Heads of tables that lie on the heap prove nothing.
    assert exact > least if mode != "threads" else not exact, exact
    known = exact and mode != "edited incremental"
    assert queries["typeck"]["count" if known else "results"] > (500 if known else 0)
    # Threads of LLVM are known by their names.
    llvm_ns = t.report(trace)["build"]["sampled"]["llvm_ns"]
    assert (llvm_ns > 0) == (mode != "metadata"), llvm_ns
    # By looks at what runs.
    seen = [name for name, q in queries.items() if q["samples"]]
    assert len(seen) > 3, seen
    return "%d queries exact, %d seen" % (exact, len(seen))


def test_items_have_names(t):
    with User(t, None) as user:
        trace = os.path.join(user.home, "trace.qpt")
        done = run(user, "-q", "-o", trace, "--", *user.compile(crates.LONG))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        assert os.stat(trace).st_uid == user.pw.pw_uid
    document = t.json("report", "--by", "item", "--json", trace)
    names = {item["name"] for item in document["items"] if item["name"]}
    assert any(name.startswith("regex_syntax::") for name in names), names
    report = t.text("report", trace)
    assert "by looks from outside" in report, report
    header = json.loads(t.text("dump", trace).splitlines()[0])
    assert header["source"] == "outside", header


def test_a_build_is_as_without_us(t):
    """Status, output and signals are the command's own."""
    with User(t, None) as user:
        for script, status in (("exit 3", 3), ("echo out; echo err >&2", 0), ("kill -9 $$", -9),
                               ("'%s' '%s/type_error.rs'" % (user.rustc, PROGRAMS), 1)):
            plain = subprocess.run(["sh", "-c", script], **user.arguments())
            done = run(user, "-q", "--force", "-o", "trace.qpt", "--", "sh", "-c", script)
            assert done.returncode == plain.returncode == status, (script, done)
            assert done.stdout == plain.stdout, (script, done)
            ours = [line for line in done.stderr.splitlines(True) if line.startswith("qprof-bpf: ")]
            theirs = "".join(line for line in done.stderr.splitlines(True) if line not in ours)
            assert theirs == plain.stderr, (script, plain.stderr, done.stderr)


@each("no memory", "no kernel half")
def test_in_a_container(t, kind):
    """As Docker's default seccomp profile forbids the kernel half. Where memory cannot be read
    either, one line says so."""
    with User(t, None) as user:
        trace = os.path.join(user.home, "trace.qpt")
        forbidden = [BPF, PERF_EVENT_OPEN] + [PROCESS_VM_READV] * (kind == "no memory")
        done = run(user, "-o", trace, "--", *user.compile(crates.LONG), forbidden=forbidden)
        assert done.returncode == 0, done
    lines = [line for line in done.stderr.splitlines() if "memory of compilers cannot be read" in line]
    assert len(lines) == (kind == "no memory"), done.stderr
    (process,) = t.report(trace)["processes"]
    assert process["crate"] == "regex_syntax" and process["peak_bytes"] > 0, process
    assert bool(process["queries"]) == (kind != "no memory"), process["queries"]


def test_the_build_goes_on_if_we_are_killed(t):
    with User(t, None) as user:
        command = user.compile(crates.LONG)
        script = '"$@"; echo $? >done'
        profiler = t.start([user.qprof, "-q", "-o", "trace.qpt", "--", "sh", "-c", script, "sh", *command],
                           **user.arguments())
        lab.wait_for("a compiler", lambda: any(
            arguments(pid).startswith(user.rustc)
            for child in lab.children(profiler.pid) for pid in lab.children(child)))
        profiler.send_signal(signal.SIGKILL)
        lab.wait_for("the build", lambda: os.path.exists(os.path.join(user.home, "done")))
        lab.wait_for("its status", lambda: lab.read_text(os.path.join(user.home, "done")) == "0\n")


def test_a_running_process_of_ones_own(t):
    script = 'until [ -e "$0" ]; do sleep 0.1; done; "$@"; :'
    with User(t, None) as user:
        trace = os.path.join(user.home, "trace.qpt")
        # A plan may take as long as the compile.
        assert run(user, "plan", user.rustc).returncode == 0
        build = t.start(["sh", "-c", script, t.path("go"), *user.compile(crates.LONG)],
                        **user.arguments())
        profiler = t.start([user.qprof, "-o", trace, "--pid", str(build.pid)], **user.arguments())
        lab.wait_for("the recording", lambda: os.path.exists(trace))
        t.write("go", "")
        _, err = profiler.communicate(timeout=lab.TIMEOUT)
        assert profiler.returncode == 0 and MISSING in err, err
    typeck = queries_of(t, trace)["typeck"]
    assert typeck["results"] and "cannot be read" not in err, (typeck, err)


# Queries that unwinding leaves: each of the two errors is fatal.
FATAL = """
pub trait Foo {}
pub struct S<T>(T);
impl<T> Foo for T where S<T>: Foo {}
pub fn f<T: Foo>() {}
%s
fn main() { f::<u8>(); }
"""


def test_what_unwinding_left_was_executed(t):
    """A compile that fails, from outside and by probes. One that was gone too early has no exact rows."""
    more = "\n".join("pub fn f%d(x: u32) -> Vec<u32> { vec![x].into_iter().map(|x| x + %d).collect() }" % (i, i)
                     for i in range(300))
    source = t.write("fatal.rs", FATAL % more)
    command = ["--emit=metadata", "-Cincremental=" + t.path("incremental"), "-o", "fatal.rmeta", source]
    probes = t.capture([t.rustc, *command], ("-q", "--exact", "--no-sample")).trace
    truth = {name: q["count"] for name, q in queries_of(t, probes).items()}
    with User(t, None) as user:
        command[1] = "-Cincremental=incremental"
        trace = os.path.join(user.home, "trace.qpt")
        for _ in range(10):
            done = run(user, "-q", "--force", "-o", trace, "--", user.rustc, *command)
            assert done.returncode == 1 and "E0275" in done.stderr, done
            queries = queries_of(t, trace)
            if queries.get("check_well_formed", {"count": None})["count"] is not None:
                break
    exact = {name: q["count"] for name, q in queries.items() if q["count"] is not None}
    assert exact["check_well_formed"] > 300, queries["check_well_formed"]
    wrong = {name: (n, truth.get(name)) for name, n in exact.items() if n != truth.get(name)}
    assert not wrong, wrong
    return "%d queries exact" % len(exact)


def test_what_no_look_saw_is_known(t):
    """Programs that come and go, most of them between two looks."""
    with User(t, None) as user:
        trace = os.path.join(user.home, "trace.qpt")
        script = 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done; "$@"'
        done = run(user, "-q", "-o", trace, "--", "sh", "-c", script, "sh",
                   *user.compile(crates.SHORT))
        assert done.returncode == 0, done
    assert t.report(trace)["cost"]["unseen_ns"] > 0
    report = t.text("report", trace)
    assert "\nunseen    " in report and "ended between two looks" in report, report


def test_it_takes_nothing_else(t):
    """And no rights of root's through sudo."""
    for options in (("--exact",), ("--callers",), ("-e", "none"), ("--slow", "1ms"), ("--no-sample",)):
        done = t.run_qprof("--attach", "read", *options, "-o", t.path("x.qpt"), "--", "true")
        assert done.returncode == 2 and "--attach read" in done.stderr, done
    done = t.run_qprof("--attach", "read", "--system")
    assert done.returncode == 2, done
    env = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534"}
    done = subprocess.run([t.qprof, "--attach", "read", "-o", t.path("x.qpt"), "--", "true"], env=env,
                          capture_output=True, text=True, cwd=t.dir)
    assert done.returncode == 125 and "without sudo" in done.stderr, done
