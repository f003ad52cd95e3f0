# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures traces, written and read, and look-ups in pc-value and unwind tables, without root.

Rates are by CPU time; rates by wall time depend on the machine's load. measureme's own summarize is
timed in the same way, if it is installed.
"""

import glob
import json
import os
import resource
import shutil
import subprocess
import sys

from targets import Row

# Debian's golang-1.19-go; the targets are for this file.
GO = "/usr/lib/go-1.19/bin/go"
HERE = os.path.dirname(os.path.abspath(__file__))
GO_TABLES = {"tables": 44965, "varint_bytes": 1283609, "linear_bytes": 1597441}


def run(*argv):
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("bench: the command failed: %s" % " ".join(argv))
    return done.stdout


def store(build, events, upstream):
    v = {name: float(value) for name, value in
         (line.split() for line in run(os.path.join(build, "tests/bench/store"),
                                       str(events)).splitlines())}
    print("%d synthetic events, %.2f bytes each" % (v["events"], v["bytes"] / v["events"]))
    print("by wall time: writer %.2f, reader %.2f million events per second" % (
        v["writer_wall_rate"], v["reader_wall_rate"]))
    print("reader, peak memory: %.2f MiB" % v["reader_mib"])
    print("the last hundredth of the time: %.4f of reading all" % v["last_hundredth"])
    print("a query that is not there: %.4f of reading all\n" % v["absent_query"])
    return [
        Row("writer, million events per CPU second", v["writer_rate"], "M/s", least=10),
        Row("writer, peak memory", v["writer_mib"], "MiB", most=32),
        Row("reader and summary, the same", v["reader_rate"], "M/s", least=20,
            note="measureme's summarize: %.2f M/s" % upstream if upstream else ""),
    ]


def children_cpu_s():
    """CPU time of all awaited children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def upstream_rate(profile, events):
    """Millions of events per CPU second that measureme's summarize reads; None if not installed."""
    tool = shutil.which("summarize")
    if not tool:
        return None
    before = children_cpu_s()
    run(tool, "summarize", profile)
    return events / (children_cpu_s() - before) / 1e6


def pctab(build):
    missing = "needs %s; as root: tests/setup.sh bench, or apt-get install golang-1.19-go" % GO
    if not os.path.exists(GO):
        return [Row("pc-value tables, linear index", None, "", note=missing)]
    found = json.loads(run(os.path.join(build, "tests/bench/go_tables"), "--json", GO))
    other = [key for key, value in GO_TABLES.items() if found[key] != value]
    speed = {s["samples"]: s for s in found["speed"] if s["weight"] == "code"}
    many, hot = speed[262144], speed[1024]
    sizes = "%d / %d B in %d tables%s" % (
        found["linear_bytes"], found["varint_bytes"], found["tables"],
        ": not those of Debian's 1.19.8" if other else ", as in Debian's 1.19.8")
    return [
        Row("linear index, 262,144 samples by code", many["linear_ns"], "ns", most=32),
        Row("the same beside varint", many["ratio"], "x", most=0.6,
            note="varint %.1f ns" % many["varint_ns"]),
        Row("linear index, 1,024 hot samples", hot["linear_ns"], "ns", most=8.5,
            note="varint %.1f ns" % hot["varint_ns"]),
        Row("size of linear beside varint", found["linear_bytes"] / found["varint_bytes"], "x",
            most=1.244, digits=3, note=sizes),
    ]


def compiler_files():
    """librustc_driver and libLLVM of the user's rustc, or nothing."""
    found = subprocess.run([os.path.join(HERE, "../find-rustc.sh")], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    if found.returncode:
        return []
    sysroot = run(found.stdout.strip(), "--print", "sysroot").strip()
    return [path for name in ("librustc_driver-*.so", "libLLVM.so*")
            for path in sorted(glob.glob(os.path.join(sysroot, "lib", name)))[:1]]


def unwind(build):
    files = compiler_files()
    if not files:
        return [Row("unwind tables", None, "", note="needs a rustc")]
    tool = os.path.join(build, "tests/bench/unwind_tables")
    print(run(tool, *files))
    rows = []
    for found in json.loads(run(tool, "--json", *files))["files"]:
        name = os.path.basename(found["file"]).split("-")[0].split(".")[0]
        ours, varint = found["pages_linear"], found["functions_varint"]
        sorted8 = found["rows_8"]
        rows += [
            Row(name + ": unwind table, bytes per row", ours["bytes"] / found["rows"], "B",
                most=3.5, note="varint %.2f, sorted rows 8" % (varint["bytes"] / found["rows"])),
            Row("  a look-up beside varint", ours["ns"] / varint["ns"], "x", most=0.5,
                note="ours %.1f ns, varint %.1f" % (ours["ns"], varint["ns"])),
            Row("  beside sorted rows of 8 bytes", ours["ns"] / sorted8["ns"], "x", most=0.5,
                note="sorted rows %.1f ns" % sorted8["ns"]),
            Row("  made of .eh_frame", found["read_ms"] + found["make_ms"], "ms", most=150),
        ]
    return rows
