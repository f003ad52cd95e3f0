# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Our counts are rustc's own: per query, and event by event in one and the same process."""

import collections
import glob
import os
import shutil

import crates
import lab
from lab import Skip, each
from mm_profdata import BadProfile, Profile

# Unlocks -Zself-profile on stable. Without it rustc runs some queries more: set in every run.
BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
# Nothing but queries, as in the profiles that they are compared with.
QUERIES = ("-q", "-e", "query-provider")
CRATES = ("regex-syntax", "memchr", "semver", "smallvec")
MODES = {
    "debug": (),
    "release": ("-O",),
    "metadata": ("--emit=metadata",),
    "first-incremental": (),
    "second-incremental": (),
}


class Compile:
    """One crate in one mode; every run starts from the same incremental state."""

    def __init__(self, t, toolchain, crate, mode):
        self.t = t
        self.rustc = toolchain.rustc
        self.crate = crate
        self.flags = MODES[mode]
        self.incremental = mode.endswith("incremental")
        self.before = None
        if mode == "second-incremental":
            self.before = t.mkdir("before")
            done = t.plain(self.argv("setup", self.before), env=BOOTSTRAP)
            assert done.status == 0, done.stderr.decode()

    def argv(self, name, incremental=None, *extra):
        # An incremental build that writes somewhere else is not an unchanged one.
        out = self.t.mkdir("incremental.out" if self.incremental else name + ".out")
        args = crates.arguments(self.crate, out, *self.flags, *extra)
        if self.incremental:
            args += ["-C", "incremental=" + (incremental or self.state(name))]
        return [self.rustc] + args

    def state(self, name):
        path = self.t.path(name + ".incremental")
        if self.before:
            # Owners too: rustc locks and renames in there.
            shutil.copytree(self.before, path, symlinks=True)
            for directory, _, files in os.walk(path):
                self.t.give(directory)
                for file in files:
                    self.t.give(os.path.join(directory, file))
            return path
        return self.t.mkdir(name + ".incremental")

    def profiled_argv(self, name):
        profile = self.t.mkdir(name + ".profile")
        flags = ("-Zself-profile=" + profile, "-Zself-profile-events=query-provider")
        return self.argv(name, None, *flags)

    def profile(self, name):
        (path,) = glob.glob(self.t.path(name + ".profile", "*.mm_profdata"))
        return Profile.read(path)


def assert_same_events(ours, truth):
    """
    Both saw the same process: the events of a thread must be the same, one by one in the order of
    their ends. Returns (ours - truth) per label, which is not empty only because rustc gives an
    anonymous query with one dependency that dependency's invocation id, and keeps one label per id.
    """
    queries_of = collections.defaultdict(set)
    threads = collections.defaultdict(list)
    for span in ours:
        queries_of[span["invocation"]].add(span["query"])
        threads[span["tid"]].append(span)

    def ids(events):
        return tuple(event.invocation for event in events)

    by_ids = {ids(events): events for events in truth.by_thread().values()}
    relabelled = collections.Counter()
    for tid, spans in threads.items():
        events = by_ids.pop(tuple(span["invocation"] for span in spans), None)
        if events is None:
            raise AssertionError(first_difference(tid, spans, truth))
        for span, event in zip(spans, events):
            if span["query"] != event.label:
                shared = queries_of[span["invocation"]]
                assert len(shared) > 1 and event.label in shared, (span, event, shared)
                relabelled[span["query"]] += 1
                relabelled[event.label] -= 1
    assert not by_ids, "threads that we did not see: %s" % [len(key) for key in by_ids]
    return relabelled


def first_difference(tid, spans, truth):
    sizes = {thread: len(events) for thread, events in truth.by_thread().items()}
    thread = min(sizes, key=lambda thread: abs(sizes[thread] - len(spans)))
    events = truth.by_thread()[thread]
    for i, (span, event) in enumerate(zip(spans, events)):
        if span["invocation"] != event.invocation:
            return "tid %d, event %d of %d (%d in truth): ours %s, truth %s" % (
                tid, i, len(spans), len(events), span, event)
    return "tid %d: %d events, %d in truth" % (tid, len(spans), len(events))


def profiled(compile, name, run):
    """
    Run rustc with its self-profile, under `name`. On a busy machine rustc now and then exits while
    another of its threads still holds the profiler, and leaves a file without its strings: then
    there is nothing to compare with, and it is run again.
    """
    for attempt in range(3):
        unique = "%s%d" % (name, attempt)
        done = run(compile.profiled_argv(unique))
        assert done.status == 0, done.stderr.decode()
        try:
            return done, compile.profile(unique)
        except BadProfile as e:
            if "no stream" not in str(e):
                raise
            why = e
    raise why


def check(compile):
    t = compile.t
    _, alone = profiled(compile, "truth", lambda argv: t.plain(argv, env=BOOTSTRAP))
    ours = t.capture(compile.argv("ours"), QUERIES, env=BOOTSTRAP, trace="ours.qpt")
    assert ours.status == 0, ours.stderr.decode()
    both, profile = profiled(
        compile, "both", lambda argv: t.capture(argv, QUERIES, env=BOOTSTRAP, trace="both.qpt"))

    relabelled = assert_same_events(t.spans(both.trace), profile)
    truth = alone.counts()
    counts = t.counts(ours.trace)
    differ = {
        label: (counts[label], truth[label])
        for label in counts.keys() | truth.keys()
        if counts[label] - relabelled[label] != truth[label]
    }
    assert not differ, "query: (ours, truth): %s" % differ
    shared = sum(n for n in relabelled.values() if n > 0)
    return "%d events%s" % (
        sum(counts.values()),
        shared and ", %d with a shared invocation id that rustc labels otherwise" % shared or "",
    )


@each(*((toolchain, crate, mode)
        for toolchain in lab.toolchains() or ("stable",) for crate in CRATES for mode in MODES))
def test_counts(t, toolchain, crate, mode):
    t.need_capture()
    return check(Compile(t, t.toolchain(toolchain), crate, mode))


def test_parallel_front_end(t):
    """With -Zthreads counts vary from run to run, so only one process can be compared."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.LONG, "debug")
    both = t.capture(compile.profiled_argv("both") + ["-Zthreads=4"], QUERIES, env=BOOTSTRAP)
    assert both.status == 0, both.stderr.decode()
    spans = t.spans(both.trace)
    assert_same_events(spans, compile.profile("both"))
    return "%d events on %d threads" % (len(spans), len({span["tid"] for span in spans}))


def test_three_crates_are_here(t):
    """The proof asks for three: less would pass unseen."""
    if not lab.toolchains():
        raise Skip("no rustc; see https://rustup.rs")
    for crate in CRATES:
        crates.source(crate)
