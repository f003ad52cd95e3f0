# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Compares our recordings with rustc's own profiler: by kind and label, and event by event.

If a rustc profiles itself while we record it, both have the same events: per thread in the order of
their ends, with the same nesting. Only labels may differ there, for a known reason (label_reason).
If one process profiles itself and we record another one, only counts are compared: they must be
equal, except for the differing labels of the one process, and for events that occur only while
rustc profiles itself (ONLY_PROFILED).
"""

import collections
import fnmatch

from compiles import BOOTSTRAP
from mm_profdata import UNKNOWN

KINDS = ("Query", "GenericActivity", "QueryBlocked", "IncrementalLoadResult",
         "IncrementalResultHashing")
# All intervals of rustc's profiler.
EVENTS = "default,incr-result-hashing"
ALL = ("-q", "-e", "all")
DEFAULT = ("-q",)
# The default leaves out these and all hashing.
TINY = ("metadata_decode_*", "mir_pass_*", "incr_comp_encode_dep_graph", "compute_debuginfo_type_name",
        "encode_query_results_for", "query_key_hash_verify*")
# With -Zthreads, counts depend on the order of threads; several runs of rustc alone show the range.
SPREAD_RUNS = 5
MOST_SPREAD_RUNS = 25

# Differences of labels, event by event.
SHARED = "shared id"
NAMED_TOO_EARLY = "named too early"
SHARED_CODE = "shared code"
FED = "fed"
# Differences of counts between two processes.
PASSES = "MIR passes"
OWN = "the profiler's own"
SPREAD = "varies"
WAITS = "waits"
REASONS = {
    SHARED: (
        "rustc gives an anonymous query with one dependency that dependency's `DepNodeIndex`, "
        "and its profiler keeps one label per index, the last one. Accepted only where our "
        "trace holds executions of rustc's query and, if it is an execution, of ours under "
        "that one id."
    ),
    NAMED_TOO_EARLY: (
        "rustc has the event by invocation id, and gives names to ids before it saves the "
        "dependency graph, which loads what the next build will want: it says `<unknown>`, we "
        "name the query. Accepted only of loads that began after its "
        "`self_profile_alloc_query_strings`."
    ),
    SHARED_CODE: (
        "the wait (or the load) stands in a function that several queries share, and neither its "
        "registers nor its callers tell which one it serves: we say `<unknown>`. Accepted only "
        "where the plan has such places."
    ),
    FED: (
        "the hashed result was fed by another query rather than executed, and the code that "
        "hashes it does not know whose it is: we say `<unknown>`. Accepted only where nothing "
        "was executed under its id."
    ),
    PASSES: (
        "rustc asks whether it profiles itself before it runs a MIR pass through the profiler; "
        "in a normal run there is no such interval."
    ),
    OWN: (
        "what the profiler itself does at its end."
    ),
    SPREAD: (
        "with `-Zthreads` it varies from run to run. Accepted only where it also varies among "
        "rustc's own runs; in one and the same process it is equal."
    ),
    WAITS: (
        "with `-Zthreads` who waits for whom is another matter in each run; in one and the same "
        "process it is equal."
    ),
}
ONLY_PROFILED = {"mir_pass_*": PASSES, "self_profile_alloc_query_strings": OWN}


def matches(label, globs):
    return any(fnmatch.fnmatch(label, glob) for glob in globs)


def of_default(kind, label):
    """Whether a recording without -e has it."""
    return kind != "IncrementalResultHashing" and not matches(label, TINY)


def counts_of(spans):
    """{(kind, label): count}"""
    return collections.Counter((span.get("kind", "Query"), span["query"]) for span in spans)


def truth_counts(profile):
    return collections.Counter(
        {(kind, label): n for kind in KINDS for label, n in profile.counts(kind).items()})


# ---- One process, event by event ----------------------------------------------------------------


class Event:
    """An interval of our trace or of rustc's profile."""

    __slots__ = ("kind", "label", "invocation", "start", "within")

    def __init__(self, kind, label, invocation, start):
        self.kind, self.label, self.invocation, self.start = kind, label, invocation, start

    def key(self):
        """The part that both sides always know."""
        if self.kind == "Query":
            return self.kind, self.invocation
        return self.kind, self.label if self.kind == "GenericActivity" else None


def our_threads(spans, late):
    threads = collections.defaultdict(list)
    for span in spans:
        kind = span.get("kind", "Query")
        if (kind, span["query"]) not in late:
            threads[span["tid"]].append(
                Event(kind, span["query"], span.get("invocation"), span["start_ns"]))
    return threads


def their_threads(profile, kinds, late):
    threads = collections.defaultdict(list)
    for kind, event in profile.all_intervals():
        if kind in kinds and (kind, event.label) not in late:
            threads[event.thread].append(Event(kind, event.label, event.invocation, event.start_ns))
    return threads


def noticed_late(spans):
    """Kinds and labels of intervals whose end was only noticed at a later event."""
    return {(span.get("kind", "Query"), span["query"]) for span in spans if span["left"]}


def find_nesting(events):
    """Sets each event's number of events within it; the events are in the order of their ends."""
    open = []  # (start, number of the event and those within it)
    for event in events:
        event.within = 0
        while open and open[-1][0] >= event.start:
            event.within += open.pop()[1]
        open.append((event.start, event.within + 1))


def first_difference(ours, theirs):
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a.key() != b.key() or a.within != b.within:
            return "event %d of %d (rustc: %d): ours %s %s holds %d, rustc's %s %s holds %d" % (
                i, len(ours), len(theirs), a.key(), a.label, a.within, b.key(), b.label, b.within)
    return "%d events, rustc: %d" % (len(ours), len(theirs))


def pair_threads(ours, theirs):
    """Pairs of equal event lists; a thread is identified by its events."""
    for events in (*ours.values(), *theirs.values()):
        find_nesting(events)
    left = collections.defaultdict(list)
    for events in theirs.values():
        left[tuple((e.key(), e.within) for e in events)].append(events)
    for tid, events in ours.items():
        found = left[tuple((e.key(), e.within) for e in events)]
        if not found:
            others = [e for lists in left.values() for e in lists]
            nearest = min(others, key=lambda other: abs(len(other) - len(events)), default=[])
            raise AssertionError("tid %d: %s" % (tid, first_difference(events, nearest)))
        yield events, found.pop()
    assert not any(left.values()), "threads that we did not see: %s" % [
        len(events) for lists in left.values() for events in lists]


class Labels:
    """The kinds of guards in a plan whose label is a query that the code does not identify."""

    def __init__(self, plan):
        self.shared = {g["kind"] for g in plan["guards"]
                       if not g["label"] and not g["label_of_query"]}


def label_reason(ours, theirs, queries_of, named, labels):
    """The reason why the labels of one event differ; None if unknown."""
    # Only rustc's profile has ids of events other than executions.
    shared = queries_of[theirs.invocation]
    if theirs.label in shared and (ours.kind != "Query" or ours.label in shared):
        return SHARED
    if ours.label == UNKNOWN and ours.kind == "IncrementalResultHashing":
        return None if shared else FED
    if ours.label == UNKNOWN:
        return SHARED_CODE if ours.kind in labels.shared else None
    if theirs.label == UNKNOWN and ours.kind == "IncrementalLoadResult":
        return NAMED_TOO_EARLY if named and theirs.start >= named else None
    return None


def plan_of(compile):
    return compile.t.json("plan", "--json", compile.rustc)


def inexact(plan):
    """Kinds and labels of the intervals whose end is not exact, according to the plan."""
    return {(g["kind"], g["label"]) for g in plan["guards"] if not g["exact"]}


class OneProcess:
    """A rustc that profiled itself while we recorded it."""

    def __init__(self, spans, profile, plan, kinds=KINDS):
        self.counts = counts_of(spans)
        self.truth = truth_counts(profile)
        self.n_threads = 0
        # (kind, our label, rustc's label): count and reason
        self.relabelled = collections.Counter()
        self.reasons = {}
        queries_of = collections.defaultdict(set)
        for span in spans:
            if span.get("kind", "Query") == "Query":
                queries_of[span["invocation"]].add(span["query"])
        named = next((event.start_ns for event in profile.intervals("GenericActivity")
                      if event.label == "self_profile_alloc_query_strings"), None)
        labels = Labels(plan)
        self.late = noticed_late(spans)
        for ours, theirs in pair_threads(our_threads(spans, self.late),
                                         their_threads(profile, kinds, self.late)):
            self.n_threads += 1
            for a, b in zip(ours, theirs):
                if a.label != b.label:
                    key = (a.kind, a.label, b.label)
                    self.relabelled[key] += 1
                    reason = label_reason(a, b, queries_of, named, labels)
                    self.reasons.setdefault(key, reason)
                    if reason != self.reasons[key]:
                        self.reasons[key] = None

    def unexplained(self):
        return {key: n for key, n in self.relabelled.items() if not self.reasons[key]}

    def net(self):
        """The effect of differing labels on counts: {(kind, label): ours minus rustc's}."""
        net = collections.Counter()
        for (kind, ours, theirs), n in self.relabelled.items():
            net[kind, ours] += n
            net[kind, theirs] -= n
        return net

    def reasons_of(self, kind, label):
        return {self.reasons[key] for key in self.relabelled
                if key[0] == kind and label in key[1:]}


# ---- Two processes, by counts -------------------------------------------------------------------


Row = collections.namedtuple("Row", "kind label ours least most reason")


def compare(ours, truths, one, wanted=lambda kind, label: True):
    """Rows of `wanted` labels that differ between our run and rustc's own runs; `reason` is None if
    unknown."""
    net = one.net()
    rows = []
    for key in sorted(ours.keys() | set().union(*truths)):
        if not wanted(*key) and not ours[key]:
            continue
        least, most = (pick(truth[key] for truth in truths) for pick in (min, max))
        if least <= ours[key] <= most and wanted(*key):
            continue
        reason = reason_of(key, ours[key], least, most, net, one)
        if key[0] == "QueryBlocked" and len(truths) > 1:
            reason = WAITS
        rows.append(Row(*key, ours[key], least, most, reason))
    return rows


def reason_of(key, ours, least, most, net, one):
    if least < most:
        # Our run is one more sample, so it may lie somewhat outside the range of the others.
        room = max(most - least, 10, most // 50)
        return SPREAD if least - room <= ours <= most + room else None
    if net[key] and ours - least == net[key]:
        reasons = one.reasons_of(*key)
        return None if None in reasons else " / ".join(sorted(reasons))
    for glob, reason in ONLY_PROFILED.items():
        if key[0] == "GenericActivity" and matches(key[1], (glob,)) and not ours:
            return reason
    return None


class Case:
    """One crate compiled in one mode, with all comparisons."""

    def __init__(self, compile, spread_runs=1):
        t = compile.t
        self.plan = plan_of(compile)
        both, profile = compile.profiled(
            "both", lambda argv: t.capture(argv, ALL, env=BOOTSTRAP, trace="both.qpt"), EVENTS)
        self.one = OneProcess(self.spans(t, both), profile, self.plan)
        self.compile = compile
        self.truths = []
        for _ in range(spread_runs):
            self.add_truth()
        self.all = self.capture(compile, "all", ALL)
        self.default = self.capture(compile, "default", DEFAULT)

    def add_truth(self):
        """Record another run of rustc alone."""
        _, alone = self.compile.profiled(
            "truth%d." % len(self.truths),
            lambda argv: self.compile.t.plain(argv, env=BOOTSTRAP), EVENTS)
        self.truths.append(truth_counts(alone))

    @staticmethod
    def assert_nothing_lost(t, run):
        assert run.status == 0, run.stderr.decode()
        document = t.report(run.trace)
        assert document["lost"] == 0, document["losses"]

    @staticmethod
    def spans(t, run):
        Case.assert_nothing_lost(t, run)
        return t.spans(run.trace)

    def capture(self, compile, name, options):
        run = compile.t.capture(
            compile.argv(name), options, env=BOOTSTRAP, trace=name + ".qpt")
        self.assert_nothing_lost(compile.t, run)
        return compile.t.span_counts(run.trace)

    @property
    def all_rows(self):
        return compare(self.all, self.truths, self.one)

    @property
    def default_rows(self):
        return compare(self.default, self.truths, self.one, of_default)

    def rows(self):
        return self.all_rows + self.default_rows

    def unknown(self):
        return [row for row in self.rows() if row.reason is None]

    def assert_explained(self):
        assert self.one.late <= inexact(self.plan), self.one.late - inexact(self.plan)
        assert not self.one.unexplained(), "(kind, ours, rustc's): %s" % self.one.unexplained()
        # A count that seldom varies may need more runs to show its range.
        while len(self.truths) > 1 and len(self.truths) < MOST_SPREAD_RUNS and self.unknown():
            self.add_truth()
        assert not self.unknown(), self.unknown()
