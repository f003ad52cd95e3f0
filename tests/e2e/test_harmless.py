# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The build is unchanged: same status, same output, same artifacts, whatever happens to the
profiler."""

import glob
import os
import re
import signal
import subprocess

import crates
import lab
from gate import Gate
from lab import each

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
# rustc's threads have 8 MiB of stack. With less, rustc switches to new stacks in mid-query.
SMALL_STACK = {"RUST_MIN_STACK": "1500000"}

# (program, flags, environment, expected status)
FAILING = (
    ("type_error", (), {}, 1),
    ("borrow_error", (), {}, 1),
    ("macro_recursion", (), {}, 1),
    ("many_errors", (), {}, 1),
    ("deep_type", (), {}, 1),
    ("deep_instances", (), {}, 1),
    ("const_chain", ("--cfg=overflow",), {}, 1),
    ("const_chain", ("--cfg=overflow",), SMALL_STACK, 1),
    ("many_errors", ("-Zthreads=4",), BOOTSTRAP, 1),
    ("ice", ("-Ztreat-err-as-bug",), BOOTSTRAP, 101),
)
COMPILING = (
    ("good", (), {}, 0),
    ("const_chain", (), {}, 0),
    ("const_chain", (), SMALL_STACK, 0),
    ("good", ("-Zthreads=4",), BOOTSTRAP, 0),
)


def steady(output):
    """The output without parts that differ between two plain runs: ids, file names, addresses of
    pages."""
    output = re.sub(rb"0x[0-9a-f]+([0-9a-f]{3}) - ", rb"0x*\1 - ", output)
    output = re.sub(rb"thread '(\w+)' \(\d+\)", rb"thread '\1' (TID)", output)
    output = re.sub(rb"\.long-type-\d+\.txt", b".long-type-HASH.txt", output)
    return re.sub(rb"rustc-ice-[0-9T_-]+-\d+\.txt", b"rustc-ice-WHEN-PID.txt", output)


def both(t, argv, env=None):
    """A plain run and a profiled one, in the same place."""
    plain = t.plain(argv, env=env)
    again = t.plain(argv, env=env)
    assert steady(again.stderr) == steady(plain.stderr), "two plain runs differ"
    profiled = t.capture(argv, env=env)
    assert profiled.status == plain.status, "status %d, plainly %d: %s" % (
        profiled.status, plain.status, profiled.stderr.decode()[-500:])
    for name in ("stdout", "stderr"):
        ours, theirs = steady(getattr(profiled, name)), steady(getattr(plain, name))
        assert ours == theirs, "%s differs:\n%s\n--- plainly ---\n%s" % (
            name, ours.decode(), theirs.decode())
    return plain, profiled


def rustc_program(t, toolchain, program, *flags):
    source = os.path.join(PROGRAMS, program + ".rs")
    return [t.toolchain(toolchain).rustc, "--edition", "2021", "--out-dir", t.mkdir("out"),
            *flags, source]


def every_toolchain(cases):
    for toolchain in lab.toolchains() or ("stable",):
        for case in cases:
            yield (toolchain, *case)


@each(*every_toolchain(FAILING))
def test_failing_program(t, toolchain, program, flags, env, status):
    t.need_capture()
    plain, profiled = both(t, rustc_program(t, toolchain, program, *flags), env)
    assert plain.status == status, "the program does not fail as it should: %d" % plain.status
    document = t.report(profiled.trace)
    assert document["lost"] == 0, document["losses"]
    (process,) = document["processes"]
    assert process["exit"] == status, process["exit"]
    return "%d queries left by unwinding" % document["losses"]["unwound"]


@each(*every_toolchain(COMPILING))
def test_compiling_program(t, toolchain, program, flags, env, status):
    t.need_capture()
    argv = rustc_program(t, toolchain, program, *flags)
    artifact = t.path("out", program)
    plain = t.plain(argv, env=env)
    assert plain.status == status, plain.stderr.decode()
    with open(artifact, "rb") as f:
        expected = f.read()
    os.unlink(artifact)
    _, profiled = both(t, argv, env)
    with open(artifact, "rb") as f:
        assert f.read() == expected, "the executable differs"
    document = t.report(profiled.trace)
    assert document["lost"] == 0, document["losses"]
    # The kernel may not report a thread's last switch, so off-CPU time may end with the thread.
    assert not [span for span in t.spans(profiled.trace) if span["open"]], document["losses"]


def test_deep_nesting_is_seen(t):
    """200 nested constants: every level is recorded, on one stack or on several."""
    for env in ({}, SMALL_STACK):
        run = t.capture(rustc_program(t, "stable", "const_chain"), env=env)
        depth = max(span["depth"] for span in t.spans(run.trace))
        assert depth > 200, "depth %d with %s" % (depth, env)


def test_artifacts_are_identical(t):
    t.need_capture()
    out = t.mkdir("out")
    argv = [t.rustc] + crates.arguments("memchr", out, "--emit=link,metadata,dep-info")

    def artifacts():
        found = {}
        for path in sorted(glob.glob(os.path.join(out, "*"))):
            with open(path, "rb") as f:
                found[os.path.basename(path)] = f.read()
            os.unlink(path)
        return found

    assert t.plain(argv).status == 0
    expected = artifacts()
    assert t.capture(argv).status == 0
    ours = artifacts()
    assert expected.keys() == ours.keys() and len(ours) == 3, (list(expected), list(ours))
    for name in expected:
        assert ours[name] == expected[name], "%s differs" % name


def start_long_build(t, name):
    """A waiting build: (profiler, its links, rustc's pid, directory, gate)."""
    t.need_capture()
    out = t.mkdir(name)
    gate = Gate(t)
    # The shell outlives the profiler and stores rustc's exit status.
    script = '"$@" >stdout 2>stderr; echo $? >status'
    profiler = t.start_qprof(
        "-q", "-i", "10ms", "--force", "-o", t.path("trace.qpt"), "--", "sh", "-c", script, "sh",
        *gate.command(name), cwd=out
    )
    gate.reached()
    links = t.attached(profiler)
    (shell,) = [pid for pid in lab.children(profiler.pid) if lab.name_of(pid) == "sh"]
    (compiler,) = lab.children(shell)
    return profiler, links, compiler, out, gate


def status_of(out):
    def read():
        try:
            with open(os.path.join(out, "status")) as f:
                return f.read().strip()
        except OSError:
            return None

    return int(lab.wait_for("the build to end", read))


def test_killed_profiler(t):
    """kill -9 of the profiler: the build ends as usual, and no probe stays in the kernel."""
    for attempt in range(5):
        profiler, links, compiler, out, gate = start_long_build(t, "out%d" % attempt)
        before = os.path.getsize(t.path("trace.qpt"))
        gate.go_on()
        lab.wait_for("queries", lambda: os.path.getsize(t.path("trace.qpt")) > before)
        was_alive = lab.alive(compiler)
        profiler.send_signal(signal.SIGKILL)
        profiler.wait()
        if was_alive:
            break
    assert was_alive, "each compile was over before the profiler was killed"
    assert status_of(out) == 0
    with open(os.path.join(out, "stderr"), "rb") as f:
        assert f.read() == b""
    artifact = os.path.join(out, "libregex_syntax.rlib")
    with open(artifact, "rb") as f:
        ours = f.read()
    os.unlink(artifact)
    assert t.plain(gate.command(os.path.basename(out)), cwd=out).status == 0
    with open(artifact, "rb") as f:
        assert f.read() == ours, "the artifact differs"
    lab.assert_gone(links)

    # The part that was written is readable and marked as incomplete.
    done = t.run_qprof("report", t.path("trace.qpt"))
    assert "unfinished" in done.stdout + done.stderr, done.stdout + done.stderr


def test_killed_rustc(t):
    """rustc dies in the middle of queries: the trace has its signal and the running queries."""
    profiler, _, compiler, out, gate = start_long_build(t, "out")
    os.kill(compiler, signal.SIGKILL)
    gate.go_on()
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err.decode()  # the shell's own status
    assert status_of(out) == 128 + 9

    document = t.report(t.path("trace.qpt"))
    (process,) = [p for p in document["processes"] if p["pid"] == compiler]
    assert (process["exit"], process["signal"]) == (None, 9), process
    assert document["losses"]["open"] > 0, document["losses"]
    assert document["lost"] == 0, document["losses"]
    text = t.run_qprof("report", t.path("trace.qpt")).stdout
    assert "killed by SIGKILL" in text and " was in\n" in text, text[-1000:]


def test_nothing_stays(t):
    gate = Gate(t)
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--", *gate.command("out"))
    gate.reached()
    links = t.attached(profiler)
    gate.go_on()
    assert profiler.wait(timeout=lab.TIMEOUT) == 0
    lab.assert_gone(links)


def test_nothing_stays_while_output_waits(t):
    """Other compilers hit the probes, so these do not wait for the reader of the closing line."""
    gate = Gate(t)
    end, other = lab.full_pipe()
    profiler = t.start_qprof("-o", t.path("trace.qpt"), "--", *gate.command("out"), stderr=end)
    os.close(end)
    gate.reached()
    links = t.attached(profiler)
    gate.go_on()
    lab.assert_gone(links)
    lab.assert_runs(profiler)
    with open(other, "rb") as reader:
        assert b"; wrote " in reader.read()
    assert profiler.wait(timeout=lab.TIMEOUT) == 0


def test_quiet_means_quiet(t):
    """With -q, the output is only the command's."""
    run = t.capture(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (run.status, run.stdout, run.stderr) == (3, b"out\n", b"err\n"), run


@each((1,), (2,), (1, 2), (0, 1, 2))
def test_closed_descriptors(t, *closed):
    """The command has the descriptors that we were given. No file of ours gets the number of one."""
    t.need_capture()
    source = t.write("lib.rs", "pub fn f() -> u8 { 1 }\n")
    look = "open=; for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && open=$open$fd; done\n" \
           "echo \"$open\" > %s; exec %s --crate-type lib --emit=metadata %s" % (
               t.path("open"), t.toolchain().rustc, source)
    shut = "exec \"$@\" " + " ".join("%d>&-" % fd for fd in closed)
    for options in ((), ("-q",)):
        trace = t.path("trace.qpt")
        done = subprocess.run(
            ["sh", "-c", shut, "sh", t.qprof, "record", *options, "--force", "-o", trace, "--",
             "sh", "-c", look],
            capture_output=True, timeout=lab.TIMEOUT, cwd=t.dir, env=t.qprof_env())
        assert done.returncode == 0, done
        with open(t.path("open"), encoding="utf-8") as file:
            assert file.read().strip() == "".join(str(fd) for fd in range(3) if fd not in closed)
        assert t.run_qprof("verify", trace).returncode == 0


@each(("-s 128", "ulimit -s"), ("-d 16000", "ulimit -v, -d"),
      ("-d 10000", "ulimit -v, -d"))
def test_a_limit_of_the_process_is_named(t, limit, named):
    t.need_capture()
    done = subprocess.run(["sh", "-c", "ulimit %s; exec \"$@\"" % limit, "sh", t.qprof, "record", "-q",
                           "-o", t.path("trace.qpt"), "--", "true"],
                          capture_output=True, text=True, timeout=lab.TIMEOUT, env=t.qprof_env())
    assert done.returncode == 125, done
    (line,) = done.stderr.splitlines()
    assert named in line, line


def test_removed_trace(t):
    """The build goes on; the recording, of which nothing is left, is no success."""
    place = t.mkdir("place")
    source = t.write("lib.rs", "pub fn f() -> u8 { 1 }\n")
    compile_it = "%s --crate-type lib --emit=metadata %s; rm -r %s; exit %%d" % (
        t.toolchain().rustc, source, place)
    for status, expected in ((0, 125), (3, 3)):
        os.makedirs(place, exist_ok=True)
        done = t.run_qprof("record", "-q", "-o", os.path.join(place, "a.qpt"), "--", "sh", "-c",
                           compile_it % status)
        assert done.returncode == expected, done
        (line,) = done.stderr.splitlines()
        assert "a.qpt was removed while it was written" in line, line
