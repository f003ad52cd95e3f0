# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How fast a trace is written in other formats, how large that is, and in how much memory. Needs
neither root nor rustc: the trace is synthetic, one thread of a compiler, nested up to 30 deep.

Rates are by CPU time. Memory is the peak of the program, as the kernel tells it while it runs.
"""

import os
import subprocess
import tempfile
import time

from formats import children_cpu_s, run
from targets import Row, print_columns

EVENTS = 1000000
MANY = 10000000
FORMATS = ("perfetto", "chrome", "folded", "svg", "pprof", "speedscope", "counts")


def peak_kib(pid):
    try:
        with open("/proc/%d/status" % pid) as f:
            return max([int(line.split()[1]) for line in f if line.startswith("VmHWM:")], default=0)
    except OSError:
        return 0


def measure(build, form, trace, out):
    """(CPU seconds, bytes, peak MiB)"""
    before = children_cpu_s()
    argv = [os.path.join(build, "qprof-bpf"), "export", "--force", "--max-size", "0",
            "-f", form, "-o", out, trace]
    process = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, peak_kib(process.pid))
        time.sleep(0.002)
    assert process.returncode == 0, argv
    return children_cpu_s() - before, os.path.getsize(out), peak / 1024


def export(build):
    table = [("format", "M events/s", "bytes/event", "peak MiB")]
    with tempfile.TemporaryDirectory(prefix="qprof-bench-") as directory:
        trace, out = os.path.join(directory, "t.qpt"), os.path.join(directory, "out")
        store = os.path.join(build, "tests/bench/store")
        run(store, str(EVENTS), trace)
        print("export of %d synthetic events; the trace has %.2f bytes each" % (
            EVENTS, os.path.getsize(trace) / EVENTS))
        for form in FORMATS:
            cpu, size, peak = measure(build, form, trace, out)
            table.append((form, "%.2f" % (EVENTS / cpu / 1e6), "%.2f" % (size / EVENTS),
                          "%.1f" % peak))
        print_columns(table)
        print()
        os.unlink(trace)
        run(store, str(MANY), trace)
        cpu, size, peak = measure(build, "perfetto", trace, out)
    return [
        Row("10 M events to Perfetto, peak memory", peak, "MiB", most=32,
            note="%.2f M events/s, %.0f MiB" % (MANY / cpu / 1e6, size / 2**20)),
    ]
