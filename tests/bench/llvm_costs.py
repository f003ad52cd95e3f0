# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What it takes a sample to know what LLVM does: the program's time with and without, sample by sample.

The kernel counts the runs of a program and their time (kernel.bpf_stats_enabled). These are read some
thousand times a second while one thread works in LLVM: a change is of one tick, at which one run for
each CPU is due. Those of other processes end at once. A recording without finds the same tables of
files stored, but nothing of LLVM in them.
"""

import ctypes
import glob
import math
import os
import shutil
import statistics
import struct
import time

import crates
import key_costs
import lab
import targets

CRATE = "regex-syntax"
FLAGS = ("-O", "-Ccodegen-units=1")
OPTIONS = "-e none --sample=251"
PROGRAM = "sample_cpu_and_count"
SYS_BPF, BPF_PROG_GET_FD_BY_ID = 321, 13
OTHERS_NS = 3000
PAUSE = 0.0003
MOST_US = 5
# In front of stored tables: the bytes of the unwind table, and of what the file has of LLVM.
HEADER = struct.Struct("<QQ")


def without_llvm(cache):
    """A copy of the stored tables that has nothing of LLVM."""
    copy = cache + "-without"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(cache, copy)
    for path in glob.glob(os.path.join(copy, "qprof-bpf", "code-*")):
        with open(path, "rb") as f:
            table, llvm = HEADER.unpack(f.read(HEADER.size))
            first, _, rest = f.read(table), f.read(llvm), f.read()
        with open(path, "wb") as f:
            f.write(HEADER.pack(table, 0) + first + rest)
    return copy


def open_statistics(pid, name):
    """The file in which the kernel tells of a program that a process holds."""
    held = set(key_costs.programs_of(pid))
    number, = (p["id"] for p in lab.bpftool("prog", "show") or []
               if p["id"] in held and p.get("name") == name)
    attributes = struct.pack("<III", number, 0, 0)
    fd = ctypes.CDLL(None).syscall(SYS_BPF, BPF_PROG_GET_FD_BY_ID, attributes, len(attributes))
    assert fd >= 0, "no descriptor of program %d" % number
    return open("/proc/self/fdinfo/%d" % fd, encoding="ascii")


def read_statistics(f):
    """(runs, ns)"""
    f.seek(0)
    fields = dict(line.split(":\t") for line in f.read().splitlines())
    return int(fields["run_cnt"]), int(fields["run_time_ns"])


def works(pid):
    """Whether a compiler below this process has threads of LLVM."""
    return any("cgu" in lab.read_text(path) for child in lab.children(pid)
               for path in glob.glob("/proc/%d/task/*/comm" % child))


def times(bench, cache):
    """us of each run of the program for a sample in LLVM"""
    t = bench.t
    argv = [bench.rustc, *crates.arguments(CRATE, t.mkdir("out"), *FLAGS)]
    found, before = [], None
    # A busy machine must not delay what reads; what it starts is as all else.
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    profiler = t.start_qprof("-q", "--force", *OPTIONS.split(), "-o", t.path("llvm.qpt"), "--", *argv,
                             env={"XDG_CACHE_HOME": cache}, exact=False)
    lab.wait_for("LLVM", lambda: works(profiler.pid))
    with open_statistics(profiler.pid, PROGRAM) as f:
        while profiler.poll() is None:
            now = read_statistics(f)
            # The clocks of all CPUs tick together.
            if before and now[0] - before[0] <= os.cpu_count() and now[1] - before[1] > OTHERS_NS:
                found.append((now[1] - before[1]) / 1e3)
            before = now
            time.sleep(PAUSE)
    profiler.communicate()
    return found


def knows(bench, cache):
    """Whether samples of a recording know what LLVM does."""
    times(bench, cache)
    return '"scope":"function"' in bench.t.run_qprof("dump", bench.t.path("llvm.qpt")).stdout


def measure(bench, rounds):
    """Print a table; returns the target row."""
    cache = bench.t.cache()
    medians = {"with": [], "without": []}
    n = 0
    with key_costs.Statistics():
        assert knows(bench, cache)  # and stores the tables
        caches = {"with": cache, "without": without_llvm(cache)}
        assert not knows(bench, caches["without"])
        for i in range(rounds):
            for way in list(medians)[::1 - 2 * (i % 2)]:
                found = times(bench, caches[way])
                n += len(found)
                medians[way].append(statistics.median(found))
    more = [a - b for a, b in zip(medians["with"], medians["without"])]
    error = 2 * statistics.stdev(more) / math.sqrt(rounds)
    print("%s, -O: the program's time for a sample in LLVM; %d rounds in turns, %d samples" % (
        CRATE, rounds, n))
    targets.print_columns([("us for a sample", "median"), *(
        (way, "%.1f [%.1f-%.1f]" % (statistics.median(of), min(of), max(of)))
        for way, of in medians.items())])
    print()
    return [targets.Row("what LLVM does, for a sample, median of pairs", statistics.median(more),
                        "us", most=MOST_US, note="+- %.1f" % error)]
