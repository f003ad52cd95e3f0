# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A user's process cannot hold up another user's process, or the recording."""

import contextlib
import json
import os
import re
import shlex
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


PAGES_MOST = 120  # seconds of a recording that nothing holds up; it takes ten


def as_one(uid, **env):
    """A prefix for the shell: the program has this user's ids, and no variable but these."""
    words = ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "env", "-i",
             "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536", "PATH=" + os.environ["PATH"]]
    return shlex.join(words + ["%s=%s" % pair for pair in env.items()])


def library_of(rustc):
    libraries = os.path.join(os.path.dirname(os.path.dirname(rustc)), "lib")
    (library,) = [n for n in os.listdir(libraries) if n.startswith("librustc_driver-")]
    return os.path.join(libraries, library)


@contextlib.contextmanager
def served(t, uid, path):
    """A file of a FUSE mount of the user, with the bytes at `path`. Its server answers the process that
    looks it up first, none of its children, and prints whom it did not answer."""
    place = t.mkdir("fuse")
    server = t.start(["python3", os.path.join(lab.ROOT, "tests/e2e/fuse.py"), place, path, str(uid),
                      "file"], text=True)
    try:
        if server.stdout.readline() != "ready\n":
            raise lab.Skip(server.stderr.read().strip())
        t.write("fuse.stall", "")
        yield server
    finally:
        server.kill()
        server.wait()
        subprocess.run(["umount", "--lazy", place], check=True)


def stalled_sites(t, rustc):
    """Where probes look at memory: a context that is dropped or finished, an activity's label."""
    plan = t.json("plan", "--json", rustc)
    labels = {i for i, guard in enumerate(plan["guards"]) if guard["label_slot"] is not None}
    drops = [site["address"] for site in plan["sites"] if site["role"] == "drop"]
    starts = [site["address"] for site in plan["sites"] if site["role"] == "guard"
              and site["guard"] in labels]
    assert drops and starts, plan["sites"]
    return drops + starts[:3]


def mapped(output):
    return os.path.exists(output) and lab.read_text(output)


def among(t, rustc, stalled, exact, begun):
    """Records a compiler of a user beside one that stalls, which a command of the shell starts."""
    out = own_directory(t, "out", OTHER)
    command = [rustc] + crates.arguments(crates.SHORT, out, "--emit=metadata")
    script = ("%s >stalled.out 2>&1 &\necho $! >stalled.pid\nwhile ! test -e stalled; do sleep 0.1; done\n"
              "cd out\n%s %s\n" % (stalled, as_one(OTHER), shlex.join(command)))
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--", "sh", "-ec", script,
                             exact=exact, stdout=subprocess.DEVNULL)
    try:
        begun()
        t.write("stalled", "")
        _, err = profiler.communicate(timeout=PAGES_MOST)
    finally:
        # Its children end with it.
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(lab.read_text(t.path("stalled.pid"))), signal.SIGKILL)
    assert profiler.returncode == 0, err
    dumped = t.run_qprof("dump", t.path("trace.qpt")).stdout
    processes = [json.loads(line) for line in dumped.splitlines() if line.startswith('{"type":"process"')]
    (number,) = {str(p["index"]) for p in processes if out in (p["command"] or "")}
    known = [name for process, at_least, name, _, _ in lab.RESULTS.findall(dumped)
             if process == number and not at_least]
    assert exact or len(known) > 100, known
    # The pages of some labels are not there either, and those are read from the library.
    assert not re.search(r'^{"type":"span","process":%s,.*"<unknown>"' % number, dumped, re.M), number


def stalling(t, rustc, owner, memory):
    """A command line of the shell: a compiler of the owner that looks at such memory."""
    os.chmod(t.dir, 0o755)
    library = library_of(rustc)
    return "%s %s" % (as_one(owner, LD_LIBRARY_PATH=os.path.dirname(library)), shlex.join(
        [compiled(t, "stalled_compiler"), library, memory, *stalled_sites(t, rustc)]))


@lab.each((ONE, False), (ONE, True), (0, False), (0, True))
def test_pages_that_never_come(t, owner, exact):
    """A compiler has its context and its texts in a file whose server does not answer; SIGKILL does not
    end such a wait. Still the compiler of another user is counted, and the recording ends, whoever
    owns the first one."""
    need_users(t)
    zeroes = t.write("zeroes", "\0" * (1 << 18))
    with everybodys_toolchain(t) as rustc, served(t, owner, zeroes) as server:
        def stalls():
            assert server.stdout.readline().startswith("stalled")

        among(t, rustc, stalling(t, rustc, owner, "fuse/file"), exact, stalls)


@lab.each(False, True)
def test_pages_that_nobody_fills(t, exact):
    """The same of memory of root's that a handler of userfaultfd is to fill."""
    need_users(t)
    with everybodys_toolchain(t) as rustc:
        among(t, rustc, stalling(t, rustc, 0, "userfaultfd"), exact,
              lambda: lab.wait_for("the compiler", lambda: mapped(t.path("stalled.out"))))


@lab.each(("record", "-q", "-o", "trace.qpt", "--", "true"), ("doctor",))
def test_a_file_that_another_recording_seems_to_write(t, *command):
    """Other recordings are known by a mark, a name, and the traces that they have open. A user gives all
    of these to a program that anybody may start with root's rights, and a file of a server."""
    need_users(t)
    place = own_directory(t, "own", ONE)
    program = os.path.join(place, "sleep")
    shutil.copy(shutil.which("sleep"), program)
    os.chmod(program, 0o4755)
    os.symlink(program, os.path.join(place, "qprof-bpf"))
    os.chmod(t.dir, 0o755)
    with served(t, ONE, t.write("zeroes", "\0" * 4096)):
        sleeping = start_as(t, ONE, [compiled(t, "marked"), t.path("fuse/file"),
                                     os.path.join(place, "qprof-bpf"), "300"])
        try:
            assert sleeping.stdout.readline() == b"marked\n", sleeping.communicate()
            lab.wait_for("the program", lambda: lab.read_text(
                "/proc/%d/comm" % sleeping.pid) == "qprof-bpf\n")
            ours = t.start_qprof(*command)
            _, err = ours.communicate(timeout=PAGES_MOST)
        finally:
            sleeping.kill()
        assert command[0] == "doctor" or not ours.returncode, err
