# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of recording, in every output."""

import json
import re

import crates

PARTS = ("probes_ns", "breakpoints_ns", "samples_ns", "names_ns", "own_ns")


def record(t, *options):
    argv = [t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out"))
    done = t.capture(argv, options=("-q", *options), trace="cost.qpt", exact=False)
    assert done.status == 0, done.stderr
    return done.trace


def dumped(t, trace, type_):
    lines = t.run_qprof("dump", trace).stdout.splitlines()
    return [json.loads(line) for line in lines if line.startswith('{"type":"%s"' % type_)]


def test_parts_of_the_cost_add_up(t):
    trace = record(t, "--exact")
    report = t.report(trace)
    cost = report["cost"]
    assert cost["added_ns"] == sum(cost[part] for part in PARTS)
    assert abs(cost["share_of_cpu"] - cost["added_ns"] / cost["compilers_ns"]) < 0.001
    # The kernel's count may lack some; each interval has two.
    assert cost["hits"] == report["probes"]["hits"] >= report["losses"]["hits"] > 0
    assert cost["probes_ns"] > cost["hits"] * 100 and cost["samples_ns"] == 0
    # A breakpoint is written by the kernel, so it takes part of a microsecond at least.
    compilers = len(report["processes"])
    assert cost["breakpoints"] > 700 * compilers
    assert cost["breakpoints_ns"] > cost["breakpoints"] * 100
    assert cost["names_ns"] > 0
    # Before the compiler ran, its breakpoints were attached; then its records were read.
    assert 0 < cost["set_up_ns"] < cost["own_ns"]
    # Known before the compiler starts, so nothing waits.
    assert cost["waited"] == cost["waited_ns"] == 0


def test_cpu_times_of_compilers_are_the_kernels(t):
    trace = record(t, "--exact")
    # A record replaces the one before it of the same process.
    cpu = sum({item["pid"]: item.get("cpu_ns", 0) for item in dumped(t, trace, "process")}.values())
    overhead = dumped(t, trace, "overhead")[-1]
    cost = t.report(trace)["cost"]
    in_compilers = sum(overhead[part] for part in PARTS if part != "own_ns")
    assert cost["compilers_ns"] == max(0, cpu - in_compilers)
    # Its threads were on a CPU for at least as long as the recorder saw them there, but for a tick.
    build = t.report(trace)["build"]
    assert cpu > 0.5 * build["cpu_ns"]


def test_samples_are_a_part(t):
    cost = t.report(record(t, "--exact", "--sample"))["cost"]
    assert cost["samples_ns"] > 0
    assert cost["added_ns"] == sum(cost[part] for part in PARTS)


def test_all_reports_tell_it(t):
    trace = record(t)
    cost = t.report(trace)["cost"]
    # As the text rounds it.
    tenths = (cost["added_ns"] * 1000 + cost["compilers_ns"] // 2) // cost["compilers_ns"]
    percent = r"\b%d\.%d %% of what the compilers used" % divmod(tenths, 10)
    for options in ((), ("--by", "build"), ("--markdown",)):
        done = t.run_qprof("report", *options, trace)
        assert re.search(percent, done.stdout), (options, done.stdout)
    table = t.run_qprof("report", "--cost", trace).stdout
    for part in ("hits of probes", "breakpoints", "samples of stacks", "copies of names", "qprof-bpf itself",
                 "for set-up", "together", "100 %: ", "no compiler waited"):
        assert part in table, table
