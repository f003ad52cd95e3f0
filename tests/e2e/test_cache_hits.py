# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Cache hits equal those of rustc's own profiler, id by id."""

import collections
import re
import signal
import struct
import time

import crates
import lab
from compiles import BOOTSTRAP, profiled
from lab import each
from mm_profdata import INTEGER, SEPARATOR, UNKNOWN
from slow_loader import HELD_MOST, Gaps, held_most, stop_planner

EVENTS = "query-provider,query-cache-hit,query-cache-hit-count"
OPTIONS = ("-q", "-e", "query-cache-hit", "--ring-size", "256M")
HIT = "QueryCacheHit"
SUMMARY = "%d hits, %d of what was not executed"


def truth_of(profile):
    """{(invocation id, label): hits}"""
    hits = collections.Counter()
    for kind, event, _, _, _, _ in struct.iter_unpack("<QQIIII", profile.events[8:]):
        if profile.text(kind) == HIT:
            hits[event, profile.text(event).split(SEPARATOR)[0]] += 1
    return hits


def counts_of(profile):
    """{invocation id: hits}, from rustc's query-cache-hit-count."""
    counts = collections.Counter()
    for kind, event, _, value, low2, high in struct.iter_unpack("<QQIIII", profile.events[8:]):
        if profile.text(kind) == "QueryCacheHitCount":
            assert low2 | (high & 0xFFFF) << 32 == INTEGER
            counts[event] += value | (high >> 16) << 32
    return counts


def ours_of(spans):
    """({(invocation id, label): hits}, ids of executions)"""
    hits = collections.Counter()
    executed = set()
    for span in spans:
        if span.get("kind") == HIT:
            assert span["start_ns"] == span["end_ns"], span
            hits[span["invocation"], span["query"]] += 1
        else:
            executed.add(span["invocation"])
    return hits, executed


def assert_same_hits(ours, executed, truth):
    """A hit without a label must belong to a result that was never executed, and its id must agree."""
    unknown = collections.Counter()
    for (invocation, label), n in ours.items():
        if label == UNKNOWN:
            assert invocation not in executed, invocation
            unknown[invocation] += n
        else:
            assert invocation in executed, (invocation, label)
            assert truth[invocation, label] == n, (invocation, label, n)
    for (invocation, label), n in truth.items():
        assert ours[invocation, label] == n or unknown[invocation] == n, (invocation, label, n)
    assert sum(ours.values()) == sum(truth.values())
    return sum(ours.values()), sum(unknown.values())


def hits_of(t, argv):
    """(hits, hits without a label) of one process, after comparing with rustc's profile of it."""
    run, profile = profiled(t, "hits", EVENTS, lambda _, *flags: t.capture(
        [*argv, *flags], OPTIONS, env=BOOTSTRAP))
    ours, executed = ours_of(t.spans(run.trace))
    by_id = collections.Counter()
    for (invocation, _), n in ours.items():
        by_id[invocation] += n
    assert by_id == counts_of(profile)
    return assert_same_hits(ours, executed, truth_of(profile))


def compare_hello_world(t, toolchain):
    source = t.write("hello.rs", 'fn main() { println!("hello"); }\n')
    rustc = t.toolchain(toolchain).rustc
    return hits_of(t, [rustc, source, "-o", t.path("hello")])


@each(*((toolchain,) for toolchain in lab.toolchains() or ("stable",)))
def test_hello_world(t, toolchain):
    t.need_capture()
    return SUMMARY % compare_hello_world(t, toolchain)


def test_a_crate(t):
    t.need_capture()
    return SUMMARY % hits_of(t, [t.toolchain().rustc] + crates.arguments("unicode-ident", t.mkdir("out")))


def test_hits_are_recorded_only_if_asked_for(t):
    t.need_capture()
    source = t.write("hello.rs", 'fn main() { println!("hello"); }\n')
    run = t.record([t.toolchain().rustc, source, "-o", t.path("hello")], ("-q", "-e", "all"))
    assert not [span for span in t.spans(run.trace) if span.get("kind") == HIT]


@lab.alone("it records, and holds, the compilers of all tests")
def test_the_search_delays_nobody(t):
    """The search for hits never ends, and still delays neither a compiler nor a signal."""
    t.need_capture()
    # The library's plan is stored already, so the planner only looks for the hits.
    assert t.capture([t.rustc] + crates.arguments(crates.SHORT, t.mkdir("known"))).status == 0
    bin, gaps = t.mkdir("bin"), Gaps()
    profiler = t.start_qprof("-o", t.path("hits.qpt"), "-e", "query-cache-hit", "--system",
                             env={"PATH": bin})
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    command = [t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
    begin = time.monotonic()
    compiler = t.start_plain(command)
    lab.wait_for("a planner", lambda: stop_planner(profiler))
    assert compiler.wait(timeout=lab.TIMEOUT) == 0, compiler.stderr.read()
    compiled = time.monotonic() - begin
    begin = time.monotonic()
    profiler.send_signal(signal.SIGTERM)
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    ended = time.monotonic() - begin
    # The compiler went on without probes, or had exited before it could be followed.
    assert re.search(rb"process %d (had begun|used|uses) " % compiler.pid, err), err
    # If the machine stood still, the wait may be longer by that time.
    assert held_most(err.decode()) <= HELD_MOST + gaps.longest(), err
    assert compiled < 60 and ended < 60, (compiled, ended, err)  # the planner may take 120 s
    return "%.1f s, %.1f s" % (compiled, ended)
