# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures exports to each format: speed, size and memory; and how fast a browser opens the page.
The trace is synthetic: one thread of a compiler, nested up to 30 deep. Only the size of the page
is that of a real compile, where there is root and rustc.

Rates are by CPU time. Memory is the peak of the program, from /proc while it runs.
"""

import os
import subprocess
import tempfile
import time

import crates
import lab
from browser import Browser
from formats import children_cpu_s, run
from targets import Row, print_columns

EVENTS = 1000000
MANY = 10000000
FORMATS = ("perfetto", "html", "folded", "pprof", "speedscope", "counts")
FRAMES = 40  # half of them zoom in, the others out again
OPENED = 3  # times; the best counts, because other load only adds time


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


# ---- The page ----------------------------------------------------------------------------------

ZOOM = """(() => {
  const view = app.open('timeline'), times = [];
  for (let i = 0; i < %d; i++) {
    view.zoom(i < %d ? 0.6 : 1 / 0.6);
    const before = performance.now();
    view.surface.now();
    times.push(performance.now() - before);
  }
  return times;
})()""" % (FRAMES, FRAMES // 2)


def open_page(directory, page):
    """(seconds until the page is ready, sorted ms of each frame of zooming)"""
    with Browser(directory) as b:
        b.open(page)
        ready = b.wait("document.documentElement.dataset.ready")
        return int(ready) / 1000, sorted(b.ask(ZOOM))


def page_rows(directory, page):
    most = {"most": 3, "note": "Chromium, software rendering; the best of %d" % OPENED}
    try:
        opened = [open_page(directory, page) for _ in range(OPENED)]
    except lab.Skip as reason:
        return [Row("1 M intervals open in a browser", None, "", note=str(reason))]
    frames = min((frames for _, frames in opened), key=sum)
    return [
        Row("1 M intervals open in a browser", min(s for s, _ in opened), "s", **most),
        Row("a frame of zooming in them, median", frames[FRAMES // 2], "ms", most=16,
            note="the slowest of %d: %.0f ms" % (FRAMES, frames[-1])),
    ]


def real_page(build):
    """The size of a real compile's page, relative to its trace."""
    what = "page of regex-syntax beside its trace"
    reason = lab.why_no_capture()
    if reason:
        return Row(what, None, "", note=reason)
    with lab.Lab(build) as t:
        ran = t.capture([t.rustc, *crates.arguments("regex-syntax", t.mkdir("out"))])
        assert ran.status == 0, ran.stderr
        page = t.path("page.html")
        done = t.run_qprof("export", "-f", "html", "-o", page, ran.trace)
        assert done.returncode == 0, done.stderr
        trace_size, page_size = os.path.getsize(ran.trace), os.path.getsize(page)
        return Row(what, page_size / trace_size, "x", most=1.5, digits=3,
                   note="%.0f KiB, scripts and all" % (page_size / 1024))


# ---- All formats -------------------------------------------------------------------------------


def export(build):
    table = [("format", "M events/s", "bytes/event", "peak MiB")]
    with tempfile.TemporaryDirectory(prefix="qprof-bench-") as directory:
        trace, out = os.path.join(directory, "t.qpt"), os.path.join(directory, "out")
        store = os.path.join(build, "tests/bench/store")
        run(store, str(EVENTS), trace)
        print("export of %d synthetic events; the trace has %.2f bytes each" % (
            EVENTS, os.path.getsize(trace) / EVENTS))
        for form in FORMATS:
            cpu, size, peak = measure(build, form, trace, out + "." + form)
            table.append((form, "%.2f" % (EVENTS / cpu / 1e6), "%.2f" % (size / EVENTS),
                          "%.1f" % peak))
        print_columns(table)
        print()
        rows = page_rows(directory, out + ".html")
        os.unlink(trace)
        run(store, str(MANY), trace)
        cpu, size, peak = measure(build, "perfetto", trace, out)
    return [
        Row("10 M events to Perfetto, peak memory", peak, "MiB", most=32,
            note="%.2f M events/s, %.0f MiB" % (MANY / cpu / 1e6, size / 2**20)),
        real_page(build), *rows,
    ]
