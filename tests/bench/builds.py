# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of recording a whole build: the tests' workspace of some 40 packages, built by `cargo
build -j2` from nothing, with and without the profiler in turns. Each ratio is of one round."""

import shutil
import statistics
import sys

import targets
from debian_workspace import Workspace, packages

MOST_ROUNDS = 3
# The same as for the whole command around a single compile.
AIM = 1.30


class Bench:
    def __init__(self, bench):
        self.bench = bench
        self.t = bench.t
        self.workspace = Workspace(bench.t)
        self.lost = []
        self.packages = 0

    def run(self, ours):
        """(wall, CPU) seconds of the whole command."""
        shutil.rmtree(self.workspace.target)
        self.workspace.new_target("target")
        command = [self.bench.measure, self.t.write("outer", "")]
        if ours:
            command += [self.t.qprof, "-q", "--force", "-o", self.t.path("build.qpt"), "--"]
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
    pairs = []
    for i in range(min(rounds, MOST_ROUNDS)):
        times = {ours: builds.run(ours) for ours in ((False, True), (True, False))[i % 2]}
        pairs.append((times[False], times[True]))
    table = [("", "plain", "recorded", "ratio")]
    ratios = []
    for i, what in enumerate(("wall", "CPU")):
        plain, recorded = ([pair[side][i] for pair in pairs] for side in (0, 1))
        each = [b / a for a, b in zip(plain, recorded)]
        ratios.append(statistics.median(each))
        table.append((what, "%.1f s" % statistics.median(plain),
                      "%.1f s" % statistics.median(recorded),
                      "%.2f [%.2f-%.2f]" % (ratios[-1], min(each), max(each))))
    print("workspace, %d packages, -j2, debug; %d rounds in turns; whole command" % (
        builds.packages, len(pairs)))
    targets.print_columns(table)
    print()
    return [targets.Row("workspace -j2, whole command, wall", ratios[0], "x", most=AIM),
            targets.Row("workspace -j2, lost", max(builds.lost), "", most=0)]
