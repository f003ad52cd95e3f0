# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of reading compilers from outside, as without privileges (--attach read): of one compile,
and of the build of some 40 packages by `cargo build -j2`. Each recording stands beside a plain run of
its own round, in turns; the figures are of the whole command, the profiler's set-up included."""

import statistics

import builds
import targets

WAY = "qprof-bpf --attach read"
WORKLOADS = {"regex-syntax, debug": ("regex-syntax", ()), "regex-syntax, -O": ("regex-syntax", ("-O",))}
# Of build and reader together.
AIM = 1.03


def pairs_of(plain, recorded, rounds):
    """A pair of (wall, CPU) seconds for each round; which comes first alternates."""
    pairs = []
    for i in range(rounds):
        first = (plain() if i % 2 else recorded())
        second = (recorded() if i % 2 else plain())
        pairs.append((first, second) if i % 2 else (second, first))
    return pairs


def of_compile(bench, name, rounds):
    def run(way):
        sample = bench.run(way, *WORKLOADS[name])
        return sample.whole_wall, sample.whole_cpu

    run(WAY)  # warms caches, the profiler's included
    return pairs_of(lambda: run("plain"), lambda: run(WAY), rounds)


def of_build(bench, rounds):
    build = builds.Bench(bench, {**builds.WAYS, WAY: ("--attach", "read")})
    pairs = pairs_of(lambda: build.run(builds.PLAIN), lambda: build.run(WAY), rounds)
    return "%d packages, -j2, debug" % build.packages, pairs


def measure(bench, rounds):
    """Print a table; returns the target rows."""
    measured = [(name, of_compile(bench, name, rounds)) for name in WORKLOADS]
    measured.append(of_build(bench, min(rounds, builds.MOST_ROUNDS)))
    table, rows = [("", "pairs", "plain", "recorded", "ratio")], []
    for name, pairs in measured:
        for i, what in enumerate(("wall", "CPU")):
            each = [recorded[i] / plain[i] for plain, recorded in pairs]
            table.append(("%s, %s" % (name, what), "%d" % len(pairs),
                          "%.2f s" % statistics.median(plain[i] for plain, _ in pairs),
                          "%.2f s" % statistics.median(recorded[i] for _, recorded in pairs),
                          "%.3f [%.3f-%.3f]" % (statistics.median(each), min(each), max(each))))
            rows.append(targets.Row("from outside, %s, whole command, %s" % (name, what),
                                    statistics.median(each), "x", most=AIM))
    print("read from outside; whole command, in pairs")
    targets.print_columns(table)
    print()
    return rows
