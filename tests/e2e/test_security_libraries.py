# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Libraries of untrusted users, in a root recording of the whole machine.

The tests map libraries but do not run them: a process that maps a librustc_driver counts as a
compiler, and its memory shows which bytes of the file are breakpoints.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import crates
import lab
from slow_loader import compile_in_time, planners, stop_planner
from test_follow import compile_command, ours, start_recording

ALICE, BOB = 50001, 50002  # need no entry in the user database
PER_USER = 16
HOLDS = "it records, and holds, the compilers of all tests"

# Maps each file named on stdin, and prints the offsets at which memory differs from the file.
MAPPER = """
import mmap, os, sys, time
kept = []
for line in sys.stdin:
    f = os.open(line.strip(), os.O_RDONLY)
    size = os.fstat(f).st_size
    kept.append(mmap.mmap(f, size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    # A compiler runs for longer than it takes to look at it.
    time.sleep(0.1)
    text = os.pread(f, size, 0)
    os.close(f)
    print([i for page in range(0, size, 4096)
           if kept[-1][page:page + 4096] != text[page:page + 4096]
           for i in range(page, min(page + 4096, size)) if kept[-1][i] != text[i]])
    sys.stdout.flush()
"""


def needs_users(t):
    t.need_capture()
    if not shutil.which("cc"):
        raise lab.Skip("no compiler to make libraries with")


def fixtures(t):
    return shutil.copytree(os.path.join(os.path.dirname(t.qprof), "tests/fixtures"), t.path("fixtures"))


def library(t, fixture, name, owner):
    """A file of this user with the bytes of a fixture."""
    path = t.path("librustc_driver-%s.so" % name)
    overwrite(t, fixture, path)
    os.chown(path, owner, owner)
    return path


def overwrite(t, fixture, path):
    """Overwrite in place, as `cat new > path` does."""
    with open(t.path("fixtures", fixture + ".so"), "rb") as new, open(path, "r+b" if
              os.path.exists(path) else "wb") as old:
        old.truncate(0)
        old.write(new.read())


def mapper(t, user, *launcher):
    """A process of this user that maps files, started by a launcher if there is one."""
    return t.start([*launcher, "python3", t.path("mapper.py")], stdin=subprocess.PIPE, text=True,
                   user=user, group=user, extra_groups=[])


def map_file(process, path):
    """Map a file; returns the offsets of breakpoints in it, once the process was let go."""
    process.stdin.write(path + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def map_once(t, user, path, profiler=None):
    """Map a file in a new process; with a profiler, wait until it has looked at the process."""
    process = mapper(t, user)
    found = map_file(process, path)
    if profiler:
        lab.wait_for("a look at it", lambda: "process %d " % process.pid in profiler.said())
    end_mapper(process)
    return found


def map_until(t, user, path, expected, profiler=None):
    """Repeat the mapping: the process may read the file before it is made to wait."""
    lab.wait_for("breakpoints in " + path,
                 lambda: map_once(t, user, path, profiler) == expected)


def end_mapper(process):
    process.stdin.close()
    process.stdin = None
    assert process.wait(timeout=lab.TIMEOUT) == 0


def sites(t, fixture):
    """Offsets at which a recording without callers attaches. No fixture has a guard that is watched."""
    document = t.json("plan", "--json", t.path("fixtures", fixture + ".so"))
    return sorted({int(site["offset"], 16) for site in document["sites"]
                   if site["role"] not in ("request", "guard", "guard-end")})


def begin(t):
    needs_users(t)
    fixtures(t)
    t.write("mapper.py", MAPPER)
    return start_recording(t, "--system")


def end(t, profiler):
    """End the recording; returns its messages and its report."""
    profiler.send_signal(signal.SIGINT)
    status = profiler.wait(timeout=lab.TIMEOUT)
    err = profiler.said()
    lab.check_end(status, err)
    document = t.report(t.path("trace.qpt"))
    closing = int(re.search(r"(\d+) lost; wrote", err).group(1))
    assert closing == document["lost"], (closing, document["lost"])
    return err, document


def missing(t, err):
    """Lines about losses in this test: other compilers may run on the machine, too."""
    return [line for line in err.splitlines()
            if t.dir in line and re.search("it is missing$|written to", line)]


@lab.alone(HOLDS)
def test_overwritten_in_place(t):
    """No breakpoint stays where there was an instruction; compilers that ran the file are counted."""
    profiler = begin(t)
    path = library(t, "driver_v0", "alice", ALICE)
    running = mapper(t, ALICE)
    lab.wait_for("its probes", lambda: map_file(running, path) == sites(t, "driver_v0"))
    # Copied only once: each copy is a write, and such lines are printed ten times at most.
    another, legacy = library(t, "driver_legacy", "legacy", ALICE), sites(t, "driver_legacy")
    map_until(t, ALICE, another, legacy, profiler)
    overwrite(t, "bodies", path)
    map_until(t, ALICE, path, [], profiler)
    overwrite(t, "driver_legacy", path)
    map_until(t, ALICE, path, legacy, profiler)
    assert running.poll() is None
    err, document = end(t, profiler)
    assert err.count("alice.so was written to while 1 compiler used it") == 1, err
    assert err.count("alice.so, which cannot be attached to: it is missing") >= 1, err
    assert document["losses"]["compilers"] >= 2, document["losses"]


@lab.alone(HOLDS)
def test_moved_and_deleted(t):
    """As rustup does: running compilers, and later ones, are recorded as before."""
    profiler = begin(t)
    path = library(t, "driver_v0", "alice", ALICE)
    running = mapper(t, ALICE)
    lab.wait_for("its probes", lambda: map_file(running, path) == sites(t, "driver_v0"))
    os.rename(path, path.replace("alice", "old"))
    os.chmod(path.replace("alice", "old"), 0o600)
    map_until(t, ALICE, path.replace("alice", "old"), sites(t, "driver_v0"), profiler)
    os.unlink(path.replace("alice", "old"))
    assert map_file(running, "/proc/self/exe") == []
    err, _ = end(t, profiler)
    assert not missing(t, err), err


@lab.alone(HOLDS)
def test_touched_library_of_a_compiler(t):
    """A real library is overwritten with its own bytes; the next compile is recorded completely
    again."""
    profiler = begin(t)
    compiler = t.own_toolchain("toolchain")
    command = [compiler] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
    compile_in_time(t, profiler, command)
    (path,) = [os.path.join(t.path("toolchain/lib"), name)
               for name in os.listdir(t.path("toolchain/lib")) if "rustc_driver" in name]
    with open(path, "r+b") as f:
        first = f.read(1)
        f.seek(0)
        f.write(first)
    compile_in_time(t, profiler, command)
    err, document = end(t, profiler)
    assert "was written to" in err, err
    before, after = ours(t, document["processes"])
    counts = [lab.by_name(p["queries"]) for p in (before, after)]
    assert sum(counts[0].values()) > 1000 and counts[0] == counts[1], counts


def descriptors(process):
    return len(os.listdir("/proc/%d/fd" % process.pid))


@lab.alone(HOLDS)
def test_many_libraries_one_after_another(t):
    """Unused libraries make room: all are recorded, and another user's compile too."""
    profiler = begin(t)
    compile_in_time(t, profiler, compile_command(t, "warm"))
    before = descriptors(profiler)
    expected = sites(t, "driver_v0")
    process = mapper(t, ALICE)
    # More than there are numbers for the libraries of foreign users.
    for i in range(176):
        path = library(t, "driver_v0", "m%d" % i, ALICE)
        if i % 8 == 0:
            end_mapper(process)
            process = mapper(t, ALICE)
        lab.wait_for("its probes", lambda: map_file(process, path) == expected)
    end_mapper(process)
    assert descriptors(profiler) - before < 8 * 3 * PER_USER, descriptors(profiler)
    compile_in_time(t, profiler, compile_command(t, "out"))
    err, document = end(t, profiler)
    _, compiler = ours(t, [p for p in document["processes"] if p["queries"]])
    assert not compiler["attached_late"]
    assert not [line for line in missing(t, err) if "its first queries" not in line], err
    assert "had too many libraries" not in err, err


def test_plans_of_others_libraries_are_not_stored(t):
    """They would drive out those of root's."""
    needs_users(t)
    if os.environ.get("SUDO_UID"):
        raise lab.Skip("plan has no rights then")
    fixtures(t)
    paths = [library(t, "driver_v0", name, owner) for name, owner in
             (("root", 0), ("alice", ALICE))]
    time.sleep(2.1)  # a file that has just changed is not stored
    cache = t.cache()
    for path in paths:
        t.text("plan", path, env={**os.environ, "XDG_CACHE_HOME": cache})
    stored = [name for name in os.listdir(cache + "/qprof-bpf") if name.startswith("plan-")]
    assert len(stored) == 1 and "-%x-" % os.stat(paths[0]).st_ino in stored[0], stored


@lab.alone(HOLDS)
def test_many_libraries_at_once(t):
    """The number of libraries per user is limited: more are refused, reported once and counted. Bob
    is not affected."""
    profiler = begin(t)
    expected = sites(t, "driver_v0")
    compile_in_time(t, profiler, compile_command(t, "warm"))
    refused = 24
    mappers = [mapper(t, ALICE) for _ in range(PER_USER + refused)]
    for i, process in enumerate(mappers):
        path = library(t, "driver_v0", "m%d" % i, ALICE)
        if i < PER_USER:
            lab.wait_for("its probes", lambda: map_file(process, path) == expected)
        else:
            assert map_file(process, path) == [], i
    map_until(t, BOB, library(t, "driver_v0", "bob", BOB), expected)
    compile_in_time(t, profiler, compile_command(t, "out"))
    err, document = end(t, profiler)
    assert err.count("too many libraries of this user are in use at once") == 1, err
    assert "%d compilers are missing: user %d had too many libraries" % (refused, ALICE) in err, err
    assert document["losses"]["compilers"] >= refused, document["losses"]
    _, compiler = ours(t, [p for p in document["processes"] if p["queries"]])
    assert not compiler["attached_late"]


@lab.alone(HOLDS)
def test_failed_library_is_replaced(t):
    """A good library with the same inode number replaces it: losses are counted, later processes
    work."""
    profiler = begin(t)
    path = library(t, "bodies", "alice", ALICE)
    assert map_once(t, ALICE, path, profiler) == []
    assert map_once(t, ALICE, path, profiler) == []
    overwrite(t, "driver_v0", path)
    map_until(t, ALICE, path, sites(t, "driver_v0"), profiler)
    err, document = end(t, profiler)
    assert err.count("alice.so holds no rustc queries") == 1, err
    # Ten lines at most name what is missing, of other compilers of the machine too.
    named = err.count("alice.so, which cannot be attached to: it is missing")
    assert named == 2 or re.search(r"\d+ compilers are missing", err), err
    assert document["losses"]["compilers"] >= 2, document["losses"]


def own_compiler_library(t, owner):
    """A copy of the real library, whose plan takes long enough to stop the planner."""
    t.own_toolchain("toolchain")
    (path,) = [os.path.join(t.path("toolchain/lib"), name)
               for name in os.listdir(t.path("toolchain/lib")) if "rustc_driver" in name]
    os.chown(path, owner, owner)
    return path


@lab.alone(HOLDS)
def test_many_planners(t):
    """A user has one planner at a time, however many processes map libraries; waiting ones are let
    go. One that does not end makes room for Bob's."""
    profiler = begin(t)
    real = own_compiler_library(t, ALICE)
    paths = [real] + [library(t, "driver_v0", "p%d" % i, ALICE) for i in range(11)]
    mappers = [mapper(t, ALICE) for _ in paths]
    for process, path in zip(mappers, paths):
        process.stdin.write(path + "\n")
        process.stdin.flush()
        if path == real:
            planner = lab.wait_for("a planner", lambda: stop_planner(profiler, real))
    # Root's libraries have a planner of their own.
    map_until(t, 0, library(t, "driver_v0", "root", 0), sites(t, "driver_v0"))
    assert planners(profiler, real) == [planner], planners(profiler)
    # Alice's processes are let go without probes.
    map_until(t, BOB, library(t, "driver_v0", "bob", BOB), sites(t, "driver_v0"))
    assert not lab.alive(planner)
    for process in mappers:
        process.stdout.readline()
    for i in range(11):
        map_until(t, ALICE, t.path("librustc_driver-p%d.so" % i), sites(t, "driver_v0"))
    end(t, profiler)


def map_with_stopped_planner(t, profiler):
    """(Alice's process, which was let go before its library is planned, path, stopped planner)"""
    path = own_compiler_library(t, ALICE)
    # A recording that lost most would fail, so these compilers are recorded.
    for name in "first", "second", "third":
        assert t.plain(compile_command(t, name)).status == 0
    process = mapper(t, ALICE)
    process.stdin.write(path + "\n")
    process.stdin.flush()
    planner = lab.wait_for("a planner", lambda: stop_planner(profiler, path))
    assert json.loads(process.stdout.readline()) == []
    assert planners(profiler, path) == [planner], planners(profiler)
    # If it was planned before it was stopped, the process waits now.
    lab.wait_for("it to be let go",
                 lambda: "process %d had begun" % process.pid in profiler.said())
    return process, path, planner


def check_counted(t, profiler, process, path):
    err, document = end(t, profiler)
    name = os.path.basename(path)
    assert re.search("process %d had begun before the probes of .*%s" % (process.pid, name), err), err
    assert re.search("process %d uses .*%s, which cannot be attached to: it is missing"
                     % (process.pid, name), err), err
    assert document["losses"]["compilers"] >= 1, document["losses"]


@lab.alone(HOLDS)
def test_plan_that_fails_late(t):
    """The process was let go after 3 s; if the plan fails later, the process is counted. A planner
    that is killed is replaced twice."""
    profiler = begin(t)
    process, path, planner = map_with_stopped_planner(t, profiler)
    killed = {planner}
    os.kill(planner, signal.SIGKILL)
    for _ in range(2):
        planner = lab.wait_for("another planner", lambda: stop_planner(profiler, path))
        assert planner not in killed
        killed.add(planner)
        os.kill(planner, signal.SIGKILL)
    lab.wait_for("the end of the planner", lambda: not planners(profiler, path))
    # Later mappings are handled after that.
    map_until(t, BOB, library(t, "driver_v0", "bob", BOB), sites(t, "driver_v0"))
    check_counted(t, profiler, process, path)



@lab.alone(HOLDS)
def test_plan_that_is_not_made_before_the_end(t):
    """The process is counted, too, if the recording ends before the plan is made."""
    profiler = begin(t)
    process, path, _ = map_with_stopped_planner(t, profiler)
    check_counted(t, profiler, process, path)


FUSE_NAME = "librustc_driver-fuse.so"


def serve(t, user):
    """Serve the fixture from a FUSE mount that claims to be this user's; returns the server."""
    place = t.mkdir("fuse")
    os.chmod(t.dir, 0o755)
    server = t.start(["python3", os.path.join(lab.ROOT, "tests/e2e/fuse.py"), place,
                      t.path("fixtures/driver_v0.so"), str(user), FUSE_NAME], text=True)
    if server.stdout.readline() != "ready\n":
        raise lab.Skip(server.stderr.read().strip())
    return server


def end_server(t, server):
    server.kill()
    server.wait()
    subprocess.run(["umount", "--lazy", t.path("fuse")], check=True)


@lab.alone(HOLDS)
def test_library_that_a_user_serves(t):
    """A read from FUSE may never return, so a user's mount is refused and counted; root's is not."""
    profiler = begin(t)
    # A recording that lost most would fail, so these compilers are recorded.
    for name in "first", "second", "third":
        assert t.plain(compile_command(t, name)).status == 0
    path = t.path("fuse", FUSE_NAME)
    server = serve(t, ALICE)
    refused = mapper(t, ALICE)
    try:
        assert map_file(refused, path) == []
        # Mappings are handled in order, so the refused one was handled first.
        map_until(t, BOB, library(t, "driver_v0", "bob", BOB), sites(t, "driver_v0"))
        end_mapper(refused)
    finally:
        end_server(t, server)
    server = serve(t, 0)
    try:
        map_until(t, ALICE, path, sites(t, "driver_v0"))
    finally:
        err, document = end(t, profiler)
        end_server(t, server)
    assert err.count("compilers of user %d are missing: their library is on a FUSE" % ALICE) == 1, err
    assert "1 compiler is missing: user %d had the library on FUSE" % ALICE in err, err
    assert document["losses"]["compilers"] >= 1, document["losses"]


@lab.alone(HOLDS)
def test_server_that_does_not_answer(t):
    """The server delays the recording by half a second; later compiles are recorded completely."""
    profiler = begin(t)
    assert t.plain(compile_command(t, "warm")).status == 0
    server = serve(t, ALICE)
    t.write("fuse.stall", "")
    running = mapper(t, ALICE)
    try:
        assert map_file(running, t.path("fuse", FUSE_NAME)) == []
        assert server.stdout.readline().startswith("stalled"), server.stderr.read()
        for i in range(5):
            compile_in_time(t, profiler, compile_command(t, "after%d" % i))
        err, document = end(t, profiler)
    finally:
        end_server(t, server)
    compilers = ours(t, [p for p in document["processes"] if p["queries"]])
    assert not any(c["attached_late"] for c in compilers[1:]), err
    assert document["losses"]["compilers"] >= 1, document["losses"]


def run_within(t, seconds, *arguments):
    """(status, messages)"""
    process = t.start_qprof(*arguments, text=True)
    return process.wait(timeout=seconds), process.stderr.read()


@lab.each(("plan",), ("stuck",))
def test_a_server_is_not_waited_for(t, command):
    """The library is on another user's FUSE mount, which answers the loader only."""
    needs_users(t)
    fixtures(t)
    t.write("mapper.py", MAPPER)
    server = serve(t, ALICE)
    t.write("fuse.stall", "")
    above = t.start(["sh", "-c", "python3 %s; :" % t.path("mapper.py")], stdin=subprocess.PIPE,
                    text=True, user=ALICE, group=ALICE, extra_groups=[])
    try:
        map_file(above, t.path("fuse", FUSE_NAME))
        (pid,) = lab.children(above.pid)
        if command == "plan":
            status, err = run_within(t, 200, "plan", str(pid))
            assert status == 125, err
            assert "process %d keeps its readers waiting" % pid in err, err
        else:
            status, err = run_within(t, 200, "stuck", "--once", "-i", "100ms", "-p", str(above.pid))
            assert status == 0 and "going on without process %d" % pid in err, err
    finally:
        end_server(t, server)
    end_mapper(above)
