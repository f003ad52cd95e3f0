# SPDX-License-Identifier: Apache-2.0 OR MIT
"""With a budget, the build is unchanged, and what is recorded is exact."""

import collections
import glob
import json
import os
import struct
import zlib

import crates
import equality
from lab import each
from test_exact_counts import BOOTSTRAP, Compile

# Recordings that teach the profiler what a compile does not do; this takes 0.2 s of its CPU time.
LEARN = ("learn1", "learn2", "learn3", "learn4")

# The times of so many stacks of a query may be rounded to a nanosecond each.
STACKS = 1000


def items(t, trace, kind):
    done = t.run_qprof("dump", trace)
    assert done.returncode == 0, done.stderr
    return [line for line in map(json.loads, done.stdout.splitlines()) if line.get("type") == kind]


def executions(t, trace):
    return collections.Counter(
        s["query"] for s in items(t, trace, "span") if s.get("kind", "Query") == "Query")


def unprobed(t, trace):
    """Queries without probes. All is decided once, before anything is recorded."""
    decisions = items(t, trace, "decision")
    names = [(d["kind"], d["query"]) for d in decisions]
    assert len(names) == len(set(names)), names
    assert all(d["watch"] == "off" for d in decisions), decisions
    first = min((s["start_ns"] for s in items(t, trace, "span")), default=0)
    assert all(d["time_ns"] <= first for d in decisions), (first, decisions)
    return {d["query"] for d in decisions if d["kind"] == "Query"}


def with_budget(t, compile, name, budget):
    """Check the counts against rustc's own profiler in the same process; returns a summary."""
    # A cache of its own, so that it holds only what this test has taught.
    env = {**BOOTSTRAP, "XDG_CACHE_HOME": t.cache()}
    run, profile = compile.profiled(name, lambda argv: t.capture(
        argv, ("-q", "-e", "query-provider", "--budget", budget), env, trace=name + ".qpt"))
    assert run.status == 0, run.stderr.decode()
    truth, recorded, off = profile.counts(), executions(t, run.trace), unprobed(t, run.trace)
    assert off, "all was recorded: this test needs a smaller budget"
    exact = {query: n for query, n in truth.items() if query not in off}
    assert recorded == exact, (recorded - collections.Counter(exact), exact.keys() - recorded.keys())
    return "%d queries exact, %d not probed; %d of %d executions recorded" % (
        len(exact), len(off), sum(recorded.values()), sum(truth.values()))


@each(("memchr", "debug", "3%"), ("semver", "debug", "1%"),
      ("regex-syntax", "second-incremental", "2%"))
def test_exact_or_not_probed(t, crate, mode, budget):
    """With a library of which nothing is remembered, and again."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crate, mode)
    return " / ".join(with_budget(t, compile, name, budget) for name in ("new", "known"))


def results(t, trace):
    (crate,) = t.report(trace)["build"]["crates"]
    return crate["results"]


class Memory:
    """The profiler's memory of a library: the executions of each query, in the plan's order."""

    HEADER = struct.Struct("<8s5I4Q")  # up to the turn; compilers; their CPU time in us; others
    ONE = struct.Struct("<2Q")  # events; CPU time in us
    CPU_US = 1000 * 1000000
    OFTEN = 1000000  # a second: no budget has room for so many

    def __init__(self, t, cache):
        done = t.run_qprof("plan", "--json", t.rustc)
        assert done.returncode == 0, done.stderr
        self.queries = json.loads(done.stdout)["queries"]
        (self.path,) = glob.glob(os.path.join(cache, "qprof-bpf/rates-*"))

    def read(self):
        """{query: executions}, of those that were executed."""
        with open(self.path, "rb") as file:
            data = file.read()
        assert self.HEADER.unpack_from(data)[2] == len(self.queries)
        counts = (self.ONE.unpack_from(data, self.HEADER.size + i * self.ONE.size)[0]
                  for i in range(len(self.queries)))
        return {q["name"]: n for q, n in zip(self.queries, counts) if n}

    def write(self, hot):
        """One query was executed very often, and no other at all."""
        with open(self.path, "rb") as file:
            magic, _, n, n_groups, names, turn = self.HEADER.unpack_from(file.read())[:6]
        hits = self.OFTEN * self.CPU_US // 1000000
        body = struct.pack("<4I4Q", n, n_groups, names, turn, 0, self.CPU_US, 0, 0)
        body += b"".join(self.ONE.pack(hits if q["name"] == hot else 0, self.CPU_US)
                         for q in self.queries)
        body += self.ONE.pack(0, self.CPU_US) * n_groups
        with open(self.path, "wb") as file:
            file.write(magic + struct.pack("<I", zlib.crc32(body)) + body)

    def beside(self, name):
        """The queries that share a body, and so end probes, with this one; it is among them."""
        (one,) = (q for q in self.queries if q["name"] == name)
        return {q["name"] for q in self.queries
                if (q["body"], q["body_incremental"]) == (one["body"], one["body_incremental"])}


def test_what_is_remembered_decides(t):
    """A recording is remembered; of two queries, the one is left out that is remembered as hot."""
    t.need_capture()
    cache = t.cache()
    env = {"XDG_CACHE_HOME": cache}
    compile = Compile(t, t.toolchain(), crates.SHORT, "debug")
    run = t.capture(compile.argv("all"), ("-q", "--exact"), env)
    full, made = executions(t, run.trace), results(t, run.trace)
    assert made >= sum(full.values())
    memory = Memory(t, cache)
    known = memory.read()
    assert known == full, {q: (n, full[q]) for q, n in known.items() if n != full[q]}
    for hot, other in (("typeck", "layout_of"), ("layout_of", "typeck")):
        assert other not in memory.beside(hot), memory.beside(hot)
        memory.write(hot)
        run = t.capture(compile.argv(hot), ("-q", "--budget", "3%"), env, trace=hot + ".qpt")
        off = unprobed(t, run.trace)
        assert hot in off and off <= memory.beside(hot), (hot, off)
        assert executions(t, run.trace) == {q: n for q, n in full.items() if q not in off}
        # Results have numbers without probes too, but for those after the last that has one.
        assert 0.99 * made <= results(t, run.trace) <= made, (results(t, run.trace), made)


def own_times(t, trace):
    """Self times of the stacks of a flame graph by their innermost interval, in ns."""
    folded = t.path("folded")
    done = t.run_qprof("export", "-f", "folded", "--force", "-o", folded, trace)
    assert done.returncode == 0, done.stderr
    times = collections.Counter()
    with open(folded) as file:
        for line in file:
            stack, ns = line.rsplit(" ", 1)
            times[stack.rsplit(";", 1)[-1]] += int(ns)
    return times


def test_queries_without_probes_are_sampled(t):
    """Their rows have no count, and their time is in no other row."""
    t.need_capture()
    argv = [t.rustc] + crates.arguments(crates.LONG, t.mkdir("out"))
    # A smaller budget takes fewer than 200 samples a second.
    run = t.capture(argv, ("-q", "--budget", "3%"), {"XDG_CACHE_HOME": t.cache()})
    off = unprobed(t, run.trace)
    report = t.report(run.trace)
    rows = {row["name"]: row for row in report["queries"] if row["kind"] == "Query"}
    uncounted = {name for name, row in rows.items() if row["count"] is None}
    # Results may have been fed to those that have probes.
    uncounted = {name for name in uncounted if "results" not in rows[name]}
    assert uncounted <= off, uncounted - off
    assert report["samples"]["n"] > 0
    # The flame graph takes it out of the queries around them too.
    flame = own_times(t, run.trace)
    assert flame.pop("queries without probes")
    own = collections.Counter()  # frames of a query and an activity of one name look alike
    for row in report["queries"]:
        own[row["name"]] += row["best_self_ns"]
    off_by = {name: (ns, own[name]) for name, ns in flame.items()
              if name in rows and abs(ns - own[name]) > STACKS}
    assert not off_by, off_by
    return "%d queries not probed, %d of them sampled" % (len(off), len(uncounted))


def rows_by(t, trace, key, *options):
    done = t.run_qprof("report", "--json", *options, trace)
    assert done.returncode == 0, done.stderr
    return {row.get("name", row.get("function")): row for row in json.loads(done.stdout)[key]}


def about(t, trace):
    """{item: {query: executions}}"""
    counts = collections.defaultdict(collections.Counter)
    for span in items(t, trace, "span"):
        if span.get("kind", "Query") == "Query" and span.get("event"):
            counts[span["event"]][span["query"]] += 1
    return counts


def test_rows_of_items_hold_no_time_of_queries_without_probes(t):
    """Where a query without probes may have run in the queries about an item, its row is marked."""
    t.need_capture()
    argv = [t.rustc] + crates.arguments(crates.LONG, t.mkdir("out"))
    env = {"XDG_CACHE_HOME": t.cache()}
    full = t.capture(argv, ("-q", "--exact"), env, trace="full.qpt").trace
    some = t.capture(argv, ("-q", "--budget", "3%"), env, trace="some.qpt").trace
    off = unprobed(t, some)
    exact, rows = (rows_by(t, trace, "items", "--by", "item") for trace in (full, some))
    assert not any("self_by" in row for row in exact.values())
    # Counts of an item are exact: as many executions as there were of the queries with probes.
    truth = about(t, full)
    for name, counts in about(t, some).items():
        probed = {query: n for query, n in truth[name].items() if query not in off}
        assert counts == probed, (name, counts, probed)
    divided = {row["name"]: row for row in t.report(some)["queries"] if row["self_by"] != "spans"}
    for row in rows.values():
        assert row["best_self_ns"] <= row["self_ns"] + len(row["queries"]), row
        marked = {part["name"] for part in row["queries"] if part["self_ns"]} & divided.keys()
        # Queries without a key that is an item leave their time with the item around them.
        assert row["self_by"] == "spans" or marked or len(row["queries"]) == 3, row
    by = collections.Counter(row["self_by"] for row in rows.values())
    # How many are divided depends on what probes cost here.
    assert by["share"] and by["share"] + by["limit"] + by["spans"] == len(rows), by
    text = t.run_qprof("report", "--by", "item", some).stdout
    assert "of queries without probes, about items that are not known: " in text, text
    # A crate has all that ran in it, but for queries that are asked for alone.
    (crate,) = rows_by(t, some, "groups", "--by", "crate").values()
    assert crate["self_by"] == "spans"
    name = max((n for n in divided if divided[n]["self_by"] == "share"),
               key=lambda n: divided[n]["self_ns"])
    (part,) = rows_by(t, some, "groups", "--by", "crate", "--query", name).values()
    assert part["self_by"] == "share" and part["best_self_ns"] < part["self_ns"], part
    done = t.run_qprof("report", "--markdown", some)
    assert "\nbudget: 3.0 % of CPU time; " in done.stdout, done.stdout
    return "%d items, %s" % (len(rows), dict(by))


def others(t, trace):
    """Of other kinds: {(kind, label): intervals}, {(kind, label): last decision}, all decisions."""
    spans = collections.Counter(
        (s["kind"], s["query"]) for s in items(t, trace, "span") if s.get("kind", "Query") in equality.KINDS[1:4])
    decisions = [d for d in items(t, trace, "decision") if d["kind"] != "Query"]
    return spans, {(d["kind"], d["query"]): d["watch"] for d in decisions}, decisions


def with_others(t, compile, name, *options):
    env = {**BOOTSTRAP, "XDG_CACHE_HOME": t.cache()}
    run, profile = compile.profiled(
        name, lambda argv: t.capture(argv, options, env, trace=name + ".qpt"), "default")
    assert run.status == 0, run.stderr.decode()
    return run, profile


def check_activities(spans, watch, profile):
    """Each label has as many intervals as in rustc's own profile, or is reported as unwatched."""
    truth = profile.counts("GenericActivity")
    seen = {label: n for (kind, label), n in spans.items() if kind == "GenericActivity"}
    for label in truth.keys() | seen.keys():
        if label in seen:
            assert seen[label] == truth[label], (label, seen[label], truth[label])
        elif not equality.matches(label, (*equality.TINY, *equality.ONLY_PROFILED)):
            assert watch.get(("GenericActivity", label)) == "off", label
    return len(seen)


def test_unmet_activities_are_not_probed_and_reported(t):
    t.need_capture()
    debug = Compile(t, t.toolchain(), crates.SHORT, "debug")
    for name in LEARN:
        with_others(t, debug, name, "-q")
    run, profile = with_others(t, debug, "less", "--budget", "3%")
    spans, watch, _ = others(t, run.trace)
    # Only incremental compilers load, and these may come.
    assert ("IncrementalLoadResult", "<all>") not in watch
    assert len(watch) > 5, watch
    assert b"kinds of activities" in run.stderr.split(b"not probed")[1], run.stderr.decode()
    n = check_activities(spans, watch, profile)
    reported = t.report(run.trace)["budget"]["others"]
    assert {(row["kind"], row["name"]) for row in reported} == watch.keys()
    hits = t.report(run.trace)["losses"]["hits"]
    return "%d labels seen, %d not probed, %d hits" % (n, len(watch), hits)


def test_loading_is_probed_though_it_was_never_met(t):
    t.need_capture()
    debug = Compile(t, t.toolchain(), crates.SHORT, "debug")
    for name in LEARN:
        with_others(t, debug, name, "-q")
    again = Compile(t, t.toolchain(), crates.SHORT, "second-incremental")
    run, profile = with_others(t, again, "less", "-q", "--budget", "3%")
    spans, watch, _ = others(t, run.trace)
    check_activities(spans, watch, profile)
    loads = sum(n for (kind, _), n in spans.items() if kind == "IncrementalLoadResult")
    assert loads == sum(profile.counts("IncrementalLoadResult").values())
    return "%d loads" % loads


def callers(t, options):
    trace = t.capture([t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out")),
                      ("-q", "--callers", "-e", "query-provider", *options),
                      {"XDG_CACHE_HOME": t.cache()}).trace
    seen = collections.Counter()
    for span in items(t, trace, "span"):
        at = span.get("caller")
        if span.get("kind", "Query") == "Query":
            seen[span["query"], at and (at["function"], at["offset"])] += 1
    return seen


def test_callers_are_those_of_a_full_recording(t):
    full, some = callers(t, ()), callers(t, ("--budget", "3%"))
    assert some and sum(some.values()) < sum(full.values())
    probed = {query for query, _ in some}
    assert some == {key: n for key, n in full.items() if key[0] in probed}


@each("good", "type_error", "many_errors")
def test_build_does_not_notice(t, program):
    source = os.path.join(os.path.dirname(__file__), "programs", program + ".rs")
    argv = [t.rustc, "--out-dir", t.mkdir("out"), source]
    plain = t.plain(argv)
    run = t.capture(argv, ("-q", "--budget", "0.5%"))
    assert (run.status, run.stdout, run.stderr) == (plain.status, plain.stdout, plain.stderr)


def test_options_that_no_budget_can_be_kept_with(t):
    for options in (("-e", "query-cache-hit"), ("-e", "all")):
        run = t.capture(["true"], ("-q", "--budget", "3%", *options))
        assert run.status == 125 and b"no budget can be kept" in run.stderr, run


def test_trace_says_what_was_decided(t):
    argv = [t.rustc] + crates.arguments(crates.LONG, t.mkdir("out"))
    run = t.capture(argv, ("-q", "--budget", "1%"))
    decisions = items(t, run.trace, "decision")
    assert unprobed(t, run.trace) and all(d["budget_ppm"] == 10000 for d in decisions)


def test_summary_and_trace_report_the_budget(t):
    source = os.path.join(os.path.dirname(__file__), "programs", "good.rs")
    run = t.capture([t.rustc, "--out-dir", t.mkdir("out"), source], ("--budget", "90%"))
    assert b"budget: 90.0 % of CPU time; " in run.stderr, run.stderr.decode()
    header = t.run_qprof("dump", run.trace).stdout.splitlines()[0]
    assert json.loads(header)["budget_ppm"] == 900000
