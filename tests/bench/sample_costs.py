# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of samples without probes: CPU time of compiles, with and without, in turns.

A ratio is that of a compile to the plain one of its own round; printed are the geometric mean and
two standard errors of it. There are so many rounds as the difference is small.
"""

import math
import os
import statistics

import crates
import overhead
import targets

ROUNDS = 4  # times those of other parts
EMPTY = "empty crate, rustdoc"
WORKLOADS = {
    "regex-syntax, debug": ("regex-syntax", ()),
    "either, debug": ("either", ()),
    EMPTY: None,
}
TARGETS = {
    "-e none --sample=499": 1.02,
    "-e none --sample=999": 1.03,
    "-e none --memory": 1.01,
}
PLAIN = "plain"


def command(bench, workload):
    if workload == EMPTY:
        rustdoc = os.path.join(os.path.dirname(bench.rustc), "rustdoc")
        return [rustdoc, "-o", bench.t.mkdir("doc"), bench.t.write("empty.rs", "")]
    crate, flags = WORKLOADS[workload]
    return [bench.rustc, *crates.arguments(crate, bench.t.mkdir("out"), *flags)]


def run_all(bench, argv, rounds):
    ways = [PLAIN, *(overhead.OURS + " " + options for options in TARGETS)]
    results = {way: [] for way in ways}
    for way in ways:
        bench.run_command(way, argv)  # warms caches
    for i in range(rounds):
        turn = i % len(ways)
        for way in ways[turn:] + ways[:turn]:
            results[way].append(bench.run_command(way, argv))
    return results


def mean(ratios):
    """(geometric mean, two standard errors)"""
    logs = [math.log(ratio) for ratio in ratios]
    center = math.exp(statistics.mean(logs))
    return center, 2 * center * statistics.stdev(logs) / math.sqrt(len(logs))


def measure(bench, rounds):
    """Print a table of each workload; returns the target rows."""
    rows = []
    rounds *= ROUNDS
    for workload in WORKLOADS:
        results = run_all(bench, command(bench, workload), rounds)
        plain = results[PLAIN]
        print("%s: plain %.3f s CPU; %d rounds; mean +- two standard errors" % (
            workload, overhead.median(plain, "compile_cpu"), rounds))
        table = [("", "compile CPU", "compile wall", "lost")]
        for options, most in TARGETS.items():
            samples = results[overhead.OURS + " " + options]
            cpu, error = mean(overhead.all_ratios(samples, plain, "compile_cpu"))
            wall = mean(overhead.all_ratios(samples, plain, "compile_wall"))
            table.append((options, "%.3f +- %.3f" % (cpu, error), "%.3f +- %.3f" % wall,
                          overhead.lost(samples)))
            rows.append(targets.Row("%s, %s, CPU" % (workload, options), cpu, "x", most=most,
                                    note="+- %.3f" % error))
        targets.print_columns(table)
        print()
    return rows
