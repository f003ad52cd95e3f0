# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A user's process cannot hold up another user's process, or the recording."""

import contextlib
import os
import shutil
import signal
import subprocess

import crates
import lab
import test_follow
from slow_loader import HELD_MOST, Gaps, held_most

ONE, OTHER = 54321, 54322  # users without any other process


def need_users(t):
    t.need_capture()
    if os.geteuid() or lab.invoker().pw_uid:
        raise lab.Skip("only root may become somebody else")


def as_user(uid):
    return {"user": uid, "group": uid, "extra_groups": []}


def compiled(t, name):
    """A program of programs/, compiled into a directory that everybody may enter."""
    source = os.path.join(lab.ROOT, "tests/e2e/programs", name + ".c")
    if not shutil.which("cc"):
        raise lab.Skip("no C compiler")
    subprocess.run(["cc", "-O1", "-pthread", "-o", t.path(name), source], check=True)
    return t.path(name)


def start_as(t, uid, argv):
    return t.start(argv, stdin=subprocess.PIPE, env={"PATH": os.environ["PATH"]}, **as_user(uid))


def own_directory(t, name, uid):
    place = t.mkdir(name)
    os.chown(place, uid, uid)
    return place


@contextlib.contextmanager
def everybodys_toolchain(t):
    """A mount of the toolchain: the real one may be in a home that only its owner may enter."""
    with t.mounted("toolchain", "--bind", t.toolchain().sysroot) as place:
        yield os.path.join(place, "bin/rustc")


def start_recording(t):
    """A recording without stored plans, and without a rustc to plan in advance."""
    env = test_follow.nothing_known(t)
    return t.start_qprof("-o", t.path("trace.qpt"), "--system", env=env)


def end_recording(profiler, sig):
    profiler.send_signal(sig)
    out, err = profiler.communicate(timeout=lab.TIMEOUT)
    lab.check_end(profiler.returncode, err)
    return err.decode()


def compile_as(t, uid, rustc, name):
    command = [rustc] + crates.arguments(crates.SHORT, own_directory(t, name, uid),
                                         "--emit=metadata")
    done = subprocess.run(command, cwd=t.path(name), capture_output=True, timeout=lab.TIMEOUT,
                          **as_user(uid))
    assert done.returncode == 0, done.stderr


@lab.alone("it records, and holds, the compilers of all tests")
def test_main_thread_in_vfork(t):
    """The process never stops; still another user's compiler goes on, and the recording works and
    ends."""
    need_users(t)
    sitter = compiled(t, "vfork_maps")
    library = t.write("librustc_driver-1.so", "not a library" * 1000)
    with everybodys_toolchain(t) as rustc:
        profiler = start_recording(t)
        gaps = Gaps()
        lab.wait_for("the recording", lambda: lab.begun(profiler))
        sitting = start_as(t, ONE, [sitter, library])
        assert sitting.stdout.readline() == b"mapped\n", sitting.communicate()
        compile_as(t, OTHER, rustc, "out")
        assert sitting.poll() is None
        err = end_recording(profiler, signal.SIGTERM)
        assert sitting.poll() is None
    most = held_most(err)
    # If the machine stood still, the wait may be longer by that time.
    assert most <= HELD_MOST + gaps.longest(), err
    (process,) = [p for p in t.report(t.path("trace.qpt"))["processes"]
                  if t.path("out") in (p["command"] or "")]
    assert process["exit"] == 0, process
    return "%.3f s" % most
