# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
A build of several compilers at once, and all that can happen to it and to us: nothing is left
running, nothing is left stopped, and no probe stays in the kernel.
"""

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
# (exit, signal) of a compiler whose cargo has died: nobody reads what it writes any more.
ORPHANS_ENDS = {(0, None), (None, signal.SIGPIPE)}


class Build:
    """`qprof-bpf -- cargo build -j2` in a session of its own, in the middle."""

    def __init__(self, t, trace="trace.qpt", **how):
        t.need_capture()
        self.t = t
        self.workspace = Workspace(t)
        self.trace = t.path(trace)
        # The shell outlives a profiler that is killed, and notes how the build ended.
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
        """{pid: name} of what runs of the session; of what has exited only the status is left."""
        return {pid: name for pid, (name, state) in in_session(self.profiler.pid).items()
                if state != "Z"}

    def pid_of(self, name):
        """One of its children has its name until it has begun another program."""
        found = {pid for pid, its in self.left().items() if its == name}
        (pid,) = found - {child for parent in found for child in lab.children(parent)}
        return pid

    def log(self):
        with open(self.t.path("log"), errors="replace") as f:
            return f.read()

    def status(self):
        """How the build ended; None if its shell did not live to tell."""
        try:
            with open(self.t.path("status")) as f:
                return int(f.read())
        except (OSError, ValueError):  # not there yet, or not written yet
            return None

    def wait(self):
        """Our status, when nothing is left."""
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
        """The build ended well, and every compiler was recorded."""
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
        except OSError:  # it is gone
            continue
        state, _, _, its_session = rest.split()[:4]
        if int(its_session) == session:
            pid, _, name = head.partition(" (")
            found[int(pid)] = (name, state)
    return found


def test_stopped_and_continued(t):
    """As a shell does it to its job, with fg some time later."""
    build = Build(t)
    os.killpg(build.profiler.pid, signal.SIGSTOP)
    try:
        # One in vfork() stops only when its child, which is stopped, has begun another program.
        lab.wait_for("all to stop", lambda: {"T", "D"} >= {
            state for _, state in in_session(build.profiler.pid).values() if state != "Z"})
        time.sleep(1)
    finally:
        os.killpg(build.profiler.pid, signal.SIGCONT)
    assert build.wait() == 0, build.log()
    assert build.assert_whole()["lost"] == 0


def test_profiler_stopped(t):
    """Of us alone: the build does not wait for us; what finds no room meanwhile is counted."""
    build = Build(t)
    build.profiler.send_signal(signal.SIGSTOP)
    lab.wait_for("the build to end", lambda: build.status() is not None)
    build.profiler.send_signal(signal.SIGCONT)
    assert build.wait() == 0, build.log()
    assert build.status() == 0
    return "%d lost" % build.report()["lost"]


def test_ctrl_c_on_a_terminal(t):
    """The terminal sends it to all of the foreground: the build ends, the trace is whole."""
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
    """SIGTERM to us alone, as a service manager does: passed on, and waited for."""
    build = Build(t)
    build.profiler.send_signal(signal.SIGTERM)
    status = build.wait()
    assert status in (-signal.SIGTERM, 128 + signal.SIGTERM), (status, build.log())
    assert build.report()["queries"]


def test_profiler_killed(t):
    """kill -9: the build goes on and ends well."""
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
    """kill -9 of what we launched: we end with it. Its compilers go on by themselves, unharmed."""
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
    """Its compilers are recorded to their end, and that is ours."""
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
    # A process has left the trace a moment before it has left the machine.
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
