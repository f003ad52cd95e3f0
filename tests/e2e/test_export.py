# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Exports, read by independent code, add up to the report of the same trace."""

import collections
import glob
import gzip
import os
import subprocess

import crates
import exports
from lab import ROOT, each, no_compiler

LOCAL = "nothing was sent anywhere, but it holds paths, command lines"


def export(t, trace, form, *options):
    """The bytes of an export to a file, which must equal an export to standard output."""
    path = t.path("out." + form)
    done = t.run_qprof("export", "--force", "-f", form, "-o", path, *options, trace)
    assert done.returncode == 0 and done.stdout == "", done
    assert LOCAL in done.stderr, done.stderr
    with open(path, "rb") as f:
        data = f.read()
    argv = [t.qprof, "export", "-f", form, "-o", "-", *options, trace]
    piped = subprocess.run(argv, capture_output=True, env=t.qprof_env())
    assert piped.returncode == 0 and piped.stdout == data, form
    return data


def rows_of(t, trace, *options):
    """Each row of the report: ((name, kind), numbers)."""
    for row in t.json("report", "--json", *options, trace)["queries"]:
        cpu = row.get("self_cpu_ns", row["self_ns"])
        yield (row["name"], row["kind"]), (row["count"], row["total_ns"], row["self_ns"], cpu)


def report(t, trace, *options):
    """By name: frames of a query and of an activity with its name look alike."""
    sums = {}
    for (name, _), numbers in rows_of(t, trace, *options):
        sums[name] = tuple(map(sum, zip(sums.get(name, (0, 0, 0, 0)), numbers)))
    return sums


def on_cpu(document):
    """Self times on the CPU, of all processes: a report and a flame graph have the same."""
    sums = collections.Counter()
    for row in document["queries"]:
        sums[row["name"]] += row.get("self_cpu_ns", row["self_ns"])
    return sums


def differences(ours, truth):
    return {
        name: (ours.get(name), truth.get(name))
        for name in ours.keys() | truth.keys()
        if ours.get(name) != truth.get(name)
    }


def build(t, *more):
    """A trace of two compilers, one of which fails; other tests read it too."""
    def record():
        # As cargo compiles a crate of the registry.
        good = crates.arguments("semver", t.mkdir("out"), "-Cmetadata=1")
        bad = os.path.join(ROOT, "tests/e2e/programs/type_error.rs")
        line = "'%s' \"$@\"; '%s' '%s'; true" % (t.rustc, t.rustc, bad)
        ran = t.capture(["sh", "-c", line, "-", *good], ("-q", *more))
        assert ran.status == 0, ran.stderr
        assert t.report(ran.trace)["lost"] == 0
        return ran.trace

    t.need_capture()
    return t.shared("build%s.qpt" % "".join(more), record)


@each((), ("--callers",))
def test_timelines_add_up(t, *options):
    trace = build(t, *options)
    truth = report(t, trace, "--raw")
    perfetto = exports.Perfetto(export(t, trace, "perfetto"))
    truth = {name: row[:3] for name, row in truth.items()}
    different = differences(perfetto.sums(), truth)
    assert not different, different
    # Processes with their threads, two counters, and the note on the contents.
    processes = [x for x in perfetto.tracks.values() if "process" in x]
    assert sum("semver (" in x["process"][0]["process_name"][0] for x in processes) == 1, processes
    assert set(perfetto.counters) == {"compilers running", "threads at work"}, perfetto.counters
    assert len(perfetto.notes) == 1 and "paths" in perfetto.notes[0], perfetto.notes
    assert {"Query", "GenericActivity"} <= set(perfetto.categories.values())
    # Functions of the compiler; crates are named by activities too.
    callers = [x for x in perfetto.texts.values() if "rustc_" in x and "::" in x]
    assert bool(callers) == bool(options), callers[:3]
    return "%d queries, %d deep" % (len(truth), perfetto.slices.deepest)


def test_stacks_add_up(t):
    trace = build(t)
    for options in ((), ("--raw",)):
        truth = report(t, trace, *options)
        pprof = exports.Pprof(export(t, trace, "pprof", *options))
        speedscope = exports.speedscope(export(t, trace, "speedscope", *options))
        assert pprof.types == [("executions", "count"), ("cpu", "nanoseconds"),
                               ("wall", "nanoseconds")]
        for column, value, more in ((2, "wall", ("--wall",)), (3, "CPU", ())):
            selves = {name: row[column] for name, row in truth.items() if row[column]}
            folded = list(exports.folded(export(t, trace, "folded", *options, *more)))
            for stacks in (folded, pprof.stacks(4 - column),
                           speedscope["all compilers, %s time" % value]):
                found = +exports.self_times(stacks)
                assert found == selves, differences(found, selves)
        counted = +exports.self_times(pprof.stacks(0))
        executions = {name: row[0] for name, row in truth.items() if row[0]}
        assert counted == executions, differences(counted, executions)
        assert len(speedscope) == 6, speedscope.keys()
        top = exports.go_top(t.path("out.pprof"))
        if top:
            found = {name: flat for name, (flat, _) in top.items() if flat}
            assert found == selves, differences(found, selves)
    # Totals of --raw times are exact, too: each call of a query counts, in recursion as well.
    folded = list(exports.folded(export(t, trace, "folded", "--raw", "--wall")))
    totals = collections.Counter()
    for frames, ns in folded:
        totals.update({name: n * ns for name, n in collections.Counter(frames[1:]).items()})
    raw = {name: row[1] for name, row in truth.items()}
    assert totals == raw, differences(totals, raw)
    return "%d stacks of %d queries%s" % (len(folded), len(raw), "" if top else ", no go")


def test_counts_are_the_report(t):
    trace = build(t)
    rows = exports.counts(export(t, trace, "counts"))
    rows_by_kind = dict(rows_of(t, trace))
    truth = {}
    for (name, kind), row in rows_by_kind.items():
        namesake = kind == "GenericActivity" and (name, "Query") in rows_by_kind
        truth[name + " (activity)" * namesake] = row[:2]
    assert {name: (count, ns) for name, count, ns in rows} == truth
    assert [ns for _, _, ns in rows] == sorted((ns for _, _, ns in rows), reverse=True)


def test_intervals_beyond_the_size_limit_are_reported(t):
    trace = build(t)
    most = len(export(t, trace, "perfetto")) // 4
    data = export(t, trace, "perfetto", "--max-size", str(most))
    assert most / 3 < len(data) < most * 1.1, (most, len(data))
    done = t.run_qprof("export", "-f", "perfetto", "-o", t.path("x"), "--force", "--max-size",
                       str(most), trace)
    assert "intervals are left out, those shorter than" in done.stderr, done.stderr
    perfetto = exports.Perfetto(data)
    assert "are left out" in perfetto.notes[1], perfetto.notes
    perfetto.sums()


@no_compiler
def test_golden_traces(t):
    """The exports of any valid trace are well-formed."""
    n = 0
    for trace in sorted(glob.glob(os.path.join(ROOT, "tests/golden/good-*.qpt"))):
        exports.Perfetto(export(t, trace, "perfetto")).sums()
        exports.speedscope(export(t, trace, "speedscope"))
        exports.Pprof(export(t, trace, "pprof"))
        list(exports.folded(export(t, trace, "folded")))
        n += 1
    assert gzip.decompress(export(t, trace, "pprof"))
    return "%d traces" % n
