# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whether a budget is kept: the growth of a compile's CPU time, under budgets and without one.

All ways take turns in every round, in rotating order; each is compared with the plain compile of
its own round. The target is one point above the budget. The way without a budget comes first and
teaches the rates: with an unknown library, a budget is kept less exactly. The default's is 25 %.
"""

import statistics

import overhead
import targets

CRATES = {
    "regex-syntax, debug": ("regex-syntax", ()),
    "memchr, -O": ("memchr", ("-O",)),
    "semver, -O": ("semver", ("-O",)),
    "either, debug": ("either", ()),
}
EXACT = overhead.OURS_EXACT
# Percents by way.
BUDGETS = {**{"qprof-bpf --budget %d%%" % percent: percent for percent in (3, 5, 10)},
           overhead.OURS: 25}


def ways():
    return ["plain", EXACT, *BUDGETS]


def run_all(bench, crate, flags, rounds):
    results = {way: [] for way in ways()}
    order = ways()
    for way in order:
        bench.run(way, crate, flags)  # warms caches
    for i in range(rounds):
        turn = i % len(order)
        for way in order[turn:] + order[:turn]:
            results[way].append(bench.run(way, crate, flags))
    return results


def measure(bench, rounds):
    """Print a table of each crate; returns the target rows."""
    rows = []
    for name, (crate, flags) in CRATES.items():
        results = run_all(bench, crate, flags, rounds)
        plain = results["plain"]
        print("%s: plain compile %.3f s CPU; %d rounds" % (
            name, overhead.median(plain, "compile_cpu"), rounds))
        table = [("", "compile CPU", "recorded", "probe hits")]
        for way in ways()[1:]:
            samples = results[way]
            table.append((way, overhead.ratios(samples, plain, "compile_cpu"),
                          "%d" % overhead.median(samples, "events"),
                          "%d" % overhead.median(samples, "hits")))
        targets.print_columns(table)
        print()
        for way, budget in BUDGETS.items():
            samples = results[way]
            ratio = statistics.median(overhead.all_ratios(samples, plain, "compile_cpu"))
            rows.append(targets.Row("%s, budget %d %%, CPU" % (name, budget), ratio, "x",
                                    most=1 + (budget + 1) / 100))
    return rows
