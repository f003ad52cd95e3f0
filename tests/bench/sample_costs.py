# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of samples without probes: CPU time of compiles, with and without, in turns.

A ratio is that of a compile to the plain one of its own round; printed are the geometric mean and
two standard errors of it. There are so many rounds as the difference is small.

The cost of one sample is measured apart, where no difference of two compiles hides it:

tick     the interrupt of the CPU's clock, without a program (tick.c)
program  by the kernel's statistics of our BPF program; what ticks of other processes take, measured
         after the compile, is subtracted
own      our own CPU time for a sample: the difference of recordings at two rates
"""

import math
import os
import signal
import statistics
import subprocess
import time

import crates
import key_costs
import lab
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
}
PLAIN = "plain"
CPU_PROGRAM = "sample_cpu_and_count"
RATES = {499: 2, 999: 3}  # and the most that they may take, %
OWN_RATES = (499, 4999)


def command(bench, workload):
    if workload == EMPTY:
        rustdoc = os.path.join(os.path.dirname(bench.rustc), "rustdoc")
        return [rustdoc, "-o", bench.t.mkdir("doc"), bench.t.write("empty.rs", "")]
    crate, flags = WORKLOADS[workload]
    return [bench.rustc, *crates.arguments(crate, bench.t.mkdir("out"), *flags)]


def run_all(bench, argv, options, rounds):
    ways = [PLAIN, *(overhead.OURS + " " + each for each in options)]
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


def runs_of(pid, name):
    """(runs, ns) of a program that takes samples, of the recording by a process."""
    held = set(key_costs.programs_of(pid))
    for program in lab.bpftool("prog", "show") or []:
        if program["id"] in held and program["name"] == name:
            return program.get("run_cnt", 0), program.get("run_time_ns", 0)
    return 0, 0


def time_program(bench, crate, options, name):
    """(us that the program takes for a sample of a compile, samples)"""
    t = bench.t
    done = t.path("compiled")
    argv = [bench.rustc, *crates.arguments(crate, t.mkdir("out"))]
    if os.path.exists(done):
        os.unlink(done)
    profiler = t.start_qprof("-q", "--force", *options.split(), "-o", t.path("parts.qpt"), "--",
                             "sh", "-c", '"$@"; touch compiled; exec sleep 1000', "sh", *argv)
    lab.wait_for("the compile", lambda: os.path.exists(done))
    runs, ns = runs_of(profiler.pid, name)
    time.sleep(0.5)
    more_runs, more_ns = runs_of(profiler.pid, name)
    for child in lab.children(profiler.pid):
        os.kill(child, signal.SIGKILL)
    profiler.communicate()
    n = t.report(t.path("parts.qpt"))["samples"]["n"]
    other_ns = (more_ns - ns) / max(1, more_runs - runs)
    return (ns - other_ns * (runs - n)) / n / 1e3, n


def time_own(bench, crate):
    """us of our own CPU time for a sample."""
    argv = [bench.rustc, *crates.arguments(crate, bench.t.mkdir("out"))]
    own, n = [], []
    for hz in OWN_RATES:
        sample = bench.run_command("%s -e none --sample=%d" % (overhead.OURS, hz), argv)
        own.append(sample.own_cpu)
        n.append(bench.t.report(bench.t.path("bench.qpt"))["samples"]["n"])
    return 1e6 * (own[1] - own[0]) / (n[1] - n[0])


def time_tick(bench):
    """us of an interrupt."""
    tick = os.path.join(os.path.dirname(bench.measure), "tick")
    return int(subprocess.run([tick], capture_output=True, text=True, check=True).stdout) / 1e3


def measure_parts(bench, rounds):
    """Print what a sample takes; returns the target rows."""
    rows, table = [], [("us for a sample, median", "tick", "program", "own")]
    with key_costs.Statistics():
        for crate in ("regex-syntax", "either"):
            tick = statistics.median(time_tick(bench) for _ in range(rounds))
            own = statistics.median(time_own(bench, crate) for _ in range(rounds))
            for hz, most in RATES.items():
                options = "-e none --sample=%d" % hz
                program = statistics.median(time_program(bench, crate, options, CPU_PROGRAM)[0]
                                            for _ in range(rounds))
                table.append(("%s, %d" % (crate, hz), "%.1f" % tick, "%.1f" % program,
                              "%.1f" % own))
                rows.append(targets.Row(
                    "%s, %d samples a second: ticks and program" % (crate, hz),
                    (tick + program) * hz / 1e4, "% of CPU", most=most,
                    note="program %.2f, own %.2f beside it" % (program * hz / 1e4, own * hz / 1e4)))
    targets.print_columns(table)
    print()
    return rows


def compare(bench, options, rounds):
    """Print a table of each workload, with these options and their targets; returns the rows."""
    rows = []
    for workload in WORKLOADS:
        results = run_all(bench, command(bench, workload), options, rounds)
        plain = results[PLAIN]
        print("%s: plain %.3f s CPU; %d rounds; mean +- two standard errors" % (
            workload, overhead.median(plain, "compile_cpu"), rounds))
        table = [("", "compile CPU", "compile wall", "lost")]
        for each, most in options.items():
            samples = results[overhead.OURS + " " + each]
            cpu, error = mean(overhead.all_ratios(samples, plain, "compile_cpu"))
            wall = mean(overhead.all_ratios(samples, plain, "compile_wall"))
            table.append((each, "%.3f +- %.3f" % (cpu, error), "%.3f +- %.3f" % wall,
                          overhead.lost(samples)))
            rows.append(targets.Row("%s, %s, CPU" % (workload, each), cpu, "x", most=most,
                                    note="+- %.3f" % error))
        targets.print_columns(table)
        print()
    return rows


def measure(bench, rounds):
    """Print what samples of the CPU take; returns the target rows."""
    return measure_parts(bench, rounds) + compare(bench, TARGETS, rounds * ROUNDS)
