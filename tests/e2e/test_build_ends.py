# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A build of several compilers that ends in many ways, as does the profiler: nothing is left
running or stopped, and no probe stays in the kernel."""

import fcntl
import glob
import os
import pty
import signal
import termios
import threading
import time

import lab
from debian_workspace import Workspace, started_by_cargo
from test_follow import start_recording
from test_workspace import cargos_own, names

FAILURE = 125
# (exit, signal) of a compiler whose cargo has died: its output has no reader.
ORPHANS_ENDS = {(0, None), (None, signal.SIGPIPE)}


class Build:
    """`qprof-bpf -- cargo build -j2` in a session of its own, in the middle of the build."""

    def __init__(self, t, trace="trace.qpt", **how):
        t.need_capture()
        self.t = t
        self.workspace = Workspace(t)
        self.trace = t.path(trace)
        # The shell outlives a killed profiler, and stores the build's exit status.
        script = '"$@"; s=$?; echo $s >%s; exit $s' % t.path("status")
        how.setdefault("stderr", open(t.path("log"), "wb"))
        self.profiler = t.start_qprof(
            "-q", "-o", self.trace, "--", "sh", "-c", script, "sh",
            *self.workspace.command("-p", "tool"), cwd=self.workspace.dir,
            env=self.workspace.env(), start_new_session=True, **how)
        self.links = t.attached(self.profiler)
        lab.wait_for("the build to be under way", self.is_under_way)

    def is_under_way(self):
        assert self.profiler.poll() is None, self.log()
        done = glob.glob(os.path.join(self.workspace.target, "debug/deps/*.rmeta"))
        return len(done) >= 2 and "rustc" in self.left().values()

    def left(self):
        """{pid: name} of the session's processes, without zombies."""
        return {pid: name for pid, (name, state) in in_session(self.profiler.pid).items()
                if state != "Z"}

    def pid_of(self, name):
        """The process of this name; its child has the same name until the child executes a program."""
        found = {pid for pid, its in self.left().items() if its == name}
        (pid,) = found - {child for parent in found for child in lab.children(parent)}
        return pid

    def log(self):
        with open(self.t.path("log"), errors="replace") as f:
            return f.read()

    def status(self):
        """The build's exit status; None if its shell has not written one."""
        try:
            with open(self.t.path("status")) as f:
                return int(f.read())
        except (OSError, ValueError):  # not there or not written yet
            return None

    def wait(self):
        """The profiler's status, after all processes of the session have ended."""
        status = self.profiler.wait(timeout=lab.TIMEOUT)
        self.assert_nothing_left()
        return status

    def assert_nothing_left(self):
        lab.wait_for("all to end: %s" % self.left(), lambda: not self.left())
        lab.assert_gone(self.links)

    def report(self):
        document = self.t.report(self.trace)
        assert document["problem"] is None, document["problem"]
        return document

    def assert_whole(self):
        """The build succeeded, and every compiler was recorded."""
        assert self.status() == 0, self.log()[-2000:]
        document = self.report()
        assert names(cargos_own(document["processes"])) == started_by_cargo(self.log())
        return document


def in_session(session):
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                head, _, rest = f.read().rpartition(") ")
        except OSError:  # the process is gone
            continue
        state, _, _, its_session = rest.split()[:4]
        if int(its_session) == session:
            pid, _, name = head.partition(" (")
            found[int(pid)] = (name, state)
    return found


def test_stopped_and_continued(t):
    """As a shell does to a job with Ctrl-Z, and with fg some time later."""
    build = Build(t)
    os.killpg(build.profiler.pid, signal.SIGSTOP)
    try:
        # A process in vfork() waits, in state D, for its stopped child.
        lab.wait_for("all to stop", lambda: {"T", "D"} >= {
            state for _, state in in_session(build.profiler.pid).values() if state != "Z"})
        time.sleep(1)
    finally:
        os.killpg(build.profiler.pid, signal.SIGCONT)
    assert build.wait() == 0, build.log()
    assert build.assert_whole()["lost"] == 0


def test_profiler_stopped(t):
    """Only the profiler is stopped: the build does not wait, and records without room are counted."""
    build = Build(t)
    build.profiler.send_signal(signal.SIGSTOP)
    lab.wait_for("the build to end", lambda: build.status() is not None)
    build.profiler.send_signal(signal.SIGCONT)
    assert build.wait() == 0, build.log()
    assert build.status() == 0
    return "%d lost" % build.report()["lost"]


def test_ctrl_c_on_a_terminal(t):
    """The terminal interrupts the whole foreground group: the build ends, and the trace is whole."""
    master, slave = pty.openpty()
    drawn = []

    def drain():
        while True:
            try:
                drawn.append(os.read(master, 65536))
            except OSError:
                return

    threading.Thread(target=drain, daemon=True).start()
    build = Build(t, stdin=slave, stdout=slave, stderr=slave,
                  preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.write(master, b"\x03")
    status = build.wait()
    assert status in (-signal.SIGINT, 128 + signal.SIGINT), (status, b"".join(drawn)[-500:])
    assert build.report()["queries"]
    os.close(slave)


def test_terminated(t):
    """SIGTERM to the profiler only, as a service manager does: it passes the signal on, and waits."""
    build = Build(t)
    build.profiler.send_signal(signal.SIGTERM)
    status = build.wait()
    assert status in (-signal.SIGTERM, 128 + signal.SIGTERM), (status, build.log())
    assert build.report()["queries"]


def test_profiler_killed(t):
    """kill -9 of the profiler: the build goes on and succeeds."""
    build = Build(t)
    build.profiler.kill()
    build.profiler.wait()
    assert build.left(), "it ended before it was put to the test"
    lab.wait_for("the build to end", lambda: build.status() is not None)
    assert build.status() == 0, build.log()
    build.assert_nothing_left()
    done = t.run_qprof("report", build.trace)
    assert "unfinished" in done.stdout + done.stderr, done


def test_cargo_killed(t):
    """kill -9 of the command: the profiler ends with it, and the compilers go on unharmed."""
    build = Build(t)
    orphans = lab.wait_for("compilers", lambda: {
        pid for pid, name in build.left().items() if name == "rustc"})
    os.kill(build.pid_of("cargo"), signal.SIGKILL)
    status = build.wait()
    assert (status, build.status()) == (128 + 9, 128 + 9), (status, build.log())
    ends = {p["pid"]: (p["exit"], p["signal"]) for p in build.report()["processes"]}
    assert orphans & ends.keys(), (orphans, ends)
    assert {ends[pid] for pid in orphans & ends.keys()} <= {*ORPHANS_ENDS, (None, None)}, ends


def test_cargo_killed_that_we_attached_to(t):
    """kill -9 of cargo, which was attached to: its compilers are recorded to their end."""
    t.need_capture()
    workspace = Workspace(t)
    cargo = t.start_plain(workspace.command("-p", "tool"), cwd=workspace.dir, env=workspace.env(),
                          start_new_session=True)
    profiler = start_recording(t, "--pid", str(cargo.pid))
    links = lab.links_of(profiler)
    orphans = lab.wait_for("compilers", lambda: {
        pid for pid, (name, _) in in_session(cargo.pid).items() if name == "rustc"})
    cargo.kill()
    cargo.wait()
    assert profiler.wait(timeout=lab.TIMEOUT) == 0, profiler.said()
    # A process leaves the trace a moment before it leaves the machine.
    lab.wait_for("all to end", lambda: {"Z"} >= {
        state for _, state in in_session(cargo.pid).values()})
    lab.assert_gone(links)
    document = t.report(t.path("trace.qpt"))
    assert document["problem"] is None, document["problem"]
    ends = {p["pid"]: (p["exit"], p["signal"]) for p in document["processes"]}
    assert orphans & ends.keys(), (orphans, ends)
    assert {ends[pid] for pid in orphans & ends.keys()} <= ORPHANS_ENDS, (orphans, ends)


def test_disk_full(t):
    """The trace ends early; the build does not."""
    with t.mounted("disk", "-t", "tmpfs", "-o", "size=64k", "none") as disk:
        t.give(disk)
        build = Build(t, trace="disk/x.qpt")
        assert build.wait() == FAILURE, build.log()
        assert build.status() == 0, build.log()
        assert "No space left" in build.log(), build.log()[-500:]
