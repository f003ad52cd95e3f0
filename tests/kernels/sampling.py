# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Features of recordings with samples of stacks."""

import json
import os
import time

from world import BOOTSTRAP, REAL, ended, feature, paranoid, recording
import crates
import equality
import lab
import test_stacks
import test_stuck

CAUSES = ("--memory=50", "--off-cpu-stacks")
NO_PROBES = ("-q", "-e", "none")
# Of the samples: those whose stack does not reach the start of its thread.
MOST_CUT = 0.01
# Of the CPU time in rustc's library: that of code without a function's name.
MOST_UNNAMED = 0.01
CPU1 = "/sys/devices/system/cpu/cpu1/online"


# ---- Compiles -----------------------------------------------------------------------------------


def real_compile(t):
    return [t.rustc, *crates.arguments(REAL, t.mkdir("real.out"), "--emit=metadata")]


def printed(t, *arguments):
    done = t.run_qprof(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_named(t, trace):
    """Functions and queries have their names."""
    functions = printed(t, "report", "--functions", "--json", "--min", "0.01%", trace)
    parts = {part["name"] for part in functions["parts"]}
    assert {"rustc_middle", "rustc_borrowck", "libc"} <= parts, parts
    unnamed = sum(f["self_ns"] for f in functions["functions"]
                  if f["name"].startswith("[") and "librustc_driver" in (f["file"] or ""))
    assert unnamed <= MOST_UNNAMED * functions["ns"], (unnamed, functions["ns"])
    queries = {row["name"]: row for row in t.report(trace)["queries"]}
    for name in ("typeck", "mir_borrowck"):
        assert queries[name]["sampled_self_ns"], queries[name]


def completeness(t, trace):
    """(samples, those with their whole stack), from the first whole stack on: before it, the
    recording did not know the mappings of the process yet, for which it takes long here."""
    done = t.run_qprof("dump", trace)
    assert done.returncode == 0, done.stderr
    samples = sorted((s["time_ns"], not s["cut"]) for s in map(json.loads, (
        line for line in done.stdout.splitlines() if line.startswith('{"type":"sample"'))))
    whole = [is_whole for _, is_whole in samples]
    known = whole[whole.index(True):] if True in whole else []
    return len(known), sum(known)


def assert_complete(t, trace):
    """Samples of all causes, most of them with their whole stack, and none lost."""
    document = t.report(trace)
    samples = document["samples"]
    assert document["lost"] == 0 and document["losses"]["samples"] == 0, document["losses"]
    assert all(samples[cause]["n"] for cause in ("cpu", "faults", "off_cpu")), samples
    n, whole = completeness(t, trace)
    said = "%d samples, %.2f %% complete; %d before mappings were known; cut: %s" % (
        n, 100 * whole / max(n, 1), samples["n"] - n,
        {why: n for why, n in samples["cut"].items() if n} or "none")
    assert n and n - whole <= MOST_CUT * n, said
    return said


@feature("--sample -e none, with --memory and --off-cpu-stacks", quick=True)
def without_probes(world):
    """The second compile, for which the unwind tables are there."""
    t = world.t
    for name in ("first.qpt", "second.qpt"):
        run = t.capture(real_compile(t), (*NO_PROBES, "--sample=997", *CAUSES), trace=name)
        assert run.status == 0, (run.status, run.stderr.decode())
    said = assert_complete(t, run.trace)
    assert_named(t, run.trace)
    return said


@feature("--sample beside all events")
def beside_all_events(world):
    """As often as can be: each event is that of rustc's profile of the same process."""
    t = world.t
    options = (*equality.ALL, "--sample=1999", *CAUSES)
    both, profile = world.compile.profiled(
        "sampled", lambda argv: t.capture(argv, options, env=BOOTSTRAP, trace="sampled.qpt"),
        equality.EVENTS)
    plan = equality.plan_of(world.compile)
    one = equality.OneProcess(equality.Case.spans(t, both), profile, plan)
    assert one.late <= equality.inexact(plan), one.late - equality.inexact(plan)
    assert not one.unexplained(), one.unexplained()
    samples = t.report(both.trace)["samples"]
    # Of the queries that probes and frames show at the same moment.
    assert samples["compared"] and samples["differ"] * 20 <= samples["compared"], samples
    return "%d events, %d samples; %d of %d in another query by their frames" % (
        sum(one.counts.values()), samples["n"], samples["differ"], samples["compared"])


@feature("failing compile, sampled")
def failing(world):
    return world.failing("--sample=4999", "--memory=10", "--off-cpu-stacks", "-e", "none")


@feature("sampled stacks are those of libdw")
def stacks(world):
    t = world.t
    result = test_stacks.compare(t, real_compile(t))
    # Mappings are known late on a machine this slow.
    test_stacks.assert_whole(result, result["no_map"])
    return "%d of %d equal" % (result["equal"], result["n"])


# ---- Processors that come and go ----------------------------------------------------------------


def switch(on):
    with open(CPU1, "w") as f:
        f.write("1" if on else "0")


def move_to_cpu1(pid):
    for tid in os.listdir("/proc/%d/task" % pid):
        os.sched_setaffinity(int(tid), {1})


def is_sampled_after(t, trace, time_ns):
    """Whether a trace that is being written has a later sample."""
    lines = t.run_qprof("dump", trace).stdout.splitlines()
    return any(json.loads(line)["time_ns"] > time_ns for line in lines
               if line.startswith('{"type":"sample"'))


def assert_samples_on_cpu1(t, pid):
    move_to_cpu1(pid)
    now = time.monotonic_ns()
    lab.wait_for("samples on the processor that was switched on",
                 lambda: is_sampled_after(t, t.path("live.qpt"), now))


@feature("a processor is switched off and on, sampled")
def hotplug(world):
    """For longer, and for less time than there is between two looks of a recording. At
    perf_event_paranoid 3 no recording may open events later."""
    t = world.t
    if not os.path.exists(CPU1):
        raise lab.Skip("the only processor cannot be switched off")
    process = test_stuck.compiling(t, "pub const X: u64 = %s;" % test_stuck.FOR_EVER)
    try:
        with paranoid(2), recording(t, "-e", "none", "--sample", "-p",
                                    str(process.pid)) as profiler:
            assert_samples_on_cpu1(t, process.pid)
            for seconds in (3, 0):
                switch(False)
                time.sleep(seconds)
                switch(True)
                assert_samples_on_cpu1(t, process.pid)
            process.kill()
            ended(profiler)
    finally:
        process.kill()
        switch(True)
    missed = t.report(t.path("live.qpt"))["losses"]["samples"]
    assert missed, "what was missed is not counted"
    return "at most %d ticks missed" % missed
