# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Intervals beside queries: per kind and label, what rustc's own profiler counts."""

import collections
import fnmatch
import json
import os

import crates
import lab
from lab import each
from mm_profdata import Profile
from test_exact_counts import BOOTSTRAP, Compile

MODES = ("debug", "first-incremental", "second-incremental")
KINDS = ("Query", "GenericActivity", "QueryBlocked", "IncrementalLoadResult",
         "IncrementalResultHashing")
ALL = ("-q", "-e", "all")
# What the default leaves out.
TINY = ("metadata_decode_*", "mir_pass_*", "incr_comp_encode_dep_graph")

# Activities that rustc only has while its own profiler is on.
ONLY_PROFILED = {
    "mir_pass_*": "rustc asks whether it profiles before it runs a pass through the profiler",
    "self_profile_alloc_query_strings": "the profiler's own",
}
# A query with arguments that depend on the order of a cycle: counts vary from run to run.
UNSTEADY = ("params_in_repr", "representability_adt_ty")
# What -Ztime-passes adds up by itself, without an interval of the profiler's.
PRINTED_ONLY = {"total", "codegen_to_LLVM_IR"}


def matches(label, globs):
    return any(fnmatch.fnmatch(label, glob) for glob in globs)


def truth_of(path):
    profile = Profile.read(path)
    return {kind: profile.counts(kind) for kind in KINDS}


def spans_of(t, trace):
    """Spans per kind; a trace that lost something is no evidence."""
    document = t.report(trace)
    assert document["lost"] == 0, document["losses"]
    kinds = collections.defaultdict(collections.Counter)
    for span in t.spans(trace):
        kinds[span.get("kind", "Query")][span["query"]] += 1
    return kinds


def differences(ours, truth, left_out=()):
    found = {}
    for label in ours.keys() | truth.keys():
        if ours[label] != truth[label] and not matches(label, left_out):
            found[label] = (ours[label], truth[label])
    return found


def profile(compile, events):
    directory = compile.t.mkdir("truth.profile")
    flags = ("-Zself-profile=" + directory, "-Zself-profile-events=" + events)
    done = compile.t.plain(compile.argv("truth", None, *flags), env=BOOTSTRAP)
    assert done.status == 0, done.stderr.decode()
    (name,) = os.listdir(directory)
    return truth_of(os.path.join(directory, name))


def assert_same_labels(ours, truth):
    """
    rustc labels what ends with an invocation id by what it still knows of that id at the end: for
    most loads nothing, for some another query. We have the query itself, but for loads in functions
    that several queries share, and results that another query feeds. So only sums must agree.
    """
    for kind in ("IncrementalLoadResult", "IncrementalResultHashing"):
        assert sum(ours[kind].values()) == sum(truth[kind].values()), kind


@each(*((toolchain, mode) for toolchain in lab.toolchains() or ("stable",) for mode in MODES))
def test_every_interval(t, toolchain, mode):
    t.need_capture()
    compile = Compile(t, t.toolchain(toolchain), crates.LONG, mode)
    truth = profile(compile, "default,incr-result-hashing")
    run = t.capture(compile.argv("ours"), ALL, env=BOOTSTRAP)
    assert run.status == 0, run.stderr.decode()
    ours = spans_of(t, run.trace)
    differ = differences(ours["GenericActivity"], truth["GenericActivity"], ONLY_PROFILED)
    assert not differ, "activity: (ours, truth): %s" % differ
    differ = differences(ours["Query"], truth["Query"], UNSTEADY)
    assert not differ, "query: (ours, truth): %s" % differ
    assert_same_labels(ours, truth)
    return ", ".join("%d %s" % (sum(ours[k].values()), k) for k in KINDS if ours[k])


@each(*MODES)
def test_the_default(t, mode):
    """All but what comes in thousands, and hashing."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.SHORT, mode)
    truth = profile(compile, "default")
    run = t.capture(compile.argv("ours"), env=BOOTSTRAP)
    assert run.status == 0, run.stderr.decode()
    ours = spans_of(t, run.trace)
    differ = differences(
        ours["GenericActivity"], truth["GenericActivity"], (*ONLY_PROFILED, *TINY))
    assert not differ, "activity: (ours, truth): %s" % differ
    assert not any(matches(label, TINY) for label in ours["GenericActivity"])
    assert not ours["IncrementalResultHashing"]
    loads = "IncrementalLoadResult"
    assert sum(ours[loads].values()) == sum(truth[loads].values())
    if mode == "second-incremental":
        assert ours[loads]


def test_blocking(t):
    """One process: who waits for whom is another matter in the next."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.LONG, "debug")
    directory = t.mkdir("both.profile")
    flags = ("-Zself-profile=" + directory, "-Zthreads=4")
    run = t.capture(compile.argv("both", None, *flags), env=BOOTSTRAP)
    assert run.status == 0, run.stderr.decode()
    (name,) = os.listdir(directory)
    truth = truth_of(os.path.join(directory, name))
    ours = spans_of(t, run.trace)
    assert sum(ours["QueryBlocked"].values()) == sum(truth["QueryBlocked"].values())
    return "%d times blocked" % sum(ours["QueryBlocked"].values())


def test_passes_alone(t):
    """What -Ztime-passes prints while a crate is compiled, and nothing else."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.SHORT, "debug")
    done = t.plain(compile.argv("plain", None, "-Ztime-passes", "-Ztime-passes-format=json"),
                   env=BOOTSTRAP)
    lines = [line[6:] for line in done.stderr.decode().splitlines() if line.startswith("time: ")]
    printed = collections.Counter(json.loads(line)["pass"] for line in lines)
    run = t.capture(compile.argv("ours"), ("-q", "-e", "passes"), env=BOOTSTRAP)
    ours = spans_of(t, run.trace)
    assert set(ours) == {"GenericActivity"}, set(ours)
    assert printed
    missing = printed.keys() - ours["GenericActivity"].keys() - PRINTED_ONLY
    assert not missing, missing
    return "%d passes" % sum(ours["GenericActivity"].values())


def test_globs(t):
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.SHORT, "debug")
    run = t.capture(compile.argv("ours"), ("-q", "-e", "query-provider,passes,-type*,-*_checking"),
                    env=BOOTSTRAP)
    ours = spans_of(t, run.trace)
    everything = t.capture(compile.argv("all"), env=BOOTSTRAP, trace="all.qpt")
    whole = spans_of(t, everything.trace)
    for kind, globs in (("Query", ("type*",)), ("GenericActivity", ("*_checking",))):
        assert any(matches(label, globs) for label in whole[kind]), kind
        assert not any(matches(label, globs) for label in ours[kind]), kind
    assert not differences(ours["Query"], whole["Query"], ("type*",))


def test_what_cannot_be_had(t):
    t.need_capture()
    done = t.run_qprof("-e", "llvm", "--", "true")
    assert done.returncode == 125, done
    assert "cannot record llvm" in done.stderr and "nothing is left" in done.stderr, done.stderr
    done = t.run_qprof("-e", "passes,llvm", "-o", t.path("a.qpt"), "--", "true")
    assert done.returncode == 0 and "cannot record llvm" in done.stderr, done
