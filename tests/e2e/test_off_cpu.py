# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The off-CPU intervals of the compiler's threads, and their reasons."""

import collections
import itertools
import json

import crates
from test_exact_counts import BOOTSTRAP, Compile

REASONS = {"<preempted>", "<waiting>", "<uninterruptible>"}


def length(span):
    return span["end_ns"] - span["start_ns"]


def is_off(span):
    return span.get("kind") == "OffCpu"


def by_thread(spans):
    threads = collections.defaultdict(list)
    for span in spans:
        threads[span["pid"], span["tid"]].append(span)
    return threads


def assert_nested(spans):
    """In reverse order, an interval comes before those within it. (A wait in the body of a query
    that starts at its wrapper has the depth of that query.)"""
    holders = []
    for span in reversed(spans):
        while holders and holders[-1]["start_ns"] >= span["end_ns"]:
            holders.pop()
        if holders:
            assert holders[-1]["start_ns"] <= span["start_ns"], (holders[-1], span)
            assert span["end_ns"] <= holders[-1]["end_ns"], (holders[-1], span)
            assert span["depth"] >= holders[-1]["depth"] + is_off(span), (holders[-1], span)
        if is_off(span):
            assert span["query"] in REASONS, span
        else:
            holders.append(span)


def test_threads_wait_for_each_other(t):
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.LONG, "debug")
    for attempt in range(5):
        run = t.record(compile.argv("threads%d" % attempt, None, "-Zthreads=4"), env=BOOTSTRAP)
        threads = by_thread(t.spans(run.trace, off_cpu=True))
        # Whether one thread needs another's result depends on timing.
        if sum(length(s) for s in itertools.chain(*threads.values())
               if s.get("kind") == "QueryBlocked") > 1_000_000:
            break
    waiting = 0
    for spans in threads.values():
        assert_nested(spans)
        waiting += any(is_off(s) and s["query"] == "<waiting>" for s in spans)
    # The front end's threads, which have more or less to do, and the coordinator.
    assert waiting >= 4, waiting
    blocked = [s for spans in threads.values() for s in spans if s.get("kind") == "QueryBlocked"]
    off = sum(s.get("off_ns", 0) for s in blocked)
    # A thread that waits for a query sleeps until it is woken.
    assert off > 0.5 * sum(map(length, blocked)), (off, sum(map(length, blocked)))
    return "%d blocked, %.0f %% of it off the CPU" % (
        len(blocked), 100 * off / max(1, sum(map(length, blocked))))


def test_on_and_off_make_up_the_wall(t):
    """The report agrees with the spans that it sums up."""
    run = t.record([t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out")))
    spans = t.spans(run.trace, off_cpu=True)
    threads = by_thread(spans)
    document = t.report(run.trace)
    done = t.run_qprof("report", "--by", "thread", "--json", run.trace)
    groups = json.loads(done.stdout)["groups"]
    found = 0
    for (pid, tid), own in threads.items():
        rows = [g for g in groups if "%d/%d" % (pid, tid) in g["name"]]
        if not rows:  # the thread ran no query
            continue
        (row,) = rows
        wall = max(s["end_ns"] for s in own) - min(s["start_ns"] for s in own)
        off = collections.Counter()
        for s in filter(is_off, own):
            off[s["query"] == "<preempted>"] += length(s)
        assert row["wall_ns"] == wall, (row, wall)
        assert row.get("preempted_ns", 0) == off[True], (row, off)
        assert row.get("waiting_ns", 0) == off[False], (row, off)
        assert off[True] + off[False] <= wall, (row, off)
        found += 1
    assert found
    # Each off-CPU interval inside another one is in the own time of exactly one interval.
    inside = sum(length(s) for s in spans if is_off(s) and s["depth"])
    assert inside == sum(q.get("self_off_ns", 0) for q in document["queries"])
    assert sum(q["count"] for q in document["queries"]) == sum(not is_off(s) for s in spans)


def test_a_linker_is_waited_for(t):
    source = t.write("main.rs", "fn main() {}\n")
    run = t.record([t.rustc, "--out-dir", t.mkdir("out"), source])
    row = {q["name"]: q for q in t.report(run.trace)["queries"]}["run_linker"]
    assert row["self_off_ns"] > 0.5 * row["raw_self_ns"], row


def test_off_cpu_is_recorded_only_if_asked_for(t):
    run = t.record([t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out")),
                   ("-q", "-e", "default,query-provider,-off-cpu"))
    assert not any(is_off(s) for s in t.spans(run.trace, off_cpu=True))
    assert not any("self_off_ns" in q for q in t.report(run.trace)["queries"])
