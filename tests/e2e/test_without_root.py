# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An ordinary user, and an executable with file capabilities: their features and messages."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess

import crates
import lab
from gate import Gate
from lab import Skip, each
from slow_loader import compile_in_time, driver

FAILURE = 125
BOTH = "cap_bpf,cap_perfmon"


class User:
    """The user nobody, with a copy of qprof-bpf, which may have capabilities, and a toolchain within
    reach."""

    def __init__(self, t, capabilities):
        self.t = t
        self.pw = lab.pwd.getpwnam("nobody")
        self.qprof = t.path("qprof-bpf")
        shutil.copy(t.qprof, self.qprof)
        os.chmod(self.qprof, 0o755)
        if capabilities:
            self.give(capabilities)
        self.home = t.mkdir("home")
        os.chown(self.home, self.pw.pw_uid, self.pw.pw_gid)

    def give(self, capabilities):
        done = subprocess.run(["setcap", capabilities + "+ep", self.qprof],
                              capture_output=True, text=True)
        if done.returncode:
            raise Skip("cannot set file capabilities: " + done.stderr.strip())

    def __enter__(self):
        # The toolchain may be in a home that is closed to others. Read-only, it cannot be damaged.
        self.mount = self.t.mounted("toolchain", "-o", "bind,ro", self.t.toolchain().sysroot)
        self.sysroot = self.mount.__enter__()
        self.rustc = os.path.join(self.sysroot, "bin/rustc")
        return self

    def __exit__(self, *why):
        self.mount.__exit__(*why)

    def arguments(self, **more):
        """Arguments for subprocess to run as this user."""
        path = os.path.join(self.sysroot, "bin") + ":" + os.environ.get("PATH", "/usr/bin:/bin")
        env = {"HOME": self.home, "PATH": path, **more}
        return dict(user=self.pw.pw_uid, group=self.pw.pw_gid, extra_groups=[], cwd=self.home,
                    env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True)

    def run(self, *argv, before=(), **env):
        return subprocess.run([*before, self.qprof, *lab.exactly(argv)], timeout=lab.TIMEOUT,
                              **self.arguments(**env))

    def compile(self, crate):
        out = os.path.join(self.home, "out")
        os.makedirs(out, exist_ok=True)
        os.chown(out, self.pw.pw_uid, self.pw.pw_gid)
        return [self.rustc] + crates.arguments(crate, out, "--emit=metadata")


def findings(done):
    document = json.loads(done.stdout)
    assert document["schema"] == "qprof-doctor/1" and not done.stderr, done
    assert done.returncode == (0 if document["works"] else 1), done
    return {f["name"]: f for f in document["findings"]}


def test_two_capabilities_record(t):
    """The counts are those of root; the trace is the user's."""
    t.need_capture()
    with User(t, BOTH) as user:
        command = user.compile(crates.SHORT)
        done = user.run("-q", "-o", "trace.qpt", "--", *command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        trace = os.path.join(user.home, "trace.qpt")
        assert os.stat(trace).st_uid == user.pw.pw_uid
        cache = os.path.join(user.home, ".cache/qprof-bpf")
        # A plan of another user's library would not be believed, so none is stored.
        assert not os.path.exists(cache) or not os.listdir(cache), os.listdir(cache)
        counts = t.counts(trace)
        assert counts and counts == t.counts(t.capture(command).trace)


def test_the_command_is_as_without_us(t):
    """The command has no capability, and its whole environment, including variables that the
    dynamic linker removes for qprof-bpf."""
    t.need_capture()
    env = {"TMPDIR": t.dir, "LD_LIBRARY_PATH": t.dir, "EMPTY": ""}
    script = "env | sort; grep ^Cap /proc/self/status; cat /proc/self/comm"
    with User(t, BOTH) as user:
        plain = subprocess.run(["sh", "-c", script], **user.arguments(**env))
        done = user.run("-q", "-o", "trace.qpt", "--", "sh", "-c", script, **env)
        assert "LD_LIBRARY_PATH" in plain.stdout
        assert (done.returncode, done.stdout) == (0, plain.stdout), done


def recording(t, user, pid):
    """A recorder of the user's, after it has attached or ended."""
    profiler = t.start([user.qprof, "-q", "--exact", "--no-sample", "-o", "trace.qpt", "--pid", str(pid)],
                       **user.arguments())
    lab.wait_for("probes or an end", lambda: profiler.poll() is not None
                 or len(lab.links_of(profiler)) > lab.COST_LINKS)
    if profiler.poll() is None:
        t.attached(profiler)
    return profiler


def ended(profiler):
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    return profiler.returncode, err


def test_own_process(t):
    t.need_capture()
    script = 'until [ -e "$0" ]; do sleep 0.1; done; "$@"; :'
    with User(t, BOTH) as user:
        command = user.compile(crates.LONG)
        build = t.start(["sh", "-c", script, t.path("go"), *command], **user.arguments())
        profiler = recording(t, user, build.pid)
        t.write("go", "")
        assert ended(profiler) == (0, "")
        assert t.counts(os.path.join(user.home, "trace.qpt"))["typeck"] > 100


def test_process_of_another_user(t):
    """Kernels differ in what CAP_PERFMON permits; doctor tries it."""
    t.need_capture()
    with User(t, BOTH) as user:
        may = findings(user.run("doctor", "--json"))["other users"]["state"] == "ok"
        roots = t.start(["sleep", "1000"])
        profiler = recording(t, user, roots.pid)
        if may:
            profiler.send_signal(signal.SIGINT)
            assert ended(profiler) == (0, "")
            return "allowed"
        status, err = ended(profiler)
        (line,) = err.splitlines()
        assert status == FAILURE and "somebody else" in line and "sudo" in line, err
        return "refused"


def own_toolchain(t, user):
    """Make a toolchain whose library can be deleted; returns its rustc."""
    for name in ("old", "old/bin", "old/lib"):
        t.mkdir(name)
    shutil.copy2(user.rustc, t.path("old/bin/rustc"))
    for path in glob.glob(os.path.join(user.sysroot, "lib/*")):
        copy = shutil.copy2 if "librustc_driver" in path else os.symlink
        copy(path, t.path("old/lib", os.path.basename(path)))
    return t.path("old/bin/rustc")


def goes_on_without(t, user, pid):
    """With --system, an unreadable process does not keep others from being recorded."""
    with open(t.path("said"), "wb") as f:
        profiler = t.start([user.qprof, "-v", "-o", "others.qpt", "--system"],
                           **{**user.arguments(), "stderr": f})
    profiler.said = lambda: lab.read_text(t.path("said"))
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    compile_in_time(t, profiler, user.compile(crates.SHORT),
                    lambda argv: t.start(argv, **user.arguments()), driver(user.rustc))
    profiler.send_signal(signal.SIGINT)
    status, err = profiler.wait(timeout=lab.TIMEOUT), profiler.said()
    lab.check_end(status, err)
    (line,) = [line for line in err.splitlines() if re.search(r"process %d\b" % pid, line)]
    assert "going on without" in line and "CAP_CHECKPOINT_RESTORE" in line, err
    processes = t.report(os.path.join(user.home, "others.qpt"))["processes"]
    assert crates.SHORT.replace("-", "_") in {p["crate"] for p in processes}, processes


@lab.alone("it records, and holds, the compilers of all tests")
def test_deleted_library(t):
    """rustup may replace a toolchain in mid-build. Reading the old one needs another capability."""
    t.need_capture()
    with User(t, BOTH) as user:
        compiler = own_toolchain(t, user)
        gate = Gate(t)
        build = t.start(["sh", "-c", '"$@"; exit $?', "sh", compiler]
                        + user.compile(crates.LONG)[1:-1] + [gate.source], **user.arguments())
        gate.reached()
        (pid,) = lab.children(build.pid)
        shutil.rmtree(t.path("old"))
        done = user.run("-o", "trace.qpt", "--pid", str(pid))
        (line,) = done.stderr.splitlines()
        assert done.returncode == FAILURE and "CAP_CHECKPOINT_RESTORE" in line, done
        done = user.run("stuck", "--once", "-p", str(build.pid))
        (line,) = done.stderr.splitlines()
        assert "going on without" in line and "CAP_CHECKPOINT_RESTORE" in line, done
        said = " ".join(done.stdout.split())
        assert "compiler %d, started " % pid in said and "its queries are unknown: " in said, said
        assert "no compiler runs" not in said and "first query" not in said, said
        goes_on_without(t, user, pid)
        user.give(BOTH + ",cap_checkpoint_restore")
        profiler = recording(t, user, pid)
        gate.go_on()
        assert ended(profiler) == (0, "")
        assert t.counts(os.path.join(user.home, "trace.qpt"))


@each(("cap_bpf", "CAP_PERFMON"), ("cap_perfmon", "CAP_BPF"))
def test_one_capability_is_not_enough(t, given, missing):
    t.need_capture()
    with User(t, given) as user:
        done = user.run("-o", "trace.qpt", "--", "true")
        assert done.returncode == FAILURE, done
        (line,) = done.stderr.splitlines()
        assert "missing %s;" % missing in line and "qprof-bpf doctor" in line, line
        assert not os.listdir(user.home), "left something behind"
        found = findings(user.run("doctor", "--json"))["capabilities"]
        assert found["state"] == "problem" and "missing " + missing in found["says"], found
        assert "setcap %s+ep %s" % (BOTH, user.qprof) in found["fix"], found


def test_perf_events_take_more(t):
    t.need_capture()
    with User(t, BOTH) as user:
        done = user.run("--attach", "perf", "-o", "trace.qpt", "--", "true")
        (line,) = done.stderr.splitlines()
        assert done.returncode == FAILURE and "missing CAP_SYS_ADMIN;" in line, done


def test_doctor_says_it_works(t):
    t.need_capture()
    with User(t, BOTH) as user:
        found = findings(user.run("doctor", "--json"))
        for name in ("BPF programs", "ring buffer", "raw tracepoints", "capabilities", "rehearsal",
                     "probes"):
            assert found[name]["state"] == "ok", found[name]
        # The rustc in this user's PATH. The machine may have others.
        compiler = found["rustc"]
        assert compiler["section"] == "toolchains" and compiler["state"] == "ok", compiler


def test_doctor_knows_what_takes_capabilities_away(t):
    t.need_capture()
    with User(t, BOTH) as user:
        done = user.run("doctor", "--json", before=["setpriv", "--no-new-privs"])
        found = findings(done)["capabilities"]
        assert found["state"] == "problem" and "no_new_privs" in found["says"], found
