# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of noting what each query is about: the same recording with and without --no-keys, in
turns, and the time for which a compiler waits while its names are copied."""

import glob
import os
import signal
import statistics
import sys

import crates
import lab
import overhead
import targets

STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"
# The program that runs when a query context is dropped.
COPIES = "qprof_drop_site"
WITH = "qprof-bpf --exact --no-sample"
WITHOUT = WITH + " --no-keys"


def compare(bench, rounds):
    """(samples with keys, samples without), in turns."""
    crate, flags = overhead.WORKLOADS[overhead.DEFAULT[0]]
    samples = {WITH: [], WITHOUT: []}
    for i in range(rounds + 1):
        for way in ((WITH, WITHOUT), (WITHOUT, WITH))[i % 2]:
            sample = bench.run(way, crate, flags)
            if i:  # the first round warms caches
                samples[way].append(sample)
    return samples[WITH], samples[WITHOUT]


def bytes_per_event(samples):
    return overhead.median(samples, "size") / overhead.median(samples, "events")


class Statistics:
    """The kernel measures the time of BPF programs."""

    def __enter__(self):
        self.before = lab.read_text(STATISTICS)
        self.write("1")

    def __exit__(self, *_):
        self.write(self.before)

    def write(self, text):
        with open(STATISTICS, "w") as f:
            f.write(text)


def programs_of(pid):
    """Ids of the BPF programs that a process holds."""
    for path in glob.glob("/proc/%d/fdinfo/*" % pid):
        for line in lab.read_text(path).splitlines():
            if line.startswith("prog_id:"):
                yield int(line.split()[1])


def copies_of(pid):
    """(runs, ns) of the program that copies names, of the recording by this process."""
    held = set(programs_of(pid))
    for program in lab.bpftool("prog", "show") or []:
        if program["id"] in held and program.get("name") == COPIES:
            return program.get("run_cnt", 0), program.get("run_time_ns", 0)
    return 0, 0


def time_copy(t):
    """Milliseconds of one copy. The compiler's parent waits, so that the programs can be asked."""
    argv = [t.rustc, *crates.arguments(crates.LONG, t.mkdir("out"))]
    with Statistics():
        profiler = t.start_qprof("-q", "--force", "-o", t.path("copy.qpt"), "--",
                                 "sh", "-c", '"$@"; touch compiled; exec sleep 1000', "sh", *argv)
        lab.wait_for("the compile", lambda: os.path.exists(t.path("compiled")))
        runs, ns = copies_of(profiler.pid)
        for child in lab.children(profiler.pid):
            os.kill(child, signal.SIGKILL)
        profiler.communicate()
    if runs != 1:
        sys.exit("bench: names were copied %d times in one compile" % runs)
    return ns / 1e6


def measure(bench, rounds):
    """Print a table; returns the target rows."""
    keyed, plain = compare(bench, 2 * rounds)
    rows = [("", "with keys beside without")]
    ratios = {}
    for field, name in (("compile_wall", "compile, wall"), ("compile_cpu", "compile, CPU"),
                        ("whole_wall", "whole command, wall")):
        ratios[field] = statistics.median(overhead.all_ratios(keyed, plain, field))
        rows.append((name, overhead.ratios(keyed, plain, field)))
    print("%s: keys and their names; %d rounds in turns" % (overhead.DEFAULT[0], len(keyed)))
    targets.print_columns(rows)
    print()
    if sum(s.lost or 0 for s in keyed + plain):
        sys.exit("bench: intervals were lost, so the ratios mean nothing")
    more = bytes_per_event(keyed) - bytes_per_event(plain)
    return [
        targets.Row("keys beside --no-keys, compile, wall", ratios["compile_wall"], "x", most=1.03),
        targets.Row("keys beside --no-keys, compile, CPU", ratios["compile_cpu"], "x", most=1.03),
        targets.Row("keys and names on disk, of each event", more, "B", most=0.6),
        targets.Row("copy of the names", time_copy(bench.t), "ms", most=2),
    ]
