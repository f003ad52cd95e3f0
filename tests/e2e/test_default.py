# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Without an option no query has a probe: counts are from the compiler's tables, times from samples."""

import collections
import csv
import json
import os
import shlex
import sys

import crates
import debian_toolchains
import keys
import lab
from test_exact_counts import BOOTSTRAP, Compile

FAILURE = 125
ENDLESS = """
#![allow(long_running_const_eval)]
const fn spin(n: u64) -> u64 { let mut i = 0; while i < n { i = i.wrapping_add(1); } i }
pub const X: u64 = spin(u64::MAX);
"""
LAUNCHER = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                         "without_perf_events.py")]


def executions(t, trace):
    return collections.Counter(
        {label: n for (kind, label), n in t.span_counts(trace).items() if kind == "Query"})


def queries(t, trace):
    return {row["name"]: row for row in t.report(trace)["queries"] if row["kind"] == "Query"}


def counts(t, trace):
    """{query: executions} of those that the tables count."""
    return {name: row["count"] for name, row in queries(t, trace).items() if row["count"]}


def record(t, name, *options, argv=None, env=None, crate=crates.LONG):
    t.need_capture()
    argv = argv or [t.rustc] + crates.arguments(crate, t.mkdir("out"), "--emit=metadata")
    return t.record(argv, ("-q", *options), env, trace=name + ".qpt", exact=False).trace


def recorded(t, crate=crates.LONG):
    """A recording without an option, which several tests read."""
    t.need_capture()
    return t.shared("default-%s.qpt" % crate, lambda: record(t, "default", crate=crate))


@lab.each("stable", "1.96", "1.85")
def test_counts_are_exact_and_times_are_sampled(t, version):
    """Against rustc's own profile of the same process, by query and by query and item. Debian's
    compilers have no symbols."""
    t.need_capture()
    toolchain = t.toolchain() if version == "stable" else debian_toolchains.toolchain(t, version)
    # In a short compile of 1.85 too many of the queries are executed once for the crate.
    compile = Compile(t, toolchain, crates.LONG if version == "1.85" else crates.SHORT, "debug")
    run, profile = compile.profiled(
        "default", lambda argv: t.capture(argv, ("-q",), BOOTSTRAP, exact=False), keys.EVENTS)
    assert run.status == 0, run.stderr.decode()
    library = toolchain.rustc if version == "stable" else debian_toolchains.library(version)
    plan = t.json("plan", "--json", library)
    truth, about = keys.executed_about(profile, plan, crates.crate_name(compile.crate))
    rows = queries(t, run.trace)
    counted = {name: row["count"] for name, row in rows.items() if row["count"]}
    wrong = {name: (n, truth[name]) for name, n in counted.items() if n != truth[name]}
    assert not wrong, wrong
    # The others have results that were fed, or are executed once for a crate.
    assert len(counted) > 0.9 * len(truth), sorted(truth.keys() - counted.keys())
    assert all(row["self_by"] == "samples" and row["self_ns"] is None for row in rows.values())
    report = t.report(run.trace)
    assert report["lost"] == 0, report["losses"]
    assert not executions(t, run.trace)
    # What has probes is executed a few hundred times.
    assert report["losses"]["hits"] < sum(truth.values()) / 20, report["losses"]["hits"]
    # Each sample belongs to one row, or to none.
    samples = [row["sampled_self_ns"] for row in report["queries"]]
    assert 0 < sum(samples) <= report["samples"]["cpu"]["ns"] if "cpu" in report["samples"] else sum(samples) > 0
    return "%d of %d queries counted; %s" % (
        len(counted), len(truth),
        assert_items_are_exact(t, run.trace, crates.crate_name(compile.crate), about, version != "1.85"))


def assert_items_are_exact(t, trace, crate, truth, feeds_are_seen):
    """`truth`: executions by (query, item) of the crate."""
    ours, sure = collections.Counter(), set()
    for line in t.dumped(trace, "results"):
        if line["kind"] == "executed":
            sure.add(line["query"])
            ours.update((line["query"], path) for path in line["items"] if keys.is_of(crate, path))
    known = collections.Counter({key: n for key, n in truth.items() if key[0] in sure})
    assert ours == known, (ours - known, known - ours)
    assert len(known) > (0.8 if feeds_are_seen else 0.5) * len(truth) > 1000, (len(known), len(truth))
    items = t.json("report", "--by", "item", "--min", "0", "--json", trace)["items"]
    rows = {row["name"]: row for row in items if row["executions"]}
    by_item = collections.Counter()
    for (_, path), n in truth.items():
        by_item[path] += n
    least = {path for path in by_item if path not in rows or "executions_at_least" in rows[path]}
    wrong = {path: (rows[path]["executions"], n) for path, n in by_item.items()
             if path not in least and rows[path]["executions"] != n}
    assert not wrong, wrong
    # How many crates were fed is not known: the crate itself.
    assert not feeds_are_seen or least <= {crate} and known.total() >= truth.total() - 1, (
        least, truth.keys() - known.keys())
    return "%d of %d (query, item) equal" % (len(known), len(truth))


@lab.each(*(lab.toolchains() or ("stable",)))
def test_few_results_may_be_no_executions(t, toolchain):
    """In a clean compile only those of a few queries: nothing shows how many of theirs were fed."""
    t.need_capture()
    rustc = t.toolchain(toolchain).rustc
    plan = t.json("plan", "--json", rustc)
    once = {q["name"] for q in plan["queries"] if q["key"] in ("()", "CrateNum")}
    trace = record(t, "default", argv=[rustc] + crates.arguments(crates.SHORT, t.mkdir("out")))
    rows = queries(t, trace)
    unsure = {name for name, row in rows.items() if row.get("results") and row["count"] is None}
    least = {name for name, row in rows.items() if row.get("results_at_least")}
    assert unsure and unsure <= once and not least, (unsure - once, least)
    return "%d of %d queries" % (len(unsure), len(rows))


def test_both_modes_count_alike(t):
    """Of queries that the tables count, each execution is recorded with --exact; a comparison has no step."""
    default, exact = recorded(t, crates.SHORT), record(t, "exact", "--exact", crate=crates.SHORT)
    counted, all_of = counts(t, default), executions(t, exact)
    assert counted == {name: all_of[name] for name in counted}
    results = [t.report(trace)["build"]["crates"][0]["results"] for trace in (default, exact)]
    assert results[0] == results[1], results
    for metric in ("count", "results"):
        done = t.run_qprof("diff", "--metric", metric, "--fail-above", "0%", default, exact)
        assert done.returncode == 0 and "no change" in done.stdout, done
    by_time = t.run_qprof("diff", default, exact).stdout
    assert by_time.startswith("recorded differently: base with counts and samples"), by_time
    # Where the numbers of a query come from, and which of its sites were attached.
    for trace, source, start in ((default, "tables", "no"), (exact, "probes", "yes")):
        why = t.json("why", "--json", "typeck", trace)
        assert why["compilers"][0]["from"] == source and why["no_plan"] is None, why
        assert {s["attached"] for s in why["sites"] if s["role"].startswith("start")} == {start}, why
        assert why["compilers"][0]["keys_named"] == counted["typeck"], why
    return "%d executions of %d queries" % (sum(counted.values()), len(counted))


def executions_of_items(t, trace, query):
    rows = t.json("report", "--by", "item", "--query", query, "--min", "0", "--json", trace)["items"]
    return {row["name"]: row["executions"] for row in rows if row["executions"]}, rows


def rustc_of(t, version):
    return t.rustc if version == "stable" else debian_toolchains.toolchain(t, version).rustc


def unread_keys(t, version):
    """Queries whose key some start does not show, so that an exact trace has executions without it."""
    if version == "stable":
        return set()
    done = t.run_qprof("plan", "--json", debian_toolchains.library(version))
    return {q["name"] for q in json.loads(done.stdout)["queries"] if q["key_sites"] < q["start_sites"]}


@lab.each(("stable",), ("stable", "-Zthreads=4"), ("1.96",), ("1.85",))
def test_both_modes_count_items_alike(t, version, *arguments):
    """The keys in the compiler's tables are those that the probes see. Tables of several threads have shards."""
    t.need_capture()
    argv = [rustc_of(t, version)] + crates.arguments(crates.SHORT, t.mkdir("out"), *arguments)
    # On a busy machine, with -Zthreads, some recordings list that all is unknown, too.
    for attempt in range(4):
        default = record(t, "default%d" % attempt, argv=argv, env=BOOTSTRAP)
        assert t.report(default)["lost"] == 0, t.report(default)["losses"]
        kinds = {line["kind"] for line in t.dumped(default, "results") if line["query"] == "fn_sig"}
        if "unknown" not in kinds or "-Zthreads=4" not in arguments:
            break
    exact = record(t, "exact", "--exact", argv=argv, env=BOOTSTRAP)
    crate = crates.crate_name(crates.SHORT)
    seen, about = collections.Counter(), collections.Counter()
    for s in t.dumped(exact, "span"):
        path = s["event"] or ""
        if s["kind"] == "Query" and (path == crate or path.startswith(crate + "::")):
            seen[s["query"], path] += 1
    listed = collections.defaultdict(set)
    for line in t.dumped(default, "results"):
        listed[line["query"]].add(line["kind"])
        # Instances of other crates' definitions are listed too, of one query.
        about.update((line["query"], item) for item in line["items"]
                     if item == crate or item.startswith(crate + "::"))
    sure = {query for query, kinds in listed.items() if kinds == {"executed"}} - unread_keys(t, version)
    typeck = "typeck_root" if version == "1.96" else "typeck"
    assert len(sure) > 100 and typeck in sure, listed
    # Their results are in hash tables: of modules, and of instances, of which a function has several.
    hashed = {"lint_mod", "eval_to_const_value_raw", "resolve_instance_raw", "symbol_name"}
    # Of these a part was fed: which results that are is seen where the queries are fed.
    fed = set() if version == "1.85" else {"type_of", "def_span"}
    assert hashed | fed <= sure, sorted(sure)
    vary = set()
    if "-Zthreads=4" in arguments:
        # Of what several threads come to at once, one compile executes more than the other.
        totals = [collections.Counter(query for query, _ in found.elements()) for found in (seen, about)]
        vary = {query for query in sure if totals[0][query] != totals[1][query]}
        assert len(vary) <= 3, vary
        sure -= vary
    counted = {key: n for key, n in about.items() if key[0] in sure}
    wrong = {key: (n, counted.get(key, 0)) for key, n in seen.items()
             if key[0] in sure and n != counted.get(key, 0)}
    assert not wrong and counted.keys() <= seen.keys(), (wrong, counted.keys() - seen.keys())
    # Of those that may be of no execution there is none too few. Of the others it is said that they are unknown.
    for (query, path), n in seen.items():
        kinds = listed[query]
        assert "unknown" in kinds or query in vary or about[query, path] >= n, (query, path, n)
    assert not any("unknown" in kinds for kinds in listed.values()), listed
    by_default, rows = executions_of_items(t, default, typeck)
    assert by_default == executions_of_items(t, exact, typeck)[0]
    assert not any("executions_at_least" in row for row in rows)
    assert any(row["executions"] and not row["self_ns"] for row in rows), "what no sample met has a row"
    return "%d executions of %d queries" % (sum(counted.values()), len(sure))


DOCUMENTED = """
pub struct Shape { pub sides: u32 }
pub trait Area { fn area(&self) -> u32; }
impl Area for Shape { fn area(&self) -> u32 { self.sides } }
#[allow(long_running_const_eval)]
pub mod here { pub const LONG: u32 = count(1_000_000);
    pub const fn count(n: u32) -> u32 { let mut i = 0; while i < n { i += 1 } i } }
"""


def test_rustdoc_has_items(t):
    """It drops its query context by a function of its own, where no probe is."""
    if not os.path.exists(os.path.join(os.path.dirname(t.rustc), "rustdoc")):
        raise lab.Skip("no rustdoc in the toolchain")
    argv = [os.path.join(os.path.dirname(t.rustc), "rustdoc"), "--edition=2021", "--crate-name=planted",
            "-o", t.mkdir("doc"), t.write("planted.rs", DOCUMENTED)]
    default, exact = record(t, "default", argv=argv), record(t, "exact", "--exact", argv=argv)
    assert t.report(default)["lost"] == 0, t.report(default)["losses"]
    n = 0
    for query in ("typeck", "generics_of", "adt_def", "eval_to_const_value_raw", "associated_item"):
        by_default, rows = executions_of_items(t, default, query)
        assert by_default == executions_of_items(t, exact, query)[0], query
        assert not any("executions_at_least" in row for row in rows), rows
        n += sum(by_default.values())
    assert n >= 8, n
    done = t.run_qprof("report", "--by", "item", "--json", default)
    longest = next(row for row in json.loads(done.stdout)["items"] if row["name"])
    assert longest["name"] == "planted::here::LONG" and longest["line"] == 6, longest
    assert longest["queries"][0]["name"] == "eval_to_allocation_raw", longest
    named = {s["event"] for s in t.dumped(exact, "span") if s["kind"] == "Query"}
    assert {"planted::Shape", "planted::here::count", "planted::{{impl}}::area"} <= named, named
    return "%d executions, %.2f s in %s" % (n, longest["self_ns"] / 1e9, longest["name"])


@lab.each((), ("--ring-size", "256K"))
def test_compilers_that_end_at_once(t, *options):
    """What has no room is unknown and counted as lost: of no query a part is taken for all."""
    argv = [t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=dep-info,metadata")
    each = " ".join(shlex.quote(arg) for arg in argv[:-1])
    script = "for i in $(seq 16); do mkdir -p %s/$i; %s --out-dir %s/$i %s & done; wait" % (
        t.path("out"), each.replace("--out-dir " + t.path("out"), ""), t.path("out"), argv[-1])
    run = t.capture(["sh", "-c", script], ("-q", *options), trace="sixteen.qpt", exact=False)
    processes = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in t.dumped(run.trace, "results"):
        processes[line["process"]][line["query"]].append((line["kind"], sorted(line["items"])))
    lists, unknown = collections.defaultdict(set), []
    for queries_of in processes.values():
        unknown.append(0)
        for query, parts in queries_of.items():
            if any(kind == "unknown" for kind, _ in parts):
                unknown[-1] += 1
            else:
                # Whether each is an execution depends on what was fed, of which a record may be lost.
                lists[query].add(str(sorted(sum((about for _, about in parts), []))))
    assert lists and all(len(different) == 1 for different in lists.values()), unknown
    numbers = collections.defaultdict(set)
    for line in t.dumped(run.trace, "tally"):
        if line["kind"] == "QueryResults" and not line["sum"]:
            numbers[line["name"]].add(line["events"])
    assert numbers and all(len(different) == 1 for different in numbers.values()), numbers
    losses = t.report(run.trace)["losses"]
    assert len(set(unknown)) == 1 or losses["results"] + losses["names"] > 0, (unknown, losses)
    return "%d compilers, unknown: %s" % (len(processes), sorted(unknown))


@lab.each(("-e", "passes"), ("-e", "-passes"), ("-e", "none,counts"))
def test_a_list_without_a_query_keeps_counts(t, *options):
    trace, default = record(t, "some", *options, crate=crates.SHORT), recorded(t, crates.SHORT)
    assert counts(t, trace) == counts(t, default)
    kinds = {s.get("kind", "Query") for s in t.dumped(trace, "span")}
    assert "Query" not in kinds and ("GenericActivity" in kinds) == (options[1] != "none,counts")
    assert t.dumped(trace, "sample")


def test_counts_that_are_not_asked_for_are_not_lost(t):
    trace = record(t, "uncounted", "-e", "default,-counts", crate=crates.SHORT)
    report = t.report(trace)
    assert not counts(t, trace) and not report["losses"].get("results"), report["losses"]


def test_a_named_query_has_probes_and_no_other(t):
    """Its executions are intervals, which agree with the jobs of the samples within."""
    trace, default = record(t, "typeck", "-e", "default,typeck"), recorded(t)
    assert counts(t, trace) == counts(t, default)
    assert executions(t, trace) == {"typeck": counts(t, default)["typeck"]}
    row = queries(t, trace)["typeck"]
    assert row["max_ns"] > row["mean_ns"] > 0 and row["total_ns"] and row["self_by"] == "samples", row
    sampled = {s["query"] for s in t.dumped(trace, "interval")}
    assert "typeck" not in sampled and "typeck" in {s["query"] for s in t.dumped(default, "interval")}
    jobs = {row["id"]: row for row in t.dumped(trace, "job")}

    def queries_around(job):
        while job in jobs:
            yield jobs[job]["query"]
            job = jobs[job].get("parent")

    spans = collections.defaultdict(list)
    for s in t.dumped(trace, "span"):
        if s.get("kind", "Query") == "Query":
            spans[s["tid"]].append((s["start_ns"], s["end_ns"]))
    agree = collections.Counter()
    for sample in t.dumped(trace, "sample"):
        if sample.get("job") in jobs:
            within = any(start <= sample["time_ns"] <= end for start, end in spans[sample["tid"]])
            agree[within == ("typeck" in queries_around(sample["job"]))] += 1
    assert agree[True] >= 0.97 * agree.total() > 20, agree
    return "%d samples" % agree.total()


def test_without_breakpoints(t):
    """Counts are read at ticks, so there may be more; samples have jobs all the same."""
    trace, default = record(t, "none", "-e", "none"), recorded(t)
    assert t.dumped(trace, "sample") and t.dumped(trace, "job") and not t.dumped(trace, "span")
    losses = t.report(trace)["losses"]
    assert not losses.get("hits") and not losses.get("results"), losses
    truth, least = counts(t, default), {}
    for tally in t.dumped(trace, "tally"):
        assert tally["kind"] == "QueryResultsAtLeast", tally
        least[tally["name"]] = tally["events"] - tally["sum"]
    over = {name: (n, truth[name]) for name, n in least.items() if name in truth and n > truth[name]}
    assert not over, over
    # The last reading is at most 50 ms of CPU time and a tick old.
    assert least["typeck"] > 0 and sum(least.values()) > 0.5 * sum(truth.values()), least
    rows = queries(t, trace)
    assert rows["typeck"]["results_at_least"] and rows["typeck"]["count"] is None, rows["typeck"]
    trace = record(t, "less", "-e", "none,-counts")
    assert t.dumped(trace, "sample") and not t.dumped(trace, "tally")
    return "%d of %d" % (sum(least.values()), sum(truth.values()))


def test_a_killed_compiler_without_breakpoints(t):
    """What it had executed was read while it ran. It ends itself when it has used 2 s of CPU time."""
    source = t.write("hang.rs", ENDLESS)
    script = 'ulimit -t 2; exec "$@"'
    run = t.capture(["sh", "-c", script, "sh", t.rustc, "--crate-type=lib", "--emit=metadata", "-o",
                     t.path("hang.rmeta"), source], ("-q", "-e", "none"), trace="killed.qpt", exact=False)
    (process,) = [p for p in t.report(run.trace)["processes"] if p.get("crate")]
    assert process["signal"] == 9, process
    tallies = t.dumped(run.trace, "tally")
    assert tallies and {tally["kind"] for tally in tallies} == {"QueryResultsAtLeast"}


@lab.each(("--exact",), ("--exact", "--no-sample"), ("-e", "default,query-provider"), ("--callers",),
          ("--slow", "1ms"))
def test_options_by_which_each_execution_is_recorded(t, *options):
    trace, default = record(t, "all", *options, crate=crates.SHORT), recorded(t, crates.SHORT)
    found, counted = executions(t, trace), counts(t, default)
    assert counted == {name: found[name] for name in counted}
    assert bool(t.dumped(trace, "sample")) == (options == ("--exact",))


@lab.each(("--callers",), ("-e", "default,typeck", "--callers"), ("--slow", "1ms"),
          ("-e", "query-cache-hit"), ("-e", "default,typeck"), ("--slow", "9ms"), ("--exact",),
          ("-e", "default,incr-result-hashing"))
def test_what_needs_probes_says_so(t, *options):
    t.need_capture()
    done = t.run_qprof("record", *options, "-o", t.path("a.qpt"), "--", "true")
    lines = [line for line in done.stderr.splitlines() if "needs probes in all queries" in line]
    needs = options[-1] in ("--callers", "1ms", "query-cache-hit", "default,incr-result-hashing")
    assert done.returncode == 0 and len(lines) == needs, done


def test_exports(t):
    """measureme's events are executions; counts and stacks are there."""
    trace = recorded(t)
    done = t.run_qprof("export", "-f", "measureme", "-o", t.path("mm"), trace)
    assert done.returncode == FAILURE and "record it with --exact" in done.stderr, done
    assert not os.path.exists(t.path("mm")), "refused before anything is written"
    for option in ("--keys", "--by=item"):
        done = t.run_qprof("export", "-f", "folded", option, "-o", t.path("folded"), trace)
        assert done.returncode == FAILURE and "record it with --exact" in done.stderr, done
    t.text("export", "-f", "counts", "-o", t.path("counts.csv"), trace)
    with open(t.path("counts.csv"), newline="", encoding="utf-8") as f:
        rows = {name: (int(n), float(s)) for name, n, s in csv.reader(f)}
    for name, n in counts(t, trace).items():
        assert rows[name][0] == n, (name, n, rows[name])
    assert any(seconds for _, seconds in rows.values())
    done = t.run_qprof("export", "-f", "folded", "-o", t.path("folded"), trace)
    assert done.returncode == 0 and "stacks are of functions" in done.stderr, done
    with open(t.path("folded"), encoding="utf-8") as f:
        assert "typeck" in f.read()


def test_the_budget_is_gone(t):
    for option in (("--budget", "5%"), ("--budget=5%",)):
        done = t.run_qprof("record", *option, "--", "true")
        (line,) = done.stderr.splitlines()
        assert done.returncode == 2 and "--exact" in line, done


def test_a_running_build(t):
    t.need_capture()
    argv = [t.rustc] + crates.arguments(crates.LONG, t.mkdir("out"), "--emit=metadata")
    build = t.start_plain(["sh", "-c", 'read line; "$@"', "sh", *argv], stdin=-1)
    profiler = t.start_qprof("-o", t.path("p.qpt"), "-p", str(build.pid), exact=False)
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    build.communicate(b"\n")
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    lab.check_end(profiler.returncode, err)
    assert build.returncode == 0 and counts(t, t.path("p.qpt")) and t.dumped(t.path("p.qpt"), "sample")


def test_without_perf_events_there_are_counts(t):
    t.need_capture()
    if os.geteuid() or lab.invoker().pw_uid:
        raise lab.Skip("only root may set a filter of system calls and keep its rights")
    default = recorded(t, crates.SHORT)
    argv = [t.rustc] + crates.arguments(crates.SHORT, t.mkdir("again"), "--emit=metadata")
    done = t.start([*LAUNCHER, t.qprof, "-o", t.path("x.qpt"), "--", *argv], env=t.qprof_env(),
                   text=True)
    _, err = done.communicate(timeout=lab.TIMEOUT)
    lab.check_end(done.returncode, err)
    (line,) = [line for line in err.splitlines() if "Without samples, queries have counts" in line]
    assert "seccomp filter refuses perf_event_open(2)" in line and "--exact" in line, line
    assert counts(t, t.path("x.qpt")) == counts(t, default)
