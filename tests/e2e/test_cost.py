# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of recording, in every output."""

import re

import crates
import lab

PARTS = ("probes_ns", "breakpoints_ns", "samples_ns", "names_ns", "own_ns")


def record(t, *options):
    argv = [t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out"))
    return t.record(argv, options=("-q", *options), trace="cost.qpt", exact=False).trace


def test_another_recording_is_noted(t):
    """Its probes may be hit by our compilers. Other tests may record meanwhile, too."""
    other = t.start_qprof("-q", "-o", t.path("other.qpt"), "--", "sleep", "1000", exact=False)
    lab.wait_for("the other recording", lambda: lab.begun(other))
    trace = record(t)
    t.interrupt(other)
    other.communicate(timeout=lab.TIMEOUT)
    assert t.report(trace)["cost"]["other_recordings"] >= 1
    (line,) = [line for line in t.run_qprof("report", trace).stdout.splitlines()
               if " at the same time: " in line]
    assert "make compilers slower" in line, line
    done = t.run_qprof("diff", trace, trace)
    assert "other recordings ran beside both: " in done.stdout, done


def test_parts_of_the_cost_add_up(t):
    trace = record(t, "--exact", "--no-sample")
    report = t.report(trace)
    cost = report["cost"]
    assert cost["added_ns"] == sum(cost[part] for part in PARTS)
    assert abs(cost["share_of_cpu"] - cost["added_ns"] / cost["cpu_ns"]) < 0.001
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
    # Known before the compiler starts, so it need not wait. On a busy machine the record of its
    # mapping may be read before that of its exec; then it is stopped and looked at.
    assert cost["waited"] <= compilers and (cost["waited"] > 0) == (cost["waited_ns"] > 0), cost


def test_cpu_times_of_compilers_are_the_kernels(t):
    trace = record(t, "--exact")
    # A record replaces the one before it of the same process.
    cpu = sum({item["pid"]: item.get("cpu_ns", 0) for item in t.dumped(trace, "process")}.values())
    overhead = t.dumped(trace, "overhead")[-1]
    cost = t.report(trace)["cost"]
    in_compilers = sum(overhead[part] for part in PARTS if part != "own_ns")
    assert cost["in_compilers_ns"] == in_compilers
    assert cost["cpu_ns"] == max(0, cpu - in_compilers)


def test_samples_are_a_part(t):
    cost = t.report(record(t, "--exact", "--sample"))["cost"]
    assert cost["samples_ns"] > 0
    assert cost["added_ns"] == sum(cost[part] for part in PARTS)


def test_all_reports_tell_it(t):
    trace = record(t)
    cost = t.report(trace)["cost"]
    # As the text rounds it.
    tenths = (cost["added_ns"] * 1000 + cost["cpu_ns"] // 2) // cost["cpu_ns"]
    percent = r"\b%d\.%d %% of what the compilers used" % divmod(tenths, 10)
    for options in ((), ("--by", "build"), ("--markdown",)):
        done = t.run_qprof("report", *options, trace)
        assert re.search(percent, done.stdout), (options, done.stdout)
    table = t.run_qprof("report", "--cost", trace).stdout
    for part in ("hits of probes", "breakpoints", "samples of stacks", "copies of names", "qprof-bpf itself",
                 "for set-up", "together", "100 %: ", " waited for "):
        assert part in table, table
