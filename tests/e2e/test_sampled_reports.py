# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reports, exports and comparisons of samples agree with each other and with the trace."""

import collections
import json

import crates


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
