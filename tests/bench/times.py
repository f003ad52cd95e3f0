# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The accuracy of self times of queries, compared with rustc's own self-profile.

Plain, self-profiled and profiled compiles take turns, with a high CPU priority. A query's time is
the median over the runs of one kind; queries with 1 % or more of the self-profile's sum are listed.
--least takes the smallest time instead, which is the least disturbed one on a busy machine.

Rustc's profile is no absolute truth: its own timers take some time, too. The last lines show how
much, and the wall time that the probes took, next to the time that the report shows for them.
"""

import argparse
import collections
import glob
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))

import crates  # noqa: E402
import lab  # noqa: E402
from mm_profdata import BadProfile, Profile, summarize  # noqa: E402

BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
PLAIN, TRUTH, OURS = "plain", "self-profile", "qprof-bpf"
TARGET_EACH, TARGET_SUM, LISTED = 0.10, 0.05, 0.01


class Run:
    """Self times in ns by query, and the compile's wall time in s."""

    def __init__(self, wall, own=None, raw=None, counts=None, probes=None):
        self.wall, self.own, self.raw, self.counts, self.probes = wall, own, raw, counts, probes


class Bench:
    def __init__(self, t, build, rustc, crate, flags):
        self.t, self.rustc, self.crate, self.flags = t, rustc, crate, flags
        self.measure = os.path.abspath(os.path.join(build, "tests/bench/measure"))

    def run(self, way):
        argv = [self.rustc] + crates.arguments(self.crate, self.t.mkdir("out"), *self.flags)
        subprocess.run(["rm", "-rf", self.t.path("profile")], check=True)
        profile, trace = self.t.mkdir("profile"), self.t.path("times.qpt")
        if way == TRUTH:
            argv += ["-Zself-profile=" + profile, "-Zself-profile-events=query-provider"]
        command = [self.measure, self.t.write("wall", ""), *argv]
        if way == OURS:
            # Self times are comparable only if the same intervals are subtracted from them.
            command = [self.t.qprof, "-q", "-e", "query-provider", "--force", "-o", trace, "--",
                       *command]
        ours = way == OURS
        env = self.t.qprof_env(BOOTSTRAP) if ours else lab.environment(**BOOTSTRAP)
        subprocess.run(command, env=env, cwd=self.t.dir, check=True,
                       **({} if ours else lab.as_invoker()))
        with open(self.t.path("wall")) as f:
            wall = int(f.read().split()[0]) / 1e9
        if way == TRUTH:
            return self.truth(wall, profile)
        return self.ours(wall, trace) if ours else Run(wall)

    def truth(self, wall, profile):
        (path,) = glob.glob(profile + "/*.mm_profdata")
        rows, _ = summarize(Profile.read(path))
        return Run(wall, {label: row.own for label, row in rows.items() if row.count},
                   counts={label: row.count for label, row in rows.items()})

    def ours(self, wall, trace):
        report = self.t.report(trace)
        if report["lost"]:
            sys.exit("times: %d spans were lost" % report["lost"])
        rows = report["queries"]
        return Run(wall, {q["name"]: q["self_ns"] for q in rows},
                   {q["name"]: q["raw_self_ns"] for q in rows},
                   {q["name"]: q["count"] for q in rows}, report["probes"])


def typical(runs, field, of=statistics.median):
    times = collections.defaultdict(list)
    for run in runs:
        for label, ns in getattr(run, field).items():
            times[label].append(ns)
    return {label: of(values) for label, values in times.items()}


def spread(runs, label):
    """The largest of rustc's own times relative to the smallest, minus 1."""
    values = [run.own[label] for run in runs]
    return max(values) / min(values) - 1


def row(name, truth, own, raw, *more):
    print("%-40s %9.2f %9.2f %7.3f %9.2f %7.3f" % (
        name, truth / 1e6, own / 1e6, own / truth, raw / 1e6, raw / truth), *more)


def print_table(results, of):
    truth, own = typical(results[TRUTH], "own", of), typical(results[OURS], "own", of)
    raw = typical(results[OURS], "raw", of)
    total = sum(truth.values())
    listed = sorted((q for q in truth if truth[q] >= LISTED * total), key=lambda q: -truth[q])
    print("%-40s %9s %9s %7s %9s %7s %7s" % (
        "self time of", "truth ms", "ours ms", "ratio", "raw ms", "ratio", "spread"))
    for q in listed:
        row(q, truth[q], own[q], raw[q], "%6.1f%%" % (100 * spread(results[TRUTH], q)))
    row("all", total, sum(own.values()), sum(raw.values()))
    near = sum(abs(own[q] / truth[q] - 1) <= TARGET_EACH for q in listed)
    before = sum(abs(raw[q] / truth[q] - 1) <= TARGET_EACH for q in listed)
    off = sum(own.values()) / total - 1
    print("within 10 %%: %d of %d (raw: %d); all: %+.1f %% (raw: %+.1f %%), target 5 %%" % (
        near, len(listed), before, 100 * off, 100 * (sum(raw.values()) / total - 1)))


def print_overheads(results, of):
    wall = {way: of(run.wall for run in runs) for way, runs in results.items()}
    probes = [run.probes for run in results[OURS]]
    said = statistics.median(p["probe_ns"] for p in probes) / 1e9
    took = wall[OURS] - wall[PLAIN]
    print("wall: plain %.3f s, self-profile %.3f s (%+.1f %%), qprof-bpf %.3f s (%+.1f %%)" % (
        wall[PLAIN], wall[TRUTH], 100 * (wall[TRUTH] / wall[PLAIN] - 1), wall[OURS],
        100 * (wall[OURS] / wall[PLAIN] - 1)))
    print("probes: %d hits, %.0f ns each by measurement: %.3f s; by the wall %.3f s, %.2f times that" % (
        probes[0]["hits"], statistics.median(p["emulated_ps"] for p in probes) / 1e3, said, took,
        took / said))


def compare(bench, rounds, of):
    ways = (PLAIN, TRUTH, OURS)
    results = {way: [] for way in ways}
    for i in range(-1, rounds):  # the first warms caches, the profiler's included
        for way in ways[i % 3:] + ways[:i % 3]:
            try:
                run = bench.run(way)
            except BadProfile:  # rustc sometimes exits before its profile is complete
                run = bench.run(way)
            if i >= 0:
                results[way].append(run)
    print_table(results, of)
    print_overheads(results, of)


def raise_priority():
    """Of this process and those that it starts, against all of the machine."""
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        with open("/proc/self/autogroup", "w") as f:  # a session competes with others as a whole
            f.write("-20")
    except OSError:  # a kernel without, or with it turned off
        pass


def add_compile_arguments(parser):
    """Options: the crate to compile, and the build of ours that records it."""
    parser.add_argument("--build", default="build")
    parser.add_argument("--toolchain", default="stable")
    parser.add_argument("--crate", default="regex-syntax", choices=list(crates.FEATURES))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_compile_arguments(parser)
    parser.add_argument("flags", nargs="*", help="more of rustc's options, after --")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--least", action="store_true", help="the smallest, not the median")
    options = parser.parse_args()
    if lab.why_no_capture():
        sys.exit("times: " + lab.why_no_capture())
    with lab.Lab(options.build) as t:
        bench = Bench(t, options.build, t.toolchain(options.toolchain).rustc, options.crate,
                      options.flags)
        print("%s %s: %d rounds" % (options.crate, " ".join(options.flags) or "debug",
                                    options.rounds))
        raise_priority()
        compare(bench, options.rounds, min if options.least else statistics.median)


if __name__ == "__main__":
    main()
