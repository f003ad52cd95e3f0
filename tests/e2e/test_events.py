# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The intervals that a recording has by the words and globs of -e."""

import collections
import json

import crates
from compiles import BOOTSTRAP, Compile
from equality import matches

# Sums of -Ztime-passes itself, without an interval.
PRINTED_ONLY = {"total", "codegen_to_LLVM_IR"}


def spans_of(t, trace):
    """{kind: {label: spans}}; fails if anything was lost."""
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


def test_passes_alone(t):
    """The intervals are those that -Ztime-passes prints, and no others."""
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


def test_events_that_cannot_be_had(t):
    t.need_capture()
    done = t.run_qprof("-e", "llvm", "--", "true")
    assert done.returncode == 125, done
    assert "cannot record llvm" in done.stderr and "nothing is left" in done.stderr, done.stderr
    done = t.run_qprof("-e", "passes,llvm", "-o", t.path("a.qpt"), "--", "true")
    assert done.returncode == 0 and "cannot record llvm" in done.stderr, done
