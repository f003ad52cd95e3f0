# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of profiling, with qprof-bpf and rustc's own self-profile, relative to a plain compile.

All ways take turns in every round, in rotating order, and each is compared with the plain compile
of its own round: the figures are medians of these ratios, with the smallest and largest.

compile  from rustc's exec to its exit, as its parent sees it
whole    the command as typed: with set-up, attaching, detaching, and the trace written
CPU      user and system time; "own" is the profiler's, "compile" that of rustc with its traps
floor    plain compile + hits x cost of one bare trap, measured here in a small loop
probes   the plain compile with the same probes, attached for another process: their program
  only   returns at once. The cost without our own part
"""

import contextlib
import glob
import os
import statistics
import subprocess
import sys
import time

import crates
import lab
import targets
import test_cache_hits

# The second has the most queries per second of plain compile of those in crates.py.
WORKLOADS = {
    "regex-syntax, debug": ("regex-syntax", ()),
    "either, debug": ("either", ()),
    "memchr, metadata only": ("memchr", ("--emit=metadata",)),
}
DEFAULT = list(WORKLOADS)[:2]
OURS = "qprof-bpf"
OURS_EXACT = "qprof-bpf --exact --no-sample"
OURS_QUERIES = "qprof-bpf -e query-provider"
THEIR_QUERIES = "self-profile query-provider"
WAYS = ("plain", THEIR_QUERIES, "self-profile default", "probes only", OURS_QUERIES, OURS_EXACT,
        OURS)
BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}  # in every run: it changes what rustc does


class Sample:
    """One run: seconds, and the amounts recorded."""

    def __init__(self, compile, whole, events=0, size=0, lost=0, hits=None):
        self.compile_wall, self.compile_cpu = compile
        self.whole_wall, self.whole_cpu = whole
        self.events, self.size, self.lost, self.hits = events, size, lost, hits

    @property
    def own_cpu(self):
        return self.whole_cpu - self.compile_cpu


class Bench:
    def __init__(self, t, build, rustc):
        self.t = t
        self.rustc = rustc
        self.measure = os.path.abspath(os.path.join(build, "tests/bench/measure"))
        self.trap = os.path.abspath(os.path.join(build, "tests/bench/trap"))

    def read(self, name):
        with open(self.t.path(name)) as f:
            return [int(word) / 1e9 for word in f.read().split()]

    def run(self, way, crate, flags):
        return self.run_command(
            way, [self.rustc] + crates.arguments(crate, self.t.mkdir("out"), *flags))

    def run_command(self, way, argv):
        """One compile; `argv` starts rustc or rustdoc."""
        profile = self.t.path("profile")
        subprocess.run(["rm", "-rf", profile], check=True)
        self.t.mkdir("profile")
        trace = self.t.path("bench.qpt")
        if way.startswith("self-profile"):
            argv = [*argv, "-Zself-profile=" + profile,
                    "-Zself-profile-events=" + way.split()[1]]
        # The inner file must be writable for the invoking user, the outer one for us.
        command = [self.measure, self.t.write("inner", ""), *argv]
        ours = way.startswith(OURS)
        if ours:
            command = [self.t.qprof, "-q", *way.split()[1:], "--force", "-o", trace, "--", *command]
        env = self.t.qprof_env(BOOTSTRAP) if ours else lab.environment(**BOOTSTRAP)
        who = {} if ours else lab.as_invoker()
        with self.probes() if way == "probes only" else contextlib.nullcontext():
            done = subprocess.run([self.measure, self.t.write("outer", ""), *command],
                                  env=env, cwd=self.t.dir, **who)
        if done.returncode:
            sys.exit("bench: the command failed: %s" % " ".join(command))
        return self.sample(way, profile, trace)

    @contextlib.contextmanager
    def probes(self):
        """Record a process that compiles nothing: rustc hits the probes, but is not followed."""
        idle = subprocess.Popen(["sleep", "1000"])
        other = self.t.start_qprof("-q", "--force", "-o", self.t.path("other.qpt"),
                                   "-p", str(idle.pid))
        time.sleep(0.5)
        try:
            yield
        finally:
            idle.kill()
            idle.wait()
            other.communicate()

    def sample(self, way, profile, trace):
        inner, outer = self.read("inner"), self.read("outer")
        if way.startswith(OURS):
            report = self.t.report(trace)
            events = sum(q["count"] or 0 for q in report["queries"])
            return Sample(inner, outer, events, os.path.getsize(trace), report["lost"],
                          report["losses"]["hits"])
        sample = Sample(inner, outer)
        for file in glob.glob(profile + "/*"):
            sample.size += os.path.getsize(file)
            sample.events += count_events(file)
        return sample

    def own_profile(self):
        """(path, number of events) of rustc's own profile of the workload with targets."""
        crate, flags = WORKLOADS[DEFAULT[0]]
        sample = self.run(THEIR_QUERIES, crate, flags)
        (path,) = glob.glob(self.t.path("profile", "*"))
        return path, sample.events

    def trap_ns(self):
        values = [float(subprocess.run([self.trap], capture_output=True, text=True,
                                       check=True).stdout) for _ in range(5)]
        return statistics.median(values)


def count_events(path):
    """Records in the event stream of a self-profile: 32 bytes each after its 8-byte header."""
    total = -8
    with open(path, "rb") as f:
        f.seek(8)
        while header := f.read(5):
            size = int.from_bytes(header[1:], "little")
            total += size if header[0] == 0 else 0
            f.seek(size, os.SEEK_CUR)
    return total // 32


def all_ratios(samples, plain, field):
    return [getattr(s, field) / getattr(p, field) for s, p in zip(samples, plain)]


def ratios(samples, plain, field):
    values = all_ratios(samples, plain, field)
    return "%.3f [%.3f-%.3f]" % (statistics.median(values), min(values), max(values))


def median(samples, field):
    return statistics.median(getattr(s, field) for s in samples)


def lost(samples):
    counts = [s.lost for s in samples]
    return "unknown" if None in counts else "%d" % sum(counts)


def compare(bench, name, rounds):
    """Print the table of a workload; returns the samples by way."""
    crate, flags = WORKLOADS[name]
    results = {way: [] for way in WAYS}
    for way in WAYS:
        bench.run(way, crate, flags)  # warms caches, the profiler's included
    for i in range(rounds):
        turn = i % len(WAYS)
        for way in WAYS[turn:] + WAYS[:turn]:
            results[way].append(bench.run(way, crate, flags))

    plain = results["plain"]
    print("%s: plain compile %.3f s wall, %.3f s CPU; %d rounds" % (
        name, median(plain, "compile_wall"), median(plain, "compile_cpu"), rounds))
    rows = [("", "compile wall", "whole wall", "compile CPU", "events", "bytes", "lost",
             "own CPU s")]
    for way in WAYS[1:]:
        s = results[way]
        ours = way.startswith(OURS)
        recorded = way != "probes only"
        rows.append((way, ratios(s, plain, "compile_wall"), ratios(s, plain, "whole_wall"),
                     ratios(s, plain, "compile_cpu"),
                     "%d" % median(s, "events") if recorded else "-",
                     "%d" % median(s, "size") if recorded else "-", lost(s) if ours else "-",
                     "%.3f" % median(s, "own_cpu") if ours else "-"))
    rows.append(floor(bench, results))
    targets.print_columns(rows)
    print()
    return results


def floor(bench, results):
    ours, plain = results[OURS_EXACT], median(results["plain"], "compile_wall")
    hits = ours[0].hits
    note = "floor"
    if hits is None:
        hits = 2 * median(ours, "events")
        note = "floor (at least, with two hits an event)"
    trap = bench.trap_ns()
    seconds = hits * trap / 1e9
    note += ": %d hits x %.0f ns" % (hits, trap)
    return (note, "%.3f" % (1 + seconds / plain), "", "", "", "", "", "")


def milliseconds(values):
    values = [v * 1e3 for v in values]
    return "%7.1f ms [%.1f-%.1f]" % (statistics.median(values), min(values), max(values))


def time_plan(t, rounds, *flags):
    values = []
    for _ in range(rounds):
        start = time.monotonic()
        done = t.run_qprof("plan", "--json", *flags, t.rustc)
        values.append(time.monotonic() - start)
        if done.returncode:
            sys.exit("bench: " + done.stderr)
    return values


def time_attach(t, rounds):
    """Seconds from qprof-bpf's exec to the start of the first recorded query, with a cached plan."""
    values = []
    for _ in range(rounds):
        build = t.start_plain([t.rustc] + crates.arguments(crates.LONG, t.mkdir("out")))
        time.sleep(0.3)
        start = time.monotonic_ns()
        profiler = t.start_qprof("-q", "--force", "-o", t.path("attach.qpt"), "-p", str(build.pid))
        if profiler.wait(timeout=60):
            sys.exit("bench: " + profiler.stderr.read().decode())
        build.wait()
        first = min(span["start_ns"] for span in t.spans(t.path("attach.qpt")))
        values.append((first - start) / 1e9)
    return values


def target_rows(results):
    """Target rows of the workload with targets."""
    ours, plain = results[OURS_EXACT], results["plain"]
    theirs = results[THEIR_QUERIES]
    losses = [s.lost for s in ours]
    size, their_size = (median(s, "size") / median(s, "events") for s in (ours, theirs))
    compile, whole = (statistics.median(all_ratios(ours, plain, field))
                      for field in ("compile_wall", "whole_wall"))
    return [
        targets.Row("--exact: compile beside plain, wall", compile, "x", most=1.20),
        targets.Row("--exact: whole command beside plain, wall", whole, "x", most=1.30),
        targets.Row("default: compile beside plain, CPU",
                    statistics.median(all_ratios(results[OURS], plain, "compile_cpu")), "x",
                    most=1.25),
        targets.Row("records lost", None if None in losses else sum(losses), "", most=0),
        targets.Row("query event on disk, ids and names in it", size, "B", most=4.0,
                    note="%.1f B in rustc's own profile: %.3fx" % (their_size, size / their_size)),
    ] + [beside_self_profile(results, field, name)
         for field, name in (("compile_wall", "wall"), ("compile_cpu", "CPU"))]


def beside_self_profile(results, field, name):
    """Queries only: our cost minus that of rustc's own profiler, relative to a plain compile."""
    plain = results["plain"]
    ours, theirs = (all_ratios(results[way], plain, field) for way in (OURS_QUERIES, THEIR_QUERIES))
    more = statistics.median(a - b for a, b in zip(ours, theirs))
    return targets.Row(
        "-e query-provider, above self-profile's, " + name, more, "x", most=0.05,
        note="beside plain %.3f, self-profile %.3f, with --exact %.3f" % tuple(
            statistics.median(all_ratios(results[way], plain, field))
            for way in (OURS_QUERIES, THEIR_QUERIES, OURS_EXACT)))


def hits_rows(t, toolchain):
    """Cache hits on hello world."""
    try:
        n, unknown = test_cache_hits.compare_hello_world(t, toolchain)
    except AssertionError as error:
        return [targets.Row("hits of caches, hello world, not rustc's", 1, "", most=0,
                            note="differ: %s" % error)]
    return [targets.Row("hits of caches, hello world, not rustc's", 0, "", most=0,
                        note="%d hits, %d of what was not executed" % (n, unknown))]


def time_set_up(t, rounds):
    """Target rows of planning and attaching."""
    times = {"plan, cold": (time_plan(t, rounds, "--no-cache"), 1000),
             "plan, cached": (time_plan(t, rounds), 30),
             "attach to first event": (time_attach(t, rounds), 100)}
    for name, (values, _) in times.items():
        print("%-22s%s" % (name, milliseconds(values)))
    print()
    return [targets.Row(name, statistics.median(values) * 1e3, "ms", most=most)
            for name, (values, most) in times.items()]
