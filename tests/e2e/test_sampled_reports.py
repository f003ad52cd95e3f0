# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reports, exports and comparisons of samples agree with each other and with the trace."""

import collections

import crates
import exports
import test_default
from test_export import export
from test_jobs import record_planted
from test_page import opened


def recorded(t):
    """A compile without probes, that several tests read."""
    def record():
        argv = [t.rustc] + crates.arguments("regex-syntax", t.mkdir("out"), "-g")
        return t.record(argv, ("-q", "-e", "none", "--sample=999", "--memory", "--off-cpu-stacks")).trace

    t.need_capture()
    return t.shared("sampled.qpt", record)


def dumped(t, trace):
    """Sums of the samples by cause, by innermost interval and cause, and by any interval."""
    stacks, all_, own, total = {}, collections.Counter(), collections.Counter(), collections.Counter()
    for row in t.dumped(trace):
        if row.get("type") == "stack":
            stacks[row["id"]] = (row["parent"], row.get("query"))
        if row.get("type") != "sample":
            continue
        value, seen, stack = row["value"], [], row["stack"]
        while stack is not None:
            stack, query = stacks[stack]
            seen += [query] if query is not None else []
        all_[row["cause"]] += value
        if seen:
            own[seen[0], row["cause"]] += value
        for query in set(seen):
            total[query, row["cause"]] += value
    return all_, own, total


def test_samples_in_perfetto(t):
    """Its profiler's samples: the stacks of pprof, each of a thread that is announced, and a counter
    of the memory that was touched."""
    trace = recorded(t)
    perfetto = exports.Perfetto(export(t, trace, "perfetto"))
    for name, option in (("CPU time", "--functions"), ("memory touched", "--memory")):
        found = perfetto.samples[name]
        pprof = exports.Pprof(export(t, trace, "pprof", option))
        stacks = collections.Counter()
        for frames, n in pprof.stacks(0):
            stacks[tuple(frames[1:])] += n
        ours = collections.Counter(stack or ("(no stack)",) for _, _, _, stack in found.samples)
        assert ours == stacks, ((ours - stacks).most_common(3), (stacks - ours).most_common(3))
        assert any("[typeck]" in stack and stack[-1] != "[typeck]" for stack in ours)
        threads = {(x["thread"][0]["pid"][0], x["thread"][0]["tid"][0])
                   for x in perfetto.tracks.values() if "thread" in x}
        assert {(pid, tid) for _, pid, tid, _ in found.samples} <= threads
    assert found.defaults["perf_sample_defaults"][0]["timebase"][0]["counter"] == ["SW_PAGE_FAULTS"]
    (track,) = [x for x in perfetto.tracks.values() if x.get("name") == ["memory touched"]]
    assert track["counter"][0]["unit"] == ["UNIT_SIZE_BYTES"]
    (process,) = [x for x in perfetto.tracks.values() if "process" in x]
    assert track["parent_uuid"] == process["uuid"]
    # Waits are slices below their threads, with stacks as texts.
    waits = [x["parent_uuid"][0] for x in perfetto.tracks.values() if x.get("name") == ["waits"]]
    assert set(waits) <= {uuid for uuid, x in perfetto.tracks.items() if "thread" in x}
    assert waits and any("\n" in text for text in perfetto.texts.values()), waits
    touched = sum(n for _, n in pprof.stacks(1))
    assert perfetto.last[track["uuid"][0]] == touched > 0
    return "%d stacks" % len(ours)


def assert_nested(threads):
    """{thread: [(start, end)]}: of two intervals one has the other in it, or they are apart."""
    for thread, intervals in threads.items():
        open_ = []
        for start, end in sorted(intervals, key=lambda i: (i[0], -i[1])):
            assert start < end, (thread, start, end)
            while open_ and open_[-1] <= start:
                open_.pop()
            assert not open_ or end <= open_[-1], (thread, start, end, open_)
            open_.append(end)


def query_slices(perfetto):
    """How each slice of a query is known to end."""
    found = []
    for packet in perfetto.trace["packet"]:
        for event in packet.get("track_event", ()):
            if event["type"] == ["TYPE_SLICE_BEGIN"] and \
                    perfetto.categories[event["category_iids"][0]] == "Query":
                found += [perfetto.texts[a["string_value_iid"][0]] for a in event.get("debug_annotations", ())
                          if perfetto.keys[a["name_iid"][0]] == "end"] or [None]
    return found


PAGE = """Array.from({length: app.model.spans.n}, (_, i) => i).filter((i) => app.model.isSampled(i))
  .map((i) => [app.model.spans.thread[i], app.model.spans.start[i], app.model.spans.end[i]])"""


def test_timelines_of_samples(t):
    """Without a probe in a query its executions are intervals that samples met: nested, and marked."""
    trace = test_default.recorded(t)
    perfetto = exports.Perfetto(export(t, trace, "perfetto"))
    slices = query_slices(perfetto)
    assert len(slices) > 10 and all(mark == "sampled" for mark in slices), slices
    perfetto.sums()  # each slice has its end
    with opened(t, trace) as b:
        shown = collections.defaultdict(list)
        for thread, start, end in b.ask(PAGE):
            shown[thread].append((start, end))
        assert_nested(shown)
        assert sum(map(len, shown.values())) == len(slices)
    return "%d intervals" % len(slices)


def test_reports_of_samples(t):
    trace = recorded(t)
    all_, own, total = dumped(t, trace)
    report = t.json("report", "--json", "--by", "query", trace)
    rows = {row["name"]: row for row in report["queries"]}
    assert report["samples"]["cpu"]["ns"] == all_["cpu"] > 0
    for name, row in rows.items():
        assert row["self_ns"] is None and row["count"] is None, row
        assert row["sampled_self_ns"] == row["best_self_ns"] == own[name, "cpu"], row
        assert row["sampled_total_ns"] == total[name, "cpu"], row
    assert {"typeck", "mir_borrowck", "codegen_module"} <= rows.keys()

    functions = t.json("report", "--functions", "--json", "--min", "0.01%", trace)
    assert functions["ns"] == all_["cpu"]
    parts = {part["name"]: part for part in functions["parts"]}
    assert {"LLVM", "rustc_middle", "rustc_borrowck", "libc"} <= parts.keys(), parts.keys()
    typeck = t.json("report", "--functions", "--query", "typeck", "--json", trace)
    assert typeck["ns"] == total["typeck", "cpu"]

    folded = t.text("export", "-f", "folded", "-o", "-", trace)
    weights = [(line.rpartition(" ")[0], int(line.rpartition(" ")[2])) for line in folded.splitlines()]
    assert sum(ns for _, ns in weights) == all_["cpu"]
    assert sum(ns for stack, ns in weights if "[typeck]" in stack.split(";")) == \
        total["typeck", "cpu"]

    memory = t.json("report", "--memory", "--json", "--min", "0.01%", trace)
    assert sum(crate["bytes"] for crate in memory["crates"]) == all_["faults"] > 0
    build = t.json("report", "--json", trace)["build"]
    assert sum(build["sampled"].values()) == all_["cpu"]
    assert build["sampled"]["llvm_ns"] > all_["cpu"] / 20
    same = t.json("diff", "--json", trace, trace)
    assert same["build"]["change"] == 0 and not any(row["significant"] for row in same["rows"])
    return "%d rows, %d functions" % (len(rows), len(functions["functions"]))


def test_queries_without_a_probe(t):
    """Their executions are those of the compiler's tables, and what only intervals show is unknown."""
    t.need_capture()
    trace = record_planted(t).trace
    report = t.json("report", "--json", trace)
    queries = {row["name"]: row for row in report["queries"] if row["kind"] == "Query"}
    counted = {name: row["count"] for name, row in queries.items() if row["count"] is not None}
    unsure = [row for row in queries.values() if row["count"] is None]
    argv = [t.rustc, "--edition=2021", "--crate-type=lib", "--crate-name=planted", "--emit=metadata",
            "--out-dir", t.mkdir("out"), t.path("planted.rs")]
    exact = t.json("report", "--json", t.capture(argv, ("-q",), trace="exact.qpt").trace)
    executed = {row["name"]: row["count"] for row in exact["queries"] if row["kind"] == "Query"}
    assert len(counted) > 100 and counted.items() <= executed.items(), counted.items() - executed.items()
    # The rest of the results may have been fed.
    assert report["query_executions"] <= exact["query_executions"] <= \
        report["query_executions"] + report["unsure_results"]
    assert sum(counted.values()) <= report["query_executions"]
    assert sum(row["results"] for row in unsure) >= report["unsure_results"] > 0
    (crate,) = report["build"]["crates"]
    assert crate["executions"] == report["query_executions"], crate
    (group,) = t.json("report", "--json", "--by", "crate", trace)["groups"]
    assert group["count"] == report["query_executions"], group
    assert all(row["self_off_ns"] is None for row in report["build"]["queries"])
    # An activity does not have the time of the queries within it.
    passes = {row["name"]: row for row in report["queries"] if row["kind"] == "GenericActivity"}
    assert all(row["self_by"] != "spans" or row["samples"] for row in passes.values() if row["best_self_ns"])
    items = report["build"]["items"]
    assert items and all(row["name"].split("::")[0] == "planted" for row in items), items
    assert items[0]["executions"] and all(row["charged"] is None for row in items), items
    assert "| `planted::here::LONG` at `" in t.text("report", "--markdown", trace)

    assert crate["waiting_in_queries_ns"] is None, crate
    text = t.text("report", trace)
    assert " in passes and queries, " in text, text
    (row,) = [line.split() for line in text.splitlines() if line.startswith("eval_to_allocation_raw ")]
    assert row[1] == str(counted["eval_to_allocation_raw"]) and float(row[4]) > 0 and float(row[5]) > 0, row
    # No table of --query is without a row.
    for name in ("typeck", "eval_to_allocation_raw", "crate_hash"):
        lines = t.text("report", "--query", name, trace).splitlines()
        heads = [i for i, line in enumerate(lines) if " %  " in line or line.startswith("query ")]
        assert heads and all(lines[i + 1].strip() for i in heads), lines
    return "%d queries, %d of them unsure" % (len(queries), len(unsure))
