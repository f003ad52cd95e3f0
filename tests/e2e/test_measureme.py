# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Interchange with measureme: imports of rustc's own profiles, exports for measureme's tools."""

import collections
import glob
import os
import struct

import crates
import mm_profdata
from compiles import BOOTSTRAP, profiled_path
from lab import ROOT, each
from mm_profdata import Profile

QUERIES = ("-q", "-e", "query-provider")
PROGRAMS = os.path.join(ROOT, "tests/e2e/programs")


def self_profile(t, name, arguments, events="default", status=0):
    """Run rustc with its own profiler; returns the profile's path."""
    def run(_, *flags):
        return t.plain([t.rustc, *flags, *arguments], env=BOOTSTRAP)

    _, path = profiled_path(t, name, events, run, status)
    return path


def do_import(t, *paths, trace="imported.qpt"):
    done = t.run_qprof("import", "--force", "-o", t.path(trace), *paths)
    assert done.returncode == 0 and done.stdout == "", done
    return t.path(trace), done.stderr


def do_export(t, trace, unnamed=0):
    """Export a trace; returns the files, after checking each for faults."""
    done = t.run_qprof("export", "-f", "measureme", "-o", t.path("exported"), trace)
    assert done.returncode == 0 and done.stdout == "", done
    files = sorted(glob.glob(t.path("exported", "*")))
    for path in files:
        assert path.endswith(".mm_profdata"), path
        found = mm_profdata.problems(Profile.read(path))
        found[mm_profdata.NO_NAME] -= unnamed
        found = +found
        assert not found, (path, found)
    return files


def unnamed_events(profile):
    """rustc has no names for the queries that it runs to print the names."""
    return sum(record.label == mm_profdata.UNKNOWN for record in profile.records())


def row_of(query):
    extras = ("hits", "blocked_ns", "incremental_load_ns", "incremental_hashing_ns")
    numbers = [query[key] for key in ("count", "total_ns", "self_ns")]
    return tuple(numbers + [query.get(key, 0) for key in extras])


def assert_same_summary(t, trace, profile):
    """Fails unless the report equals summarize's output; returns the number of labels."""
    document = t.report(trace)
    assert document["lost"] == 0 and document["problem"] is None
    ours = {}
    for query in document["queries"]:  # summarize has one row for both kinds
        before = ours.get(query["name"], (0,) * 7)
        ours[query["name"]] = tuple(map(sum, zip(before, row_of(query))))
    rows, sizes = mm_profdata.summarize(profile)
    truth = {
        label: (r.count, r.total, r.own, r.hits, r.blocked, r.load, r.hashing)
        for label, r in rows.items()
    }
    differ = {
        label: (ours.get(label), truth.get(label))
        for label in ours.keys() | truth.keys()
        if ours.get(label) != truth.get(label)
    }
    assert not differ, "label: (ours, truth): %s" % differ
    our_sizes = collections.Counter()
    for tally in document.get("tallies", ()):
        our_sizes[tally["name"]] += tally["sum"]
    assert our_sizes == sizes, (our_sizes, sizes)
    return len(truth)


def compile_of(t, name, case):
    """rustc's arguments to compile a crate, in the state that the case needs."""
    arguments = crates.arguments(name, t.mkdir("out"))
    if "threads" in case:
        arguments.append("-Zthreads=4")
    if "incremental" in case:
        arguments += ["-C", "incremental=" + t.mkdir("incremental")]
    if case == "second-incremental":
        done = t.plain([t.rustc, *arguments], env=BOOTSTRAP)
        assert done.status == 0, done.stderr.decode()
    return arguments


@each(
    ("semver", "debug", "default,query-keys,args"),
    ("semver", "debug", "all"),
    ("semver", "debug", "query-cache-hit,query-provider"),
    ("semver", "second-incremental", "default"),
    ("semver", "threads", "default"),
)
def test_report_of_an_import_is_the_summary(t, crate, case, events):
    path = self_profile(t, "truth", compile_of(t, crate, case), events)
    trace, _ = do_import(t, path)
    n = assert_same_summary(t, trace, Profile.read(path))
    size = os.path.getsize(trace), os.path.getsize(path)
    return "%d labels; %d bytes of %d" % (n, *size)


@each("default", "all")
def test_round_trip(t, events):
    """Importing and exporting a profile keeps its summary, names and metadata."""
    path = self_profile(t, "truth", compile_of(t, "memchr", "first-incremental"), events)
    trace, _ = do_import(t, path)
    truth = Profile.read(path)
    if events == "default":
        assert_same_summary(t, trace, truth)
    (again,) = do_export(t, trace, unnamed_events(truth))
    exported = Profile.read(again)
    assert os.path.basename(again) == os.path.basename(path)
    for key in ("start_time", "process_id"):
        assert exported.metadata()[key] == truth.metadata()[key], key
    assert exported.metadata()["cmd"] == truth.metadata()["cmd"].rstrip()
    # Each query is the same event, with the same virtual id.
    queries = list(truth.intervals())
    assert all(query.invocation <= mm_profdata.MAX_VIRTUAL_ID for query in queries)
    assert list(exported.intervals()) == queries
    assert_same_summary(t, trace, exported)
    again_trace, _ = do_import(t, again, trace="again.qpt")
    assert_same_summary(t, again_trace, exported)
    return "%d queries" % len(queries)


@each("default,query-keys", "default,query-keys,args")
def test_arguments(t, events):
    """The dump and the export have the same query keys as rustc's file."""
    path = self_profile(t, "truth", [os.path.join(PROGRAMS, "good.rs"), "-o", t.path("good")], events)
    trace, _ = do_import(t, path)
    truth = Profile.read(path)
    rows = truth.rows()
    dumped = collections.Counter()
    for span in t.spans(trace):
        # An event without a name has no arguments in it either.
        named = span["query"] != mm_profdata.UNKNOWN and span["event"]
        arguments = span["event"].split(mm_profdata.SEPARATOR) if named else []
        dumped[(span.get("kind", "Query"), span["query"], *arguments)] += 1
    assert dumped == rows, (dumped - rows, rows - dumped)
    (again,) = do_export(t, trace, unnamed_events(truth))
    exported = Profile.read(again).rows()
    assert exported == rows, (exported - rows, rows - exported)
    kinds = collections.Counter(row[0] for row in rows if len(row) > 2)
    assert kinds["Query"] > 100, kinds
    assert ("args" in events) == (kinds["GenericActivity"] > 0), kinds
    return "%d different, %d bytes of %d" % (len(rows), os.path.getsize(again), os.path.getsize(path))


def test_a_quote_in_an_argument(t):
    """rustc escapes its command line so that measureme's tools cannot read the file."""
    arguments = crates.arguments("semver", t.mkdir("out"), "--cfg", 'x="don\'t \u00e9"')
    path = self_profile(t, "truth", arguments)
    try:
        Profile.read(path).metadata()
        raise AssertionError("it is JSON: then this test is about nothing")
    except ValueError:
        pass
    trace, said = do_import(t, path)
    assert "warning" not in said, said
    (exported,) = do_export(t, trace)
    command = Profile.read(exported).metadata()["cmd"]
    assert " --cfg x=\"don't \u00e9\" " in command, command
    assert_same_summary(t, trace, Profile.read(path))


def test_a_failed_compile(t):
    """The profile of a failed compile has no names of queries."""
    path = self_profile(t, "truth", [os.path.join(PROGRAMS, "type_error.rs")], status=1)
    trace, said = do_import(t, path)
    assert "have no name in it: they are called <unknown>" in said, said
    truth = Profile.read(path)
    unknown = truth.counts()[mm_profdata.UNKNOWN]
    assert unknown > 1000
    assert_same_summary(t, trace, truth)
    return "%d queries without a name" % unknown


def test_a_killed_compile(t):
    """The file has only pages of events, the last of which is cut."""
    path = self_profile(t, "truth", crates.arguments("memchr", t.mkdir("out")), "all")
    with open(path, "rb") as f:
        data = f.read()
    at, kept = 8, data[:8]
    while at < len(data):
        tag, size = struct.unpack_from("<BI", data, at)
        kept += data[at : at + 5 + size] if tag == 0 else b""
        at += 5 + size
    events = (len(kept) - 16) // 32
    cut = t.path("killed-0000042.mm_profdata")
    with open(cut, "wb") as f:
        f.write(kept[:-1])
    trace, said = do_import(t, cut)
    assert "cut short at byte %d" % (len(kept) - 1) in said, said
    document = t.report(trace)
    assert document["lost"] is None, "what was not written is lost, and nobody knows how much"
    assert [q["name"] for q in document["queries"]] == [mm_profdata.UNKNOWN]
    assert document["queries"][0]["count"] > 0
    return "%d events were written" % events


def test_several_files_are_one_trace(t):
    paths = [
        self_profile(t, name, crates.arguments(name, t.mkdir("out"))) for name in ("semver", "either")
    ]
    trace, _ = do_import(t, *paths)
    document = t.report(trace)
    for path, process in zip(paths, document["processes"]):
        counts = collections.Counter()
        for query in process["queries"]:
            counts[query["name"]] += query["count"]
        counts = +counts
        rows, _ = mm_profdata.summarize(Profile.read(path))
        assert counts == {label: row.count for label, row in rows.items() if row.count}
        assert os.path.basename(path).startswith(process["crate"] + "-%07d." % process["pid"])


# ---- Captured traces ---------------------------------------------------------------------------


@each(("memchr", ()), ("semver", ("-C", "incremental=incremental")))
def test_export_of_a_capture(t, crate, more):
    """Apart from times, the export equals rustc's own profile of the same process, event by event."""
    t.need_capture()

    def run(_, *flags):
        arguments = crates.arguments(crate, t.mkdir("out"), *flags, *more)
        return t.capture([t.rustc, *arguments], QUERIES, env=BOOTSTRAP)

    ran, theirs = profiled_path(t, "truth", "query-provider", run)
    (ours,) = do_export(t, ran.trace)
    assert os.path.basename(ours) == os.path.basename(theirs)
    profile, truth = Profile.read(ours), Profile.read(theirs)
    assert profile.metadata()["cmd"] == truth.metadata()["cmd"].rstrip()
    assert profile.metadata()["process_id"] == truth.metadata()["process_id"]
    # Both clocks begin with the process, or a little later.
    apart = truth.metadata()["start_time"] - profile.metadata()["start_time"]
    assert 0 <= apart < 60 * 10**9, apart

    relabelled = lent = 0
    (mine,), (true,) = profile.by_thread().values(), truth.by_thread().values()
    assert len(mine) == len(true), (len(mine), len(true))
    for a, b in zip(mine, true):
        # rustc keeps one label per invocation id, even of shared ids; the export uses new ids.
        if a.label != b.label:
            relabelled += 1
        lent += a.invocation != b.invocation
        assert a.invocation == b.invocation or a.invocation >= mm_profdata.FIRST_REGULAR_ID
    assert relabelled <= 2 * lent, (relabelled, lent)
    counts = t.counts(ran.trace)
    assert counts == profile.counts()
    again, _ = do_import(t, ours)
    assert t.counts(again) == counts
    return "%d events, %d with a shared invocation id" % (len(mine), lent)


def test_export_of_a_build(t):
    """One file per compiler, including a failing one, with all names."""
    t.need_capture()
    good = crates.arguments("semver", t.mkdir("out"), "--cfg", "x=\"don't\"")
    words = [t.rustc, *good, ";", t.rustc, os.path.join(PROGRAMS, "type_error.rs"), ";", "true"]
    line = " ".join(w if w == ";" else "'%s'" % w.replace("'", "'\\''") for w in words)
    ran = t.capture(["sh", "-c", line], QUERIES, env=BOOTSTRAP)
    assert ran.status == 0, ran.stderr.decode()
    files = do_export(t, ran.trace)
    document = t.report(ran.trace)
    assert len(files) == len(document["processes"]) == 2
    by_name = {os.path.basename(path): path for path in files}
    for process in document["processes"]:
        name = "%s-%07d.mm_profdata" % (process["crate"] or "unknown-crate", process["pid"])
        profile = Profile.read(by_name[name])
        assert profile.counts() == {q["name"]: q["count"] for q in process["queries"]}
        assert profile.metadata()["cmd"] == process["command"]
    again = t.run_qprof("export", "-o", t.path("exported"), ran.trace)
    assert again.returncode == 125 and "exists already" in again.stderr, again
