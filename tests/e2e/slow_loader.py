# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compilers that run no library code before the recording is ready, even on a busy machine. If the
plan takes longer than a ptrace stop may last, the compiler is complete, but marked as late."""

import contextlib
import os
import re
import shutil
import signal
import tempfile
import threading
import time

import lab

HELD_MOST = 3.0  # seconds, as README and docs promise


class SlowLoader:
    """Holds up a compiler's loader after it has mapped librustc_driver: the next library, LLVM's,
    is a FIFO in the first directory of the search path."""

    def __init__(self, t):
        names = [name for name in os.listdir(os.path.join(t.toolchain().sysroot, "lib"))
                 if name.startswith("libLLVM.so")]
        if len(names) != 1:
            raise lab.Skip("the toolchain does not have LLVM in one library of its own")
        directory = tempfile.mkdtemp(dir=t.dir)
        self.fifo = os.path.join(directory, *names)
        os.mkfifo(self.fifo)
        os.chmod(directory, 0o755)
        os.chmod(self.fifo, 0o666)
        self.launcher = [shutil.which("env"), "LD_LIBRARY_PATH=" + directory]

    def open_for_writing(self):
        """The FIFO, or None while the loader has not opened it."""
        try:
            return open(os.open(self.fifo, os.O_WRONLY | os.O_NONBLOCK), "wb")
        except OSError:
            return None

    def go_on(self):
        # The loader skips a library for 32-bit machines.
        with lab.wait_for("the loader", self.open_for_writing) as f:
            f.write(b"\x7fELF\x01\x01\x01".ljust(64, b"\0"))


class Gaps:
    """One thread per CPU sleeps for 10 ms repeatedly, and measures how much longer each sleep takes."""

    def __init__(self):
        self.of = {cpu: 0 for cpu in os.sched_getaffinity(0)}
        for cpu in self.of:
            threading.Thread(target=self.measure, args=(cpu,), daemon=True).start()

    def measure(self, cpu):
        os.sched_setaffinity(0, {cpu})
        while True:
            begin = time.monotonic()
            time.sleep(0.01)
            self.of[cpu] = max(self.of[cpu], time.monotonic() - begin - 0.01)

    def longest(self):
        """The longest gap in seconds."""
        return max(self.of.values())


def held_most(err):
    """The longest wait of a compiler, by the recording's own output."""
    one = re.search(r"1 compiler waited ([0-9.]+) s", err)
    most = re.search(r"compilers waited for their probes: ([0-9.]+) s at most", err)
    assert one or most, err
    return float((one or most).group(1))


def assert_in_time(process, err):
    """A busy machine may need longer for a plan than a compiler is held. Then the compiler is
    marked as late, but is complete, thanks to SlowLoader."""
    assert not process["attached_late"] or held_most(err) > HELD_MOST - 1, err


def state_of(pid):
    """The state in /proc/PID/stat; X if the process is gone."""
    try:
        return lab.read_text("/proc/%d/stat" % pid).rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def reads(pid, path):
    try:
        return any(os.readlink("/proc/%d/fd/%s" % (pid, fd)) == path
                   for fd in os.listdir("/proc/%d/fd" % pid))
    except OSError:
        return False


def planners(profiler, of=None):
    """Of one library, if `of` is its path: other compilers may run on the machine."""
    return [pid for pid in lab.children(profiler.pid)
            if lab.alive(pid) and lab.name_of(pid) == "qprof-bpf: read"
            and (not of or reads(pid, of))]


def stop_planner(profiler, of=None):
    """Stop a planner; returns it, or None."""
    for planner in planners(profiler, of):
        with contextlib.suppress(ProcessLookupError):
            os.kill(planner, signal.SIGSTOP)
            lab.wait_for("the planner to stop", lambda: state_of(planner) in "TZX")
            if state_of(planner) == "T":
                return planner
    return None


def store_plan(t, compiler):
    """Store the plan, so that nothing waits for it. A file that has just changed gets no stored
    plan."""
    wait_for_age = lambda: time.time() - os.stat(driver(compiler)).st_ctime > 2.5
    lab.wait_for("its ctime to be old", wait_for_age)
    # Not by a recording: a version check is over before it is stopped on a busy machine.
    assert t.run_qprof("plan", driver(compiler)).returncode == 0


def driver(compiler):
    """The path of a compiler's librustc_driver."""
    place = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(compiler))), "lib")
    (name,) = [name for name in os.listdir(place) if name.startswith("librustc_driver")]
    return os.path.join(place, name)


def is_attached(said, library):
    lost = said.count("detached from %s:" % library) + said.count(library + " was written to")
    return said.count(" probes to %s by " % library) > lost


def compile_in_time(t, profiler, command, start=None, library=None, tries=5):
    """
    Run a compiler whose probes must be in time, in a recording by start_recording(). `start` is
    t.start_plain() or a similar method; `library` is the recording's name for its librustc_driver.
    The compiler is run again if the machine stood still.
    """
    loader = SlowLoader(t)
    process = (start or t.start_plain)([*loader.launcher, *command])
    waited = "process %d stopped " % process.pid
    missed = re.compile(r"process %d (used|had begun) " % process.pid)
    # Lines of one kind are limited: beside many other compilers none may tell that this one was missed.
    with contextlib.suppress(AssertionError):
        lab.wait_for("the compiler to have waited", lambda: waited in profiler.said()
                     or missed.search(profiler.said()), lab.TIMEOUT / 10)
    if waited not in profiler.said():
        loader.go_on()
        assert process.wait(timeout=lab.TIMEOUT) == 0, process.communicate()
        assert tries > 1, profiler.said()
        compile_in_time(t, profiler, command, start, library, tries - 1)
        return
    lab.wait_for("its probes", lambda: is_attached(profiler.said(), library or driver(command[0])))
    loader.go_on()
    assert process.wait(timeout=lab.TIMEOUT) == 0, process.communicate()
