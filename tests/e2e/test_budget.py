# SPDX-License-Identifier: Apache-2.0 OR MIT
"""With a budget, the build is unchanged, and counts that are called exact are exact."""

import collections
import json
import os

import crates
import equality
import lab
from lab import each
from slow_loader import SlowLoader
from test_exact_counts import BOOTSTRAP, Compile

# Recordings that teach the profiler what a compile does not do; this takes 0.2 s of its CPU time.
LEARN = ("learn1", "learn2", "learn3", "learn4")


def items(t, trace, kind):
    done = t.run_qprof("dump", trace)
    assert done.returncode == 0, done.stderr
    return [line for line in map(json.loads, done.stdout.splitlines()) if line.get("type") == kind]


def read(t, trace):
    """Executions per query: recorded, counted, and estimated (only queries with an estimate)."""
    recorded = collections.Counter(
        s["query"] for s in items(t, trace, "span") if s.get("kind", "Query") == "Query")
    counted, estimated = collections.Counter(), collections.Counter()
    for tally in items(t, trace, "tally"):
        if tally["kind"] == "QueryCounted":
            counted[tally["name"]] += tally["events"]
        elif tally["kind"] == "QueryEstimated":
            estimated[tally["name"]] += tally["events"]
    return recorded, counted, estimated


def with_budget(t, compile, name, budget):
    """Check the counts against rustc's own profiler in the same process; returns a summary."""
    # A cache of its own, so that it holds only what this test has taught.
    env = {**BOOTSTRAP, "XDG_CACHE_HOME": t.mkdir("cache")}
    run, profile = compile.profiled(name, lambda argv: t.capture(
        argv, ("-q", "-e", "query-provider", "--budget", budget), env, trace=name + ".qpt"))
    assert run.status == 0, run.stderr.decode()
    truth = profile.counts()
    recorded, counted, estimated = read(t, run.trace)
    exact = 0
    for query in truth.keys() | recorded.keys() | counted.keys():
        seen = recorded[query] + counted[query]
        if query in estimated:
            assert seen <= truth[query], (query, seen, truth[query])
        else:
            assert seen == truth[query], (query, seen, truth[query])
            exact += 1
    assert exact > 0
    check_decisions(t, run.trace, estimated, counted)
    return "%d rows exact, %d estimated; of %d executions %d seen, %d with estimates" % (
        exact, len(estimated), sum(truth.values()), sum((recorded + counted).values()),
        sum((recorded + counted + estimated).values()))


@lab.alone("the CPU time of probes is measured against a budget")
@each(("memchr", "debug", "3%"), ("semver", "debug", "1%"),
      ("regex-syntax", "second-incremental", "2%"))
def test_exact_or_marked(t, crate, mode, budget):
    """With a library without any rates, and again with known rates."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crate, mode)
    return " / ".join(with_budget(t, compile, name, budget) for name in ("new", "known"))


def others(t, trace):
    """Of other kinds: {(kind, label): intervals}, {(kind, label): last decision}, all decisions."""
    spans = collections.Counter(
        (s["kind"], s["query"]) for s in items(t, trace, "span") if s.get("kind", "Query") in equality.KINDS[1:4])
    decisions = [d for d in items(t, trace, "decision") if d["kind"] != "Query"]
    return spans, {(d["kind"], d["query"]): d["watch"] for d in decisions}, decisions


def with_others(t, compile, name, *options):
    env = {**BOOTSTRAP, "XDG_CACHE_HOME": t.mkdir("cache")}
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


def test_unmet_activities_are_not_watched_and_reported(t):
    t.need_capture()
    debug = Compile(t, t.toolchain(), crates.SHORT, "debug")
    for name in LEARN:
        with_others(t, debug, name, "-q")
    run, profile = with_others(t, debug, "less", "--budget", "3%")
    spans, watch, _ = others(t, run.trace)
    for kind in ("QueryBlocked", "IncrementalLoadResult"):
        assert watch[kind, "<all>"] == "off", watch
        assert kind.encode() in run.stderr.split(b"not watched")[1], run.stderr.decode()
    n = check_activities(spans, watch, profile)
    reported = t.report(run.trace)["budget"]["others"]
    assert {(row["kind"], row["name"]) for row in reported} == watch.keys()
    hits = t.report(run.trace)["losses"]["hits"]
    return "%d labels seen, %d not watched, %d hits" % (n, len(watch), hits)


def with_late_probes(t, argv):
    """Record a compiler whose loader waits until the kinds that its command line needs are watched."""
    place, loader = t.mkdir("less"), SlowLoader(t)
    trace = os.path.join(place, "%d.qpt" % len(os.listdir(place)))
    profiler = t.start_qprof("-q", "--budget", "3%", "-i", "10ms", "--force", "-o", trace, "--",
                             *loader.launcher, *argv,
                             env={**BOOTSTRAP, "XDG_CACHE_HOME": t.mkdir("cache")})

    def is_watched():
        """The trace is unfinished, so its reader may fail at the end."""
        lines = t.run_qprof("dump", trace).stdout.splitlines()
        last = {(d["kind"], d["query"]): d["watch"] for d in map(json.loads, lines)
                if d.get("type") == "decision" and d["kind"] != "Query"}
        return (last.get(("IncrementalLoadResult", "<all>")) == "full" and
                "off" not in [watch for (_, name), watch in last.items() if "incr" in name])

    lab.wait_for("probes of what an incremental compiler does", is_watched)
    loader.go_on()
    out, err = profiler.communicate(timeout=lab.TIMEOUT)
    return lab.Run(profiler.returncode, out, err, trace)


def test_loading_comes_with_an_incremental_compiler(t):
    t.need_capture()
    debug = Compile(t, t.toolchain(), crates.SHORT, "debug")
    for name in LEARN:
        with_others(t, debug, name, "-q")
    again = Compile(t, t.toolchain(), crates.SHORT, "second-incremental")
    run, profile = again.profiled("less", lambda argv: with_late_probes(t, argv), "default")
    spans, watch, decisions = others(t, run.trace)
    assert watch["QueryBlocked", "<all>"] == "off" and watch["IncrementalLoadResult", "<all>"] == "full"
    assert [d["watch"] for d in decisions if d["kind"] == "IncrementalLoadResult"] == ["off", "full"]
    check_activities(spans, watch, profile)
    loads = sum(n for (kind, _), n in spans.items() if kind == "IncrementalLoadResult")
    truth = sum(profile.counts("IncrementalLoadResult").values())
    assert 0 < loads <= truth, (loads, truth)
    # Some loads may be missing, so the report does not claim a number.
    (process,) = t.report(run.trace)["processes"]
    assert process["incremental"]["loaded"] is None and process["incremental"]["loads"] == loads
    return "%d of %d loads" % (loads, truth)


def callers(t, options):
    trace = t.capture([t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out")),
                      ("-q", "--callers", "-e", "query-provider", *options)).trace
    seen = collections.Counter()
    for span in items(t, trace, "span"):
        at = span.get("caller")
        if span.get("kind", "Query") == "Query":
            seen[span["query"], at and (at["function"], at["offset"])] += 1
    return seen


@lab.alone("the CPU time of probes is measured against a budget")
def test_callers_are_those_of_a_full_recording(t):
    full, some = callers(t, ()), callers(t, ("--budget", "10%"))
    assert some and sum(some.values()) < sum(full.values())
    assert not some - full, some - full


def check_decisions(t, trace, estimated, counted):
    """Decisions are in order of time, and each is a change; estimates and counts need a decision."""
    watch = collections.defaultdict(lambda: "full")
    was = collections.defaultdict(set)
    last = 0
    for d in items(t, trace, "decision"):
        assert d["time_ns"] >= last
        last = d["time_ns"]
        assert d["watch"] != watch[d["query"]], d
        watch[d["query"]] = d["watch"]
        was[d["query"]].add(d["watch"])
    for query in estimated:
        assert "off" in was[query], query
    for query in counted:
        assert was[query] - {"full"}, query


@each("good", "type_error", "many_errors")
def test_build_does_not_notice(t, program):
    source = os.path.join(os.path.dirname(__file__), "programs", program + ".rs")
    argv = [t.rustc, "--out-dir", t.mkdir("out"), source]
    plain = t.plain(argv)
    run = t.capture(argv, ("-q", "--budget", "0.5%"))
    assert (run.status, run.stdout, run.stderr) == (plain.status, plain.stdout, plain.stderr)


def test_options_that_no_budget_can_be_kept_with(t):
    for options in (("-e", "query-cache-hit"), ("-e", "all"), ("--attach", "perf")):
        run = t.capture(["true"], ("-q", "--budget", "3%", *options))
        assert run.status == 125 and b"no budget can be kept" in run.stderr, run


def test_trace_says_what_was_decided(t):
    argv = [t.rustc] + crates.arguments(crates.LONG, t.mkdir("out"))
    run = t.capture(argv, ("-q", "--budget", "1%"))
    decisions = items(t, run.trace, "decision")
    assert decisions and all(d["budget_ppm"] == 10000 for d in decisions)


def test_summary_and_trace_report_a_budget_that_was_never_short(t):
    source = os.path.join(os.path.dirname(__file__), "programs", "good.rs")
    run = t.capture([t.rustc, "--out-dir", t.mkdir("out"), source], ("--budget", "90%"))
    assert b"budget: 90.0 % of CPU time for the probes" in run.stderr, run.stderr.decode()
    header = t.run_qprof("dump", run.trace).stdout.splitlines()[0]
    assert json.loads(header)["budget_ppm"] == 900000
