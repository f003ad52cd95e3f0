# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Page faults without their stacks: the innermost function and query of each sample."""

import os

import crates
import exports
from lab import each
from test_export import export
from test_sampling import entries, lines

PERIOD = 20
BYTES = PERIOD * os.sysconf("SC_PAGESIZE")
NO_PROBES = ("-e", "none")
QUERIES = ("-e", "query-provider")
EXACT = ("--exact",)


def recorded(t, *options):
    """A trace that several tests read."""
    def record():
        argv = [t.rustc] + crates.arguments("memchr", t.mkdir("out"), "-g")
        run = t.capture(argv, options=("-q", *options))
        assert (run.status, run.stderr) == (0, b""), run.stderr.decode()
        return run.trace

    t.need_capture()
    return t.shared("memory%s.qpt" % "".join(options), record)


def memory_of(t, trace):
    """report --memory: of all crates, all queries, and none."""
    return t.json("report", "--memory", "--json", "--min", "0.001%", trace)


def by_query(memory):
    return {row["name"]: row["samples"] for row in memory["queries"]}


def assert_adds_up(memory, nowhere):
    """Each sample is in one crate, in one part unless it is nowhere, and in one query, in none, or in an
    unknown one."""
    faults = memory["samples"]["faults"]
    assert faults["bytes"] == faults["n"] * BYTES > 0, faults
    assert sum(row["bytes"] for row in memory["crates"]) == faults["bytes"], faults
    assert sum(row["samples"] for row in memory["parts"]) == faults["n"] - nowhere, (faults, nowhere)
    inside = sum(row["bytes"] for row in memory["queries"])
    assert inside + faults["no_query_bytes"] + faults["unknown_query_bytes"] == faults["bytes"], faults


@each(NO_PROBES, QUERIES, EXACT, ())
def test_memory_light_has_one_function_and_query(t, *options):
    trace = recorded(t, "--memory-light=%d" % PERIOD, *options)
    found = lines(t, trace)
    assert [(s["fault_period"], s["light"]) for s in found["sampling"]] == [(PERIOD, True)]
    samples = [s for s in found["sample"] if s["cause"] == "faults"]
    assert len(samples) > 500 and {s["value"] for s in samples} == {BYTES}, len(samples)
    for sample in samples:
        stack = list(entries(found, sample))
        assert len(stack) <= 2 and not any("location" in entry for entry in stack[1:]), stack
    memory = memory_of(t, trace)
    assert_adds_up(memory, sum(sample["stack"] is None for sample in samples))
    assert memory["samples"]["light"] == len(samples)
    assert all(row["total_bytes"] is None for row in memory["queries"])
    (crate,) = memory["crates"]
    assert crate["peak_bytes"] > 50 << 20, crate
    assert {"typeck", "mir_borrowck"} <= by_query(memory).keys(), by_query(memory)
    faults = memory["samples"]["faults"]
    unknown = faults["unknown_query_bytes"] / faults["bytes"]
    text = t.run_qprof("report", "--memory", trace).stdout
    assert "total" not in text and "recorded without stacks" in text, text
    assert unknown < 0.1, faults
    return "%d samples, %.1f %% in an unknown query" % (len(samples), 100 * unknown)


def test_memory_light_agrees_with_stacks(t):
    """Of two compiles: about as many page faults, in the same queries."""
    full = memory_of(t, recorded(t, "--memory=%d" % PERIOD, *NO_PROBES))
    said = []
    for options in (NO_PROBES, QUERIES):
        light = memory_of(t, recorded(t, "--memory-light=%d" % PERIOD, *options))
        n, m = full["samples"]["faults"]["n"], light["samples"]["faults"]["n"]
        assert n / 2 < m < 2 * n, (n, m)
        ours, theirs = by_query(full), by_query(light)
        large = [name for name in ours if ours[name] > n / 50 and name not in ("LLVM_passes",)]
        if options == QUERIES:
            large = [name for name in large if name in theirs]
        assert len(large) >= 3, large
        for name in large:
            # The kernel may give one compile huge pages, and another one none.
            a, b = ours[name], theirs.get(name, 0)
            assert a / 4 < b < 4 * a, (name, a, b, options)
        said.append("%d and %d samples" % (n, m))
    return ", ".join(said)


def test_memory_light_in_exports(t):
    trace = recorded(t, "--memory-light=%d" % PERIOD, *NO_PROBES)
    total = memory_of(t, trace)["samples"]["faults"]["bytes"]
    perfetto = exports.Perfetto(export(t, trace, "perfetto"))
    (track,) = [x for x in perfetto.tracks.values() if x.get("name") == ["memory touched"]]
    assert perfetto.last[track["uuid"][0]] == total
    folded = t.run_qprof("export", "-f", "folded", "--memory", "-o", "-", trace).stdout
    weights = [(line.rpartition(" ")[0], int(line.rpartition(" ")[2])) for line in folded.splitlines()]
    assert sum(n for _, n in weights) == total
    assert any("[typeck];" in stack for stack, _ in weights), weights[:5]


def test_memory_light_beside_samples_of_the_cpu(t):
    """These have their stacks, and no warning calls those of page faults cut."""
    trace = recorded(t, "--memory-light", "--sample=999", *NO_PROBES)
    found = lines(t, trace)
    cpu = [s for s in found["sample"] if s["cause"] == "cpu"]
    assert any(len(list(entries(found, s))) > 10 for s in cpu), len(cpu)
    samples = memory_of(t, trace)["samples"]
    assert samples["cut"]["too_deep"] <= len(cpu), samples
    assert samples["n"] == samples["complete"] + samples["light"] + sum(samples["cut"].values())
