# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reports, exports and comparisons of samples agree with each other and with the trace."""

import collections
import json

import crates
import exports
from test_export import export


def record(t, trace):
    """A compile without probes."""
    argv = [t.rustc] + crates.arguments("regex-syntax", t.mkdir("out"), "-g")
    done = t.capture(argv, options=("-q", "-e", "none", "--sample=999", "--memory",
                                    "--off-cpu-stacks"), trace=trace)
    assert done.status == 0, done.stderr.decode()
    return done.trace


def printed(t, *arguments):
    done = t.run_qprof(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def dumped(t, trace):
    """Sums of the samples by cause, by innermost interval and cause, and by any interval."""
    stacks, all_, own, total = {}, collections.Counter(), collections.Counter(), collections.Counter()
    for line in printed(t, "dump", trace).splitlines():
        row = json.loads(line)
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
    t.need_capture()
    trace = record(t, "perfetto.qpt")
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
    chrome = json.loads(export(t, trace, "chrome"))
    values = [e["args"]["bytes"] for e in chrome["traceEvents"] if e["name"] == "memory touched"]
    assert values == sorted(values) and values[-1] == touched
    return "%d stacks" % len(ours)


def test_reports_of_samples(t):
    t.need_capture()
    trace = record(t, "sampled.qpt")
    all_, own, total = dumped(t, trace)
    report = json.loads(printed(t, "report", "--json", "--by", "query", trace))
    rows = {row["name"]: row for row in report["queries"]}
    assert report["samples"]["cpu"]["ns"] == all_["cpu"] > 0
    for name, row in rows.items():
        assert row["self_ns"] is None and row["count"] is None, row
        assert row["sampled_self_ns"] == row["best_self_ns"] == own[name, "cpu"], row
        assert row["sampled_total_ns"] == total[name, "cpu"], row
    assert {"typeck", "mir_borrowck", "codegen_module"} <= rows.keys()

    functions = json.loads(printed(t, "report", "--functions", "--json", "--min", "0.01%", trace))
    assert functions["ns"] == all_["cpu"]
    parts = {part["name"]: part for part in functions["parts"]}
    assert {"LLVM", "rustc_middle", "rustc_borrowck", "libc"} <= parts.keys(), parts.keys()
    typeck = json.loads(printed(t, "report", "--functions", "--query", "typeck", "--json", trace))
    assert typeck["ns"] == total["typeck", "cpu"]

    folded = printed(t, "export", "-f", "folded", "-o", "-", trace)
    weights = [(line.rpartition(" ")[0], int(line.rpartition(" ")[2])) for line in folded.splitlines()]
    assert sum(ns for _, ns in weights) == all_["cpu"]
    assert sum(ns for stack, ns in weights if "[typeck]" in stack.split(";")) == \
        total["typeck", "cpu"]

    memory = json.loads(printed(t, "report", "--memory", "--json", "--min", "0.01%", trace))
    assert sum(crate["bytes"] for crate in memory["crates"]) == all_["faults"] > 0
    build = json.loads(printed(t, "report", "--json", trace))["build"]
    assert sum(build["sampled"].values()) == all_["cpu"]
    assert build["sampled"]["llvm_ns"] > all_["cpu"] / 20
    same = json.loads(printed(t, "diff", "--json", trace, trace))
    assert same["build"]["change"] == 0 and not any(row["significant"] for row in same["rows"])
    return "%d rows, %d functions" % (len(rows), len(functions["functions"]))
