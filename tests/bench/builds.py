# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of recording a whole build: the tests' workspace of some 40 packages, built by `cargo
build -j2` from nothing: without the profiler, with --exact and by default, in turns. Each ratio is of
one round."""

import shutil
import statistics
import sys

import targets
from debian_workspace import Workspace, packages

MOST_ROUNDS = 3
# The same as for the whole command around a single compile.
AIM = 1.30
PLAIN = "plain"
WAYS = {PLAIN: None, "--exact": ("--exact", "--no-sample"), "default": ()}


class Bench:
    def __init__(self, bench, ways=WAYS):
        """`ways`: the options of the profiler by name; None: without it."""
        self.bench, self.ways = bench, ways
        self.t = bench.t
        self.workspace = Workspace(bench.t)
        self.lost = []
        self.packages = 0

    def run(self, way):
        """(wall, CPU) seconds of the whole command."""
        ours = self.ways[way] is not None
        shutil.rmtree(self.workspace.target)
        self.workspace.new_target("target")
        command = [self.bench.measure, self.t.write("outer", "")]
        if ours:
            command += [self.t.qprof, "-q", *self.ways[way], "--force", "-o", self.t.path("build.qpt"),
                        "--"]
        command += self.workspace.command()
        env, cwd = self.workspace.env(), self.workspace.dir
        done = self.t.plain(command, env, cwd)
        if done.status:
            sys.exit("bench: the build failed: %s" % done.stderr.decode()[-1000:])
        self.packages = len(packages(done.stderr.decode()))
        if ours:
            self.lost.append(self.t.report(self.t.path("build.qpt"))["lost"])
        return self.bench.read("outer")


def measure(bench, rounds):
    """Print a table; returns the target rows."""
    builds = Bench(bench)
    results = {way: [] for way in WAYS}
    for i in range(min(rounds, MOST_ROUNDS)):
        turn = i % len(WAYS)
        for way in [*WAYS][turn:] + [*WAYS][:turn]:
            results[way].append(builds.run(way))
    table = [("", "plain", "recorded", "ratio")]
    rows = []
    for way in [*WAYS][1:]:
        for i, what in enumerate(("wall", "CPU")):
            plain, recorded = ([times[i] for times in results[w]] for w in (PLAIN, way))
            each = [b / a for a, b in zip(plain, recorded)]
            table.append(("%s, %s" % (way, what), "%.1f s" % statistics.median(plain),
                          "%.1f s" % statistics.median(recorded),
                          "%.2f [%.2f-%.2f]" % (statistics.median(each), min(each), max(each))))
            rows.append(targets.Row("workspace -j2, whole command, %s, %s" % (way, what),
                                    statistics.median(each), "x", most=AIM))
    print("workspace, %d packages, -j2, debug; %d rounds in turns; whole command" % (
        builds.packages, len(results[PLAIN])))
    targets.print_columns(table)
    print()
    return [*rows, targets.Row("workspace -j2, lost", max(builds.lost), "", most=0)]
