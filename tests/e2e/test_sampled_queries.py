# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sampled stacks show the queries that the probes see at the same moment."""

import collections

import crates
import debian_toolchains
from lab import each

# Of the samples in which the probes see an execution of a query on top, those whose innermost query
# by frames is the same one. Where it is not, frames mostly show a query that the probes have not seen
# start: rustc's profiler starts its interval in the body, as frames do, and most probes are at the
# provider, which runs only when the dependency graph has been prepared.
SAME, SAME_INCREMENTAL = 0.99, 0.95
# No frame shows a query that the dependency graph forces if its provider leaves by a jump.
UNKNOWN_INCREMENTAL = 0.04
OTHER = 0.005


class Samples:
    """The samples of a trace with their queries, the innermost first."""

    def __init__(self, t, trace):
        self.parents, self.queries, self.samples, self.chains = {}, {}, [], {}
        for row in t.dumped(trace, "stack", "sample"):
            if row["type"] == "stack":
                self.parents[row["id"]] = row["parent"]
                self.queries[row["id"]] = (row.get("kind"), row.get("query"))
            elif row["cause"] == "cpu":
                self.samples.append(row)

    def chain(self, stack, kind="Query"):
        """The labels of all intervals of a kind; None: an execution, but no frame shows of what."""
        found = []
        while stack is not None:
            if self.queries[stack][0] == kind:
                found.append(self.queries[stack][1])
            stack = self.parents[stack]
        return found


def record(t, argv, *options, trace="trace.qpt"):
    done = t.record(argv, options=("-q", *options), trace=trace)
    return Samples(t, done.trace)


def compile_argv(t, crate, *flags):
    return [t.rustc] + crates.arguments(crate, t.mkdir("out"), *flags)


def compare(recordings):
    """How often the innermost query by frames is that of the probes, and what the others are."""
    n, others = collections.Counter(), collections.Counter()
    for samples, s in ((samples, s) for samples in recordings for s in samples.samples):
        if s["stack"] is None or s.get("kind") != "Query":
            continue
        chain = samples.chain(s["stack"])
        how = ("same" if chain[:1] == [s["query"]] else
               "not started" if chain[1:2] == [s["query"]] else
               "unknown" if chain[:1] == [None] else "other")
        n[how] += 1
        if how == "other":
            others[s["query"], chain[0] if chain else "nothing"] += 1
    return n, others


def assert_agree(recordings, same=SAME, unknown=0):
    n, others = compare(recordings)
    total = sum(n.values())
    assert total >= 100, n
    assert n["same"] >= same * total, (n, others)
    assert n["unknown"] <= unknown * total, (n, others)
    assert n["other"] <= OTHER * total, (n, others)
    return "%d samples in queries: %s; %s" % (total, dict(n), dict(others.most_common(5)))


@each(("regex-syntax",), ("semver", "-O"))
def test_frames_agree_with_probes(t, *crate):
    t.need_capture()
    return assert_agree([record(t, compile_argv(t, *crate, "--emit=metadata,link"), "--sample=4999")])


def test_forced_queries(t):
    """In a second build the dependency graph forces queries, which no wrapper asks for."""
    t.need_capture()
    argv = compile_argv(t, "regex-syntax", "-C", "incremental=" + t.mkdir("state"))
    assert t.plain(argv).status == 0
    # One of some 450 samples would be one hundredth above or below by chance.
    return assert_agree([record(t, argv, "--sample=4999") for _ in range(4)], SAME_INCREMENTAL,
                        UNKNOWN_INCREMENTAL)


def test_forced_queries_of_the_oldest(t):
    """In Debian's 1.63 another function than the body executes what is green but was not stored."""
    t.need_capture()
    argv = [debian_toolchains.toolchain(t, "1.63").rustc]
    argv += crates.arguments("regex-syntax", t.mkdir("out"), "-C", "incremental=" + t.mkdir("state"))
    first = assert_agree([record(t, argv, "--sample=999")])
    second = assert_agree([record(t, argv, "--sample=4999", trace="second.qpt")], SAME_INCREMENTAL,
                          UNKNOWN_INCREMENTAL)
    return "first: %s; second: %s" % (first, second)


def test_queries_without_probes(t):
    t.need_capture()
    samples = record(t, compile_argv(t, "regex-syntax"), "-e", "none", "--sample=1999")
    found = collections.Counter()
    for s in samples.samples:
        found.update(set(samples.chain(s["stack"])) if s["stack"] is not None else ())
    for query in ("typeck", "mir_borrowck", "optimized_mir", "analysis"):
        assert found[query], found
    assert ("Query", None) not in samples.queries.values()
    return "%d queries in %d samples" % (len(found), len(samples.samples))
