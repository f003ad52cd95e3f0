# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
What the features share that guest.py tries: the list of features, a compile, rustc's profile of it,
and a recording in the background.
"""

import collections
import contextlib
import os
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

import compiles  # noqa: E402
import crates  # noqa: E402
import equality  # noqa: E402
import lab  # noqa: E402
import test_stuck  # noqa: E402
from compiles import BOOTSTRAP  # noqa: E402

FAILURE = 125
REFUSAL = "qprof-bpf: error: "
# A crate that takes some seconds here.
REAL = "semver"
TINY = "pub fn twice(n: u32) -> u32 { n.wrapping_mul(2) }\n"
BROKEN = "pub fn twice(n: u32) -> u32 { n.wrapping_mul(two) }\nfn left(\n"

# Without uprobe_multi links a recording has only queries by default.
MULTI = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 6)

FEATURES = []


def feature(name, quick=False):
    def mark(function):
        FEATURES.append((name, function, quick))
        return function

    return mark


class Refused(Exception):
    """qprof-bpf does not support this here; the error line."""


def refuse(status, stderr):
    """Raise Refused if a recording ended with an error line."""
    lines = stderr.decode().splitlines() if isinstance(stderr, bytes) else stderr.splitlines()
    if status == FAILURE and lines and lines[-1].startswith(REFUSAL):
        raise Refused(lines[-1][len(REFUSAL):])


class Late(Exception):
    """A compiler went on without its probes, and is marked as late; the message has the waiting
    time."""


class Lab(lab.Lab):
    def capture(self, *args, **kwargs):
        run = super().capture(*args, **kwargs)
        refuse(run.status, run.stderr)
        return run


# ---- Counts -------------------------------------------------------------------------------------


class World:
    """Shared by the features: one crate, and rustc's profile of it."""

    def __init__(self, options):
        self.options = options
        self.build = options.build
        self.tiny_crate()
        self.t = Lab(self.build).__enter__()
        self.compile = compiles.Compile(self.t, self.t.toolchain(), "tiny", "debug")
        self.truth = None

    def tiny_crate(self):
        """Make the tests of tests/e2e compile a tiny crate instead of larger ones."""
        source = "/tmp/registry/tiny-1/src"
        os.makedirs(source)
        with open(source + "/lib.rs", "w") as f:
            f.write(TINY)
        os.symlink(os.path.dirname(os.path.dirname(crates.source(REAL))),
                   "/tmp/registry/" + REAL + "-1")
        crates.REGISTRY = "/tmp/registry"
        crates.FEATURES = {"tiny": "", REAL: crates.FEATURES[REAL]}
        crates.SHORT = crates.LONG = "tiny"
        test_stuck.BEGINNING = 8

    def profile(self):
        """Rustc's own profile of all events, without a recording."""
        if self.truth is None:
            _, self.truth = self.compile.profiled(
                "truth", lambda argv: self.t.plain(argv, env=BOOTSTRAP), equality.EVENTS)
        return self.truth

    def capture(self, name, options):
        run = self.t.capture(self.compile.argv(name), options, env=BOOTSTRAP,
                             trace=name + ".qpt")
        assert run.status == 0, (run.status, run.stderr.decode())
        return run

    def failing(self, *options):
        """A compile that fails does so as without a recording."""
        t = self.t
        source = t.write("broken.rs", BROKEN)
        argv = [t.rustc, "--crate-type=lib", "--out-dir", t.mkdir("out"), source]
        plain, ours = t.plain(argv), t.capture(argv, ("-q", *options))
        assert plain.status == 1, plain
        assert (ours.status, ours.stderr) == (plain.status, plain.stderr), (ours, plain)
        assert ours.stdout == plain.stdout
        return "status %d, %d bytes of stderr" % (ours.status, len(ours.stderr))

    def assert_queries(self, trace):
        document = self.t.report(trace)
        assert document["lost"] == 0, "lost: %s" % document["losses"]
        counts = collections.Counter(
            span["query"] for span in self.t.spans(trace) if span.get("kind", "Query") == "Query")
        assert_equal(counts, self.profile().counts())
        return "%d of %d queries" % (sum(counts.values()), sum(self.profile().counts().values()))


def assert_equal(counts, truth):
    wrong = {name: (counts[name], truth[name]) for name in counts.keys() | truth.keys()
             if counts[name] != truth[name]}
    assert not wrong, "%d queries, rustc's %d; (ours, rustc's): %s" % (
        sum(counts.values()), sum(truth.values()), dict(list(wrong.items())[:3]))


# ---- Recordings that follow processes -----------------------------------------------------------


@contextlib.contextmanager
def paranoid(level):
    path = "/proc/sys/kernel/perf_event_paranoid"
    with open(path) as f:
        before = f.read()
    try:
        with open(path, "w") as f:
            f.write(str(level))
        yield
    finally:
        with open(path, "w") as f:
            f.write(before)


@contextlib.contextmanager
def recording(t, *options, **kwargs):
    """A recording that has printed its first line, so it has begun."""
    profiler = t.start_qprof("--json", "-i", "200ms", "--force", "-o", t.path("live.qpt"), *options,
                             **kwargs)
    if not profiler.stdout.readline():
        err = profiler.stderr.read().decode()
        refuse(profiler.wait(), err)
        raise AssertionError(err)
    threading.Thread(target=profiler.stdout.read, daemon=True).start()
    yield profiler


def ended(profiler):
    err = profiler.stderr.read().decode()
    status = profiler.wait(timeout=lab.TIMEOUT)
    refuse(status, err)
    assert status == 0, (status, err)
    return err
