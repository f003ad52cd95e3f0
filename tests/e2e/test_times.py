# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The time of the probes is measured, shown and subtracted. `make bench-times` shows how exactly."""


import crates
import lab


def raw_report(t, trace):
    return t.json("report", "--json", "--raw", trace)


@lab.alone("what a probe costs is measured")
def test_probes_are_taken_off(t):
    run = t.record([t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out")))
    report, raw = t.report(run.trace), raw_report(t, run.trace)
    probes, count = report["probes"], sum(q["count"] for q in report["queries"])
    assert probes["emulated_ps"] > 0 and probes["taken_off"], probes
    assert not raw["probes"]["taken_off"]
    # The start and end of each, and some caught panics.
    assert 2 * count <= probes["hits"] < 2.1 * count, (probes, count)
    assert 0 < probes["probe_ns"] < probes["wall_ns"], probes

    with_probes = {(q["name"], q["kind"]): q for q in raw["queries"]}
    for q in report["queries"]:
        there = with_probes[q["name"], q["kind"]]
        assert q["self_ns"] < q["raw_self_ns"] == there["self_ns"], q
        assert q["total_ns"] < q["raw_total_ns"] == there["total_ns"], q
    taken_off = sum(q["raw_self_ns"] - q["self_ns"] for q in report["queries"])
    assert 0.5 * probes["probe_ns"] < taken_off <= probes["probe_ns"], (taken_off, probes)
    return "%d hits, %.0f ns each" % (probes["hits"], probes["emulated_ps"] / 1e3)


@lab.alone("what a probe costs is measured")
def test_a_dump_has_raw_times_and_what_the_probes_took(t):
    run = t.record([t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out")))
    spans = t.spans(run.trace)
    total = sum(s["end_ns"] - s["start_ns"] for s in spans)
    assert total == sum(q["total_ns"] for q in raw_report(t, run.trace)["queries"])
    leaf, root = min(s["probe_ns"] for s in spans), max(s["probe_ns"] for s in spans)
    assert 0 < leaf < root
