# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures everything that has a target, in one run.

overhead   the cost of profiling, compared with a plain compile and rustc's own self-profile
keys       the cost of what queries are about, compared with --no-keys
workspace  the cost for a whole build of many packages, by cargo
small      the same for a build of few small crates, and for cargo doc of a tiny one
outside    both without privileges: compilers that are read from outside
own        our own CPU time beside that of a long compile
sampling   the cost of samples without probes
llvm       what it takes a sample to know LLVM's pass and function
memory     the same of page faults, with their stacks and without
hits       cache hits of hello world, compared with rustc's own
set-up     making and reading a plan, attaching to a running compiler
store      writing and reading 100 million synthetic events; no root, no rustc
history    adding builds to a history, its size, and trends, whose targets need --builds 10000;
           no root, no rustc
export     writing a trace in each format; 10 million events to Perfetto; the page of one million
           in a browser, and the page size of a real compile; only the last needs root and rustc
pctab      pc-value tables of Debian's Go 1.19, if it is installed; no root, no rustc
unwind     unwind tables of the user's rustc, beside other forms; no root
fleet      trends of a million builds on a ClickHouse server; only if it is asked for; no root
"""

import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../e2e")]

import builds  # noqa: E402
import export_rates  # noqa: E402
import fleet  # noqa: E402
import formats  # noqa: E402
import history_costs  # noqa: E402
import key_costs  # noqa: E402
import lab  # noqa: E402
import llvm_costs  # noqa: E402
import memory_costs  # noqa: E402
import overhead  # noqa: E402
import outside_costs  # noqa: E402
import own_slope  # noqa: E402
import sample_costs  # noqa: E402
import service_memory  # noqa: E402
import small_builds  # noqa: E402
import targets  # noqa: E402

PARTS = ("overhead", "keys", "workspace", "small", "outside", "own", "sampling", "llvm", "memory",
         "hits", "set-up", "service", "store", "history", "export", "pctab", "unwind")
ON_DEMAND = ("fleet",)
OF_COMPILER = {"overhead", "keys", "workspace", "small", "outside", "own", "sampling", "llvm",
               "memory", "hits", "set-up", "service"}
HAS_TARGETS = "regex-syntax, debug"


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=overhead.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--part", action="append", choices=PARTS + ON_DEMAND,
                        help="only this; repeatable")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--toolchain", default="stable")
    parser.add_argument("--workload", action="append", choices=list(overhead.WORKLOADS))
    parser.add_argument("--events", type=int, default=100000000, help="of the store")
    parser.add_argument("--builds", type=int, default=500, help="of the history; 20 or more")
    options = parser.parse_args()
    options.part = options.part or PARTS
    return options


def of_compiler(options):
    """Benchmarks that need root and rustc: (rows, rate of measureme's reader or None)."""
    rows, upstream = [], None
    reason = lab.why_no_capture()
    if reason:
        sys.exit("bench: %s; without: "
                 "BENCH_ARGS='--part store --part history --part export --part pctab "
                 "--part unwind'" % reason)
    with lab.Lab(options.build) as t:
        toolchain = t.toolchain(options.toolchain)
        bench = overhead.Bench(t, options.build, toolchain.rustc)
        version = subprocess.run([toolchain.rustc, "-V"], capture_output=True, text=True).stdout
        print("%s, Linux %s, %d CPUs" % (version.strip(), os.uname().release, os.cpu_count()))
        if "overhead" in options.part:
            print("ratios to the plain compile of the same round: median [smallest-largest]\n")
            for name in options.workload or overhead.DEFAULT:
                results = overhead.compare(bench, name, options.rounds)
                if name == HAS_TARGETS:
                    rows += overhead.target_rows(results)
                    upstream = formats.upstream_rate(*bench.own_profile())
        if "keys" in options.part:
            rows += key_costs.measure(bench, options.rounds)
        if "workspace" in options.part:
            rows += builds.measure(bench, options.rounds)
        if "small" in options.part:
            rows += small_builds.measure(bench, options.rounds)
        if "outside" in options.part:
            rows += outside_costs.measure(bench, options.rounds)
        if "own" in options.part:
            rows += own_slope.measure(bench, options.rounds)
        if "sampling" in options.part:
            rows += sample_costs.measure(bench, options.rounds)
        if "llvm" in options.part:
            rows += llvm_costs.measure(bench, options.rounds)
        if "memory" in options.part:
            rows += memory_costs.measure(bench, options.rounds)
        if "hits" in options.part:
            rows += overhead.hits_rows(t, options.toolchain)
        if "set-up" in options.part:
            rows += overhead.time_set_up(t, options.rounds)
        if "service" in options.part:
            rows += service_memory.measure(bench)
    return rows, upstream


def main():
    options = parse()
    rows, upstream = [], None
    if OF_COMPILER & set(options.part):
        rows, upstream = of_compiler(options)
    if "store" in options.part:
        rows += formats.store(options.build, options.events, upstream)
    if "history" in options.part:
        rows += history_costs.measure(options.build, options.builds)
    if "export" in options.part:
        rows += export_rates.export(options.build)
    if "pctab" in options.part:
        rows += formats.pctab(options.build)
    if "unwind" in options.part:
        rows += formats.unwind(options.build)
    if "fleet" in options.part:
        rows += fleet.measure(options.build)
    targets.print_targets(rows)


if __name__ == "__main__":
    main()
