# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The report of a build agrees with the spans of its trace, which this test adds up in another way."""

import collections

import workspace
from lab import alone_lines, each

# Activities that begin a part of a compile.
CODEGEN = ("codegen_crate", "finish_ongoing_codegen", "LLVM_", "codegen_module")
LINK = ("link", "run_linker")


def read(t, trace):
    """({pid: process}, {pid: {tid: spans}})"""
    processes, spans = {}, collections.defaultdict(lambda: collections.defaultdict(list))
    for line in t.dumped(trace):
        if line.get("type") == "process":
            processes[line["pid"]] = line
        elif line.get("type") == "span":
            spans[line["pid"]][line["tid"]].append(line)
    return processes, spans


def length(span):
    return span["end_ns"] - span["start_ns"]


def around(span, thread):
    """Kinds of the spans around a span, the innermost first; the next outer one ends next."""
    depth, kinds = span["depth"], []
    for other in thread[thread.index(span) + 1:]:
        if other["depth"] < depth and other.get("kind") != "OffCpu":
            depth = other["depth"]
            kinds.append(other.get("kind") or "Query")
    return kinds


def waits(thread):
    """Nanoseconds waited in queries, in passes and in neither, and nanoseconds preempted."""
    sums = collections.Counter()
    for span in thread:
        if span.get("kind") != "OffCpu":
            continue
        kinds = around(span, thread)
        where = "passes" if kinds else "neither"
        if any(kind != "GenericActivity" for kind in kinds):
            where = "queries"
        if span["query"] == "<preempted>":
            where = "preempted"
        sums[where] += length(span)
    return sums


def parts(process, spans):
    """Nanoseconds of front end, codegen, link and exit of a compile."""
    phases = [s for s in spans if s.get("kind") == "GenericActivity"]
    codegen = [s for s in phases if s["query"].startswith(CODEGEN)]
    link = [s for s in phases if s["query"] == "link" or s["query"].startswith(("link_",) + LINK[1:])]
    assert codegen and link, {s["query"] for s in phases}
    marks = [process["start_ns"], min(s["start_ns"] for s in codegen),
             min(s["start_ns"] for s in link), max(s["end_ns"] for s in link), process["end_ns"]]
    assert marks == sorted(marks), marks
    return [end - start for start, end in zip(marks, marks[1:])]


def check_crate(crate, process, threads):
    spans = [span for thread in threads.values() for span in thread]
    assert crate["executions"] == sum((s.get("kind") or "Query") == "Query" for s in spans), crate
    assert crate["wall_ns"] == process["end_ns"] - process["start_ns"], crate
    reported = [crate[key] for key in ("front_end_ns", "codegen_ns", "link_ns", "exit_ns")]
    assert reported == parts(process, spans), (crate, parts(process, spans))
    sums = sum((waits(thread) for thread in threads.values()), collections.Counter())
    assert crate["waiting_in_queries_ns"] == sums["queries"], (crate, sums)
    assert crate["waiting_in_passes_ns"] == sums["passes"], (crate, sums)
    assert crate["waiting_in_neither_ns"] == sums["neither"], (crate, sums)
    assert crate["preempted_ns"] == sums["preempted"], (crate, sums)
    # By the kernel, without what recording added.
    assert 0 < crate["cpu_ns"] < process["cpu_ns"], (crate, process)


def check_rows(document):
    """Rows of queries, passes and pairs equal those of the tables, sorted by time on the CPU."""
    build = document["build"]
    tables = {None: {(q["name"], q["kind"]): q for q in document["queries"]}}
    for process in document["processes"]:
        tables[process["pid"]] = {(q["name"], q["kind"]): q for q in process["queries"]}
    for key in ("queries", "passes", "pairs"):
        on_cpu = [row["self_cpu_ns"] for row in build[key]]
        assert on_cpu and on_cpu == sorted(on_cpu, reverse=True), on_cpu
        for row in build[key]:
            there = tables[row.get("pid")][row["name"], row["kind"]]
            assert (row["count"], row["self_ns"]) == (there["count"], there["self_ns"]), row
            # In each process, a thread waits for no longer than the query takes.
            least = max(0, row["self_ns"] - row["self_off_ns"])
            assert least <= row["self_cpu_ns"] <= row["self_ns"], row
    assert all(q["kind"] == "Query" for q in build["queries"])
    assert not any(q["kind"] == "Query" for q in build["passes"])
    both = sum(row["self_ns"] for key in ("queries", "passes") for row in build[key])
    assert both == sum(q["self_ns"] for q in document["queries"])


@each("stable", "nightly")
def test_workspace(t, toolchain):
    """The numbers are those of the spans; the crates are those that cargo compiles."""
    trace, messages = workspace.recorded(t, toolchain)
    document = t.json("report", "--json", "--full", trace)
    assert document["lost"] == 0, document["losses"]
    build = document["build"]
    assert {c["name"] for c in build["crates"]} == set(workspace.COMPILES), build["crates"]
    said = [line for line in messages.splitlines()
            if "Running `" in line and " --crate-name " in line]
    assert len(said) == build["compiles"] == len(build["crates"]), said
    processes, spans = read(t, trace)
    for crate in build["crates"]:
        check_crate(crate, processes[crate["pid"]], spans[crate["pid"]])
        assert (crate["metadata_ns"] is not None) == workspace.COMPILES[crate["name"]], crate
    check_rows(document)
    assert sum(at["ns"] for at in build["running"]) == build["wall_ns"]
    assert sum(at["compilers"] * at["ns"] for at in build["running"]) == build["compilers_ns"]
    assert build["wall_ns"] == (max(p["end_ns"] for p in processes.values())
                                - min(p["start_ns"] for p in processes.values()))
    assert build["failed"] == build["killed"] == 0 and not build["interrupted"]
    check_text(t, trace, build)
    reported = t.run_qprof("report", trace).stdout
    assert reported in messages, "a recording ends otherwise:\n" + messages


def check_text(t, trace, build):
    lines = alone_lines(t.run_qprof("report", trace).stdout)
    assert lines[0].startswith("build ") and "crates compiled: 6;" in lines[0], lines
    assert len(lines) <= 40 and max(map(len, lines)) <= 80, "\n".join(lines)
    table = next(i for i, line in enumerate(lines) if line.startswith("crate "))
    assert lines[table + 1].startswith(build["crates"][0]["name"]), lines
    assert t.run_qprof("report", "--markdown", trace).stdout.startswith("### rustc: ")
    assert "crates compiled" not in t.run_qprof("report", "--by", "query", trace).stdout


def test_metadata_only(t):
    """With cargo check, a compiler runs its front end and writes metadata for dependent crates."""
    top = workspace.make(t)
    argv, env = workspace.cargo(t, "check", "-j2")
    run = t.record(argv, env=env, cwd=top)
    crates = {c["name"]: c for c in t.report(run.trace)["build"]["crates"]}
    assert set(crates) == set(workspace.COMPILES), crates
    for name in ("base", "made", "both"):
        assert crates[name]["metadata_ns"], crates[name]
    # Build scripts and procedural macros must run, so cargo check compiles them in full.
    for name in ("base", "made", "both", "app (bin)"):
        spans = [s for s in t.spans(run.trace) if s["pid"] == crates[name]["pid"]]
        assert not any(s["query"].startswith("LLVM_") for s in spans), name


SLOW = """
#![allow(long_running_const_eval)]
const fn work(mut n: u64) -> u64 { let mut s = 0; while n > 0 { s ^= n; n -= 1; } s }
pub const SUM: u64 = work(u64::MAX);
"""


# 2 s of CPU time of the last background process.
FOR_TWO_SECONDS = "while [ $(cut -d' ' -f14 /proc/$!/stat) -lt 200 ]; do sleep 0.1; done"


def test_killed_compiler(t):
    """The report lists the queries that a killed compiler ran, the innermost first."""
    out = t.mkdir("out")
    rustc = "%s --crate-type lib --out-dir %s" % (t.rustc, out)
    fast = t.write("fast.rs", "pub fn f() -> u32 { 7 }\n")
    slow = t.write("slow.rs", SLOW)
    script = "%s %s; %s %s & %s; kill -9 $!; wait" % (rustc, fast, rustc, slow, FOR_TWO_SECONDS)
    run = t.capture(["sh", "-c", script])
    build = t.report(run.trace)["build"]
    assert (build["compiles"], build["killed"], build["killed_for_memory"]) == (2, 1, 0), build
    (thread,) = build["interrupted"]
    assert (thread["name"], thread["signal"]) == ("slow", 9), thread
    assert thread["killed_for_memory"] is False, thread
    spans = [s for s in t.spans(run.trace) if s["tid"] == thread["tid"] and s["open"]]
    assert [o["name"] for o in thread["open"]] == [s["query"] for s in spans], thread
    assert [o["ns"] for o in thread["open"]] == [length(s) for s in spans], thread
    assert thread["open"][0]["name"] == "eval_to_allocation_raw", thread
    text = t.run_qprof("report", run.trace).stdout
    assert "crates compiled: 2 (1 killed)" in text, text
    assert "killed by SIGKILL, had at most " in text and "; thread " in text and "\n  eval_to_allocation_raw (" in text, text
    return text.splitlines()[-3].strip()
