# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Without an option, a recording is exact as long as that takes a quarter of the compile's CPU time at
most; queries that do not fit are sampled."""

import json
import os
import sys

import crates
import lab
from test_budget import executions, items, unprobed

EXACT_LINE = "have no probes: their times are from samples; --exact records each execution"
DEFAULT_PPM = 250000
# Options of single executions, and those that name events, are exact by themselves.
EXACT = (("--exact",), ("-e", "default"), ("--callers",), ("--slow", "1h"))
# A compile of this source executes few queries, and takes its CPU time for one of them.
FEW = """
const fn spin(n: u64) -> u64 {
    let (mut x, mut i) = (0, 0);
    while i < n { x ^= i; i += 1; }
    x
}
pub const X: u64 = spin(%d);
"""
SPINS = 2_000_000
LAUNCHER = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                         "without_perf_events.py")]


class Recorder:
    """Records compiles of one source with a cache of its own, which holds what these teach."""

    def __init__(self, t, argv):
        t.need_capture()
        self.t, self.argv = t, argv
        self.env = {"XDG_CACHE_HOME": t.cache()}

    def record(self, name, *options, exact=False):
        run = self.t.capture(self.argv, options, self.env, trace=name + ".qpt", exact=exact)
        assert run.status == 0, run.stderr.decode()
        return run, run.stderr.decode()


def dense(t):
    """A compile that does not fit: some 130,000 executions in a second."""
    return Recorder(t, [t.rustc] + crates.arguments(crates.LONG, t.mkdir("out"), "--emit=metadata"))


def sparse(t):
    source = t.write("few.rs", "#![allow(long_running_const_eval)]" + FEW % SPINS)
    return Recorder(t, [t.rustc, "--crate-type", "lib", "--emit=metadata", "--out-dir",
                        t.mkdir("out"), source])


def assert_exact(t, run, said):
    assert not items(t, run.trace, "decision")
    assert not items(t, run.trace, "sample") and not items(t, run.trace, "sampling")
    assert EXACT_LINE not in said and "budget" not in said, said
    document = t.report(run.trace)
    assert "budget" not in document and "samples" not in document, sorted(document)
    assert all(row["count"] for row in document["queries"])


def test_what_fits_is_exact_and_has_no_samples(t):
    """The recording before it has taught that the compile executes little."""
    few = sparse(t)
    few.record("learn", "--exact")
    run, said = few.record("fits")
    assert_exact(t, run, said)
    both = t.report(t.path("learn.qpt")), t.report(run.trace)
    assert executions(t, t.path("learn.qpt")) == executions(t, run.trace)
    return "%d and %d hits" % tuple(document["losses"]["hits"] for document in both)


def test_what_does_not_fit_is_sampled(t):
    """Its rows have no count, and a line says how to get one."""
    run, said = dense(t).record("some")
    off = unprobed(t, run.trace)
    assert off and "%d queries %s" % (len(off), EXACT_LINE) in said, said
    decisions = items(t, run.trace, "decision")
    assert all(d["kind"] == "Query" and d["budget_ppm"] == DEFAULT_PPM for d in decisions)
    (sampling,) = items(t, run.trace, "sampling")
    assert sampling["hz"] == 499, sampling
    report = t.report(run.trace)
    rows = {row["name"]: row for row in report["queries"] if row["kind"] == "Query"}
    uncounted = {name for name, row in rows.items() if row["count"] is None}
    # Results may have been fed to those that have probes.
    uncounted = {name for name in uncounted if "results" not in rows[name]}
    assert uncounted <= off, uncounted - off
    assert report["samples"]["n"] > 0 and report["lost"] == 0
    shown = t.run_qprof("report", run.trace).stdout
    assert "%d queries have no probes" % len(off) in shown, shown
    return "%d queries have no probes, %d of them were met" % (len(off), len(uncounted))


@lab.each(*EXACT)
def test_options_that_make_it_exact(t, *options):
    run, said = dense(t).record("all", *options)
    assert_exact(t, run, said)


def test_exact_has_all_that_the_default_leaves_out(t):
    recorder = dense(t)
    some, _ = recorder.record("some")
    every, _ = recorder.record("all", "--exact")
    off = unprobed(t, some.trace)
    left, counts = executions(t, some.trace), executions(t, every.trace)
    assert left == {name: n for name, n in counts.items() if name not in off}
    assert sum(left.values()) < sum(counts.values())
    return "%d of %d executions" % (sum(left.values()), sum(counts.values()))


def test_traces_with_other_choices_are_compared(t):
    """Queries with probes in both are compared, and limits on it pass; nothing is taken to be gone."""
    recorder = dense(t)
    some, _ = recorder.record("some")
    every, _ = recorder.record("all", "--exact")
    done = t.run_qprof("diff", "--json", "--metric", "count", every.trace, some.trace)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    compared = [row for row in document["rows"] if row["compared"]]
    assert not [row for row in compared if row["significant"]], compared
    off = unprobed(t, some.trace)
    assert not off & {row["query"] for row in compared}
    assert [trace["unprobed"] for trace in document["traces"]] == [0, len(off)]
    shown = t.run_qprof("diff", "--metric", "count", every.trace, some.trace).stdout
    kept = sum(n for name, n in executions(t, every.trace).items() if name not in off)
    assert ", of queries with probes in all traces, no change" in shown, shown
    done = t.run_qprof("diff", "--metric", "count", "--fail-above", "1%", every.trace, some.trace)
    assert done.returncode == 0 and done.stdout.endswith("exit status 0: no limit exceeded\n"), done
    # rustc numbers its results, so a budget hides none but the last few.
    done = t.run_qprof("diff", "--metric", "results", "--fail-above", "1%", every.trace, some.trace)
    assert done.returncode == 0 and "passed --fail-above 1%: results " in done.stdout, done
    by_time = t.run_qprof("diff", every.trace, some.trace)
    assert by_time.returncode == 0 and "gone" not in by_time.stdout, by_time.stdout
    assert by_time.stdout.startswith("recorded differently: base with all probes"), by_time.stdout
    return "%d rows compared, %d executions" % (len(compared), kept)


def test_the_next_recording_knows_more(t):
    """Without a memory the usual rates count, and these are of compiles that execute much."""
    few = sparse(t)
    first, _ = few.record("first")
    few.record("all", "--exact")
    then, said = few.record("then")
    assert unprobed(t, first.trace)
    assert_exact(t, then, said)


def test_samples_that_are_asked_for_are_taken_from_the_beginning(t):
    few = sparse(t)
    few.record("learn", "--exact")
    run, said = few.record("sampled", "--sample=99")
    assert EXACT_LINE not in said and not items(t, run.trace, "decision")
    (sampling,) = items(t, run.trace, "sampling")
    assert sampling["hz"] == 99 and items(t, run.trace, "sample")


def test_a_running_compiler_and_the_whole_machine(t):
    """Samples begin as soon as a library does not fit, whether recording has begun or not."""
    t.need_capture()
    env = {"XDG_CACHE_HOME": t.cache()}
    argv = [t.rustc] + crates.arguments(crates.LONG, t.mkdir("out"), "--emit=metadata")
    build = t.start_plain(["sh", "-c", 'read line; "$@"', "sh", *argv], stdin=-1)
    profiler = t.start_qprof("-o", t.path("p.qpt"), "-p", str(build.pid), env=env, exact=False)
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    build.communicate(b"\n")
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    lab.check_end(profiler.returncode, err)
    assert build.returncode == 0 and EXACT_LINE in err.decode(), err.decode()
    assert unprobed(t, t.path("p.qpt")) and items(t, t.path("p.qpt"), "sample")


def test_without_perf_events_everything_is_recorded(t):
    """There could be no samples of what has no probes."""
    t.need_capture()
    if os.geteuid() or lab.invoker().pw_uid:
        raise lab.Skip("only root may set a filter of system calls and keep its rights")
    recorder = dense(t)
    env = t.qprof_env(recorder.env)
    done = t.start([*LAUNCHER, t.qprof, "-o", t.path("x.qpt"), "--", *recorder.argv], env=env,
                   text=True)
    _, err = done.communicate(timeout=lab.TIMEOUT)
    lab.check_end(done.returncode, err)
    (line,) = [line for line in err.splitlines() if "Without samples, all is recorded" in line]
    assert "seccomp filter refuses perf_event_open(2)" in line, line
    assert not items(t, t.path("x.qpt"), "decision") and EXACT_LINE not in err, err
    every, _ = recorder.record("all", "--exact")
    assert executions(t, t.path("x.qpt")) == executions(t, every.trace)


def test_live_counts_say_that_some_are_sampled(t):
    run = dense(t).record("live", "--json", "-i", "100ms")[0]
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert lines[-1]["recorded_only"] is True, lines[-1]
