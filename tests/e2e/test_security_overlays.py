# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Overlays that an unprivileged user mounts, in a root recording of the whole machine.

stat(2) returns an inode of the overlay, but the kernel probes the inode of the file below. So one
inode can look like two and must not be probed twice; and two inodes can look like one, of which
only the proven one may get breakpoints.
"""

import contextlib
import os
import signal
import subprocess

import crates
import lab
from slow_loader import compile_in_time, driver, stop_planner
from test_follow import compile_command, start_recording
from test_security_hold import as_user, everybodys_toolchain, own_directory
from test_security_libraries import (
    ALICE, BOB, HOLDS, begin, end, library, map_file, map_once, map_until, mapper,
    sites)

# Maps a file and does nothing else.
COMPILER = """
import mmap, os, sys
f = os.open(sys.argv[1], os.O_RDONLY)
kept = mmap.mmap(f, os.fstat(f).st_size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
sys.stdin.read()
"""


class Namespaces:
    """A user namespace and a mount namespace of an unprivileged user, with overlays."""

    def __init__(self, t, user):
        self.t, self.user = t, user
        os.chmod(t.dir, 0o755)
        self.place = own_directory(t, "mounts", user)
        # The mounts last as long as this process.
        self.owner = t.start(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             'mount -t tmpfs none "$0" && echo ready && exec cat', self.place],
            stdin=subprocess.PIPE, text=True, **as_user(user))
        if self.owner.stdout.readline() != "ready\n":
            raise lab.Skip("an unprivileged user cannot mount here: "
                           + self.owner.stderr.read().strip())
        self.enter = ["nsenter", "--target", str(self.owner.pid), "--user", "--mount",
                      "--preserve-credentials"]

    def run(self, *argv):
        return subprocess.run([*self.enter, *argv], capture_output=True, text=True,
                              timeout=lab.TIMEOUT, **as_user(self.user))

    def shell(self, script, *arguments):
        done = self.run("sh", "-ec", script, *arguments)
        assert done.returncode == 0, done
        return done.stdout

    def overlay(self, name, lower, writable=False):
        """Mount an overlay over a directory; returns its path."""
        place = os.path.join(self.place, name)
        self.shell('cd "$0" && mkdir "$1" "$1.upper" "$1.work"', self.place, name)
        # A read-only overlay needs two lower directories.
        layers = "upperdir=%s.upper,workdir=%s.work,userxattr" if writable else "userxattr"
        layers = "lowerdir=%s%s," % (lower, "" if writable else ":%s.upper" % place) + (
            layers.replace("%s", place))
        done = self.run("mount", "-t", "overlay", "-o", layers, "overlay", place)
        if done.returncode:
            raise lab.Skip("an unprivileged user cannot mount overlays here: "
                           + done.stderr.strip())
        return place

    def start(self, *argv):
        return self.t.start([*self.enter, *argv], stdin=subprocess.PIPE, text=True,
                            **as_user(self.user))

    def mapper(self):
        return mapper(self.t, self.user, *self.enter)

    def identity(self, path):
        """Device and inode number, as a process in the namespaces sees them."""
        return self.shell('stat -c "%d %i" "$0"', path)


def lower_directory(t, name="driver_v0"):
    """A directory of Alice's with a library in it; returns both paths."""
    lower = own_directory(t, "lower", ALICE)
    path = library(t, name, "below", ALICE)
    os.rename(path, os.path.join(lower, os.path.basename(path)))
    return lower, os.path.join(lower, os.path.basename(path))


def await_all_of_alice(t, name):
    """Wait for Alice's earlier libraries: they are planned one after the other."""
    map_until(t, ALICE, library(t, "driver_v0", name, ALICE), sites(t, "driver_v0"))


@lab.alone(HOLDS)
def test_one_inode_that_looks_like_three(t):
    """A file and two overlays of it are one library, which is attached to once."""
    t.need_capture()
    inside = Namespaces(t, ALICE)
    profiler = begin(t)
    expected = sites(t, "driver_v0")
    lower, path = lower_directory(t)
    name = os.path.basename(path)
    views = [os.path.join(inside.overlay(view, lower), name) for view in ("one", "two")]
    assert len({inside.identity(p) for p in (path, *views)}) == 3, "they look like one"

    before = lab.links_of(profiler)
    map_until(t, ALICE, path, expected)
    await_all_of_alice(t, "first")
    two_libraries = lab.links_of(profiler) - before
    assert two_libraries
    for view in views:
        process = inside.mapper()
        assert map_file(process, view) == expected
    await_all_of_alice(t, "second")
    three_libraries = lab.links_of(profiler) - before
    assert len(three_libraries) * 2 == len(two_libraries) * 3, (two_libraries, three_libraries)
    end(t, profiler)
    return "%d links" % len(three_libraries)


@lab.alone(HOLDS)
def test_compilers_on_overlays_are_counted_once(t):
    """Real compilers, on two overlays over the common toolchain, which is attached to already."""
    t.need_capture()
    known = t.counts(t.capture(compile_command(t, "known"), trace="known.qpt").trace)
    inside_argv = crates.arguments(crates.SHORT, own_directory(t, "out", ALICE), "--emit=metadata")
    with everybodys_toolchain(t) as rustc:
        inside = Namespaces(t, ALICE)
        profiler = start_recording(t, "--system")
        compile_in_time(t, profiler, compile_command(t, "warm"))
        sysroot = os.path.dirname(os.path.dirname(rustc))
        compilers = [os.path.join(inside.overlay(view, sysroot), "bin/rustc")
                     for view in ("one", "two")]
        for compiler in compilers:
            compile_in_time(t, profiler, [compiler, *inside_argv],
                            lambda argv: inside.start(*argv), driver(t.rustc))
        _, document = end(t, profiler)
    for compiler in compilers:
        (process,) = [p for p in document["processes"] if compiler in (p["command"] or "")]
        assert not process["attached_late"], process["command"]
        assert lab.by_name(process["queries"]) == known, process["command"]
    return "%d executions each" % sum(known.values())


@lab.alone(HOLDS)
def test_two_inodes_that_look_like_one(t):
    """The overlay copies the file up and keeps its inode number; then the copy gets other contents."""
    t.need_capture()
    inside = Namespaces(t, ALICE)
    profiler = begin(t)
    expected, legacy = sites(t, "driver_v0"), sites(t, "driver_legacy")
    map_until(t, ALICE, library(t, "driver_legacy", "legacy", ALICE), legacy)
    lower, path = lower_directory(t)
    view = os.path.join(inside.overlay("view", lower, writable=True), os.path.basename(path))
    running = inside.mapper()
    lab.wait_for("its probes", lambda: map_file(running, view) == expected)
    before = inside.identity(view)
    inside.shell(': >>"$0"', view)
    assert inside.identity(view) == before, "the copy looks like another file"

    def becomes(*allowed):
        """Until the write is noticed, breakpoints may remain where the copy had them before. They
        are written and removed in groups."""
        found = map_file(inside.mapper(), view)
        assert any(set(found) <= set(sites) for sites in allowed), (found, allowed)
        return found == allowed[0]

    lab.wait_for("the copy's own probes", lambda: becomes(expected, []))
    for fixture, *allowed in (("bodies", [], expected), ("driver_legacy", legacy, [])):
        inside.shell('cat "$0" >"$1"', t.path("fixtures", fixture + ".so"), view)
        lab.wait_for("the probes of " + fixture, lambda: becomes(*allowed))
        # The file below is another one.
        assert map_once(t, BOB, path) == expected, fixture
    assert profiler.poll() is None
    end(t, profiler)


@lab.alone(HOLDS)
def test_copied_while_it_is_planned(t):
    """Alice overwrites her overlay's copy of a library during planning; the proof is for the file
    below."""
    t.need_capture()
    inside = Namespaces(t, ALICE)
    profiler = begin(t)
    t.own_toolchain("toolchain")
    lower = t.path("toolchain/lib")
    (name,) = [name for name in os.listdir(lower) if "rustc_driver" in name]
    os.chown(os.path.join(lower, name), ALICE, ALICE)
    view = os.path.join(inside.overlay("view", lower, writable=True), name)
    compiler = inside.start("python3", "-c", COMPILER, view)
    planner = lab.wait_for("a planner", lambda: stop_planner(profiler))
    # Any of these bytes (nop) can take a breakpoint.
    inside.shell('size=$(stat -c %s "$0"); head -c "$size" /dev/zero | '
                 "tr '\\0' '\\220' | dd of=\"$0\" conv=notrunc status=none", view)
    with contextlib.suppress(ProcessLookupError):  # the plan may be given up already
        os.kill(planner, signal.SIGCONT)
    await_all_of_alice(t, "later")
    assert compiler.poll() is None, compiler.communicate()
    assert map_file(inside.mapper(), view) == []
    err, document = end(t, profiler)
    assert document["losses"]["compilers"] >= 1, (err, document["losses"])
