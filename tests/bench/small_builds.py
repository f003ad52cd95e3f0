# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of recording where compilers are many and short: a build of some ten small crates, and
`cargo doc` of a crate of two items, by default: with and without the profiler, in turns. The share
that a report tells is printed beside the measured one."""

import shutil
import statistics
import sys

import targets
from debian_workspace import Workspace

MANIFEST = '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n'
SOURCE = "//! A crate of two items.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\npub struct Point;\n"
DOC = "cargo doc"


class Bench:
    def __init__(self, bench):
        self.bench, self.t = bench, bench.t
        self.workspace = Workspace(bench.t)
        self.t.mkdir("small")
        self.t.mkdir("small/src")
        self.t.write("small/Cargo.toml", MANIFEST)
        self.t.write("small/src/lib.rs", SOURCE)
        self.ways = {
            "small crates -j2": (self.workspace.command("-p", "tool"), self.workspace.dir),
            DOC: (self.workspace.command(verb="doc"), self.t.path("small")),
        }

    def run(self, way, ours):
        """(wall, CPU) seconds of the whole command, and the share that the report tells."""
        command, directory = self.ways[way]
        shutil.rmtree(self.workspace.target)
        self.workspace.new_target("target")
        trace = self.t.path("small.qpt")
        measured = [self.bench.measure, self.t.write("outer", "")]
        if ours:
            measured += [self.t.qprof, "-q", "--force", "-o", trace, "--"]
        done = self.t.plain(measured + command, self.workspace.env(), directory)
        if done.status:
            sys.exit("bench: the build failed: %s" % done.stderr.decode()[-1000:])
        said = self.t.report(trace)["cost"]["share_of_cpu"] if ours else None
        return (*self.bench.read("outer"), said)


def ratios(values):
    return "%.2f [%.2f-%.2f]" % (statistics.median(values), min(values), max(values))


def measure(bench, rounds):
    """Print a table; returns the target rows."""
    builds = Bench(bench)
    table, rows = [("", "plain wall", "wall", "CPU", "more CPU, told")], []
    for way in builds.ways:
        builds.run(way, True)  # warms caches, the profiler's included
        pairs = []
        for i in range(rounds):
            both = {ours: builds.run(way, ours) for ours in ((False, True), (True, False))[i % 2]}
            pairs.append((both[False], both[True]))
        wall, cpu = ([b[i] / a[i] for a, b in pairs] for i in range(2))
        table.append((way, "%.2f s" % statistics.median(a[0] for a, _ in pairs), ratios(wall),
                      ratios(cpu), "%.2f" % statistics.median(b[2] for _, b in pairs)))
        if way == DOC:
            more = statistics.median(b[0] - a[0] for a, b in pairs)
            rows.append(targets.Row(way + ", wall added", more * 1e3, "ms", most=300))
            continue
        for what, each, most in (("CPU", cpu, 1.25), ("wall", wall, 1.15)):
            rows.append(targets.Row("%s, whole command, %s" % (way, what),
                                    statistics.median(each), "x", most=most))
    print("many short compilers, by default; %d rounds in turns; whole command" % rounds)
    targets.print_columns(table)
    print()
    return rows
