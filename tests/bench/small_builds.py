# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of recording where compilers are many and short: a build of some ten small crates, and
`cargo doc` of a crate of two items: with and without the profiler, in turns. The share that a report
tells is printed beside the measured one. The targets are those of the default; what records less is
beside it, as it shows what the probes take of the cost."""

import shutil
import statistics
import sys

import targets
from debian_workspace import Workspace

MANIFEST = '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n'
SOURCE = "//! A crate of two items.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\npub struct Point;\n"
DOC = "cargo doc"
# Options of the profiler; None: without it.
DEFAULT = ()
OTHERS = (("--exact", "--no-sample"), ("-e", "none", "--sample"))


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

    def run(self, way, options):
        """(wall, CPU) seconds of the whole command, and the share that the report tells."""
        command, directory = self.ways[way]
        shutil.rmtree(self.workspace.target)
        self.workspace.new_target("target")
        trace = self.t.path("small.qpt")
        measured = [self.bench.measure, self.t.write("outer", "")]
        if options is not None:
            measured += [self.t.qprof, "-q", "--force", "-o", trace, *options, "--"]
        done = self.t.plain(measured + command, self.workspace.env(), directory)
        if done.status:
            sys.exit("bench: the build failed: %s" % done.stderr.decode()[-1000:])
        if options is None:
            return (*self.bench.read("outer"), None)
        said = self.t.report(trace)["cost"]["share_of_cpu"]
        return (*self.bench.read("outer"), said)


def ratios(values):
    return "%.2f [%.2f-%.2f]" % (statistics.median(values), min(values), max(values))


def take_turns(builds, way, rounds):
    """A list for each of DEFAULT and OTHERS: the pairs of its rounds, plain and recorded."""
    ways = [None, DEFAULT, *OTHERS]
    pairs = {options: [] for options in ways[1:]}
    for i in range(rounds):
        done = {options: builds.run(way, options)
                for options in ways[i % len(ways):] + ways[:i % len(ways)]}
        for options in ways[1:]:
            pairs[options].append((done[None], done[options]))
    return pairs


def column(way, options, pairs):
    wall, cpu = ([b[i] / a[i] for a, b in pairs] for i in range(2))
    more = statistics.median(b[0] - a[0] for a, b in pairs)
    return (way, " ".join(options) or "default", "%.2f s" % statistics.median(a[0] for a, _ in pairs),
            ratios(wall), "%+.2f s" % more, ratios(cpu),
            "%.2f" % statistics.median(b[2] for _, b in pairs))


def target_rows(way, pairs):
    if way == DOC:
        more = statistics.median(b[0] - a[0] for a, b in pairs)
        return [targets.Row(way + ", wall added", more * 1e3, "ms", most=150)]
    return [targets.Row("%s, whole command, %s" % (way, what),
                        statistics.median(b[i] / a[i] for a, b in pairs), "x", most=most)
            for i, what, most in ((1, "CPU", 1.08), (0, "wall", 1.06))]


def measure(bench, rounds):
    """Print a table; returns the target rows."""
    builds = Bench(bench)
    table = [("", "", "plain wall", "wall", "more", "CPU", "more CPU, told")]
    rows = []
    for way in builds.ways:
        builds.run(way, DEFAULT)  # warms caches, the profiler's included
        of = take_turns(builds, way, rounds)
        table += [column(way, options, pairs) for options, pairs in of.items()]
        rows += target_rows(way, of[DEFAULT])
    print("many short compilers; %d rounds in turns; whole command" % rounds)
    targets.print_columns(table)
    print()
    return rows
