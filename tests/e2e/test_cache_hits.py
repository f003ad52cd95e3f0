# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Hits of the queries' caches are those that rustc's own profiler records, id by id."""

import collections
import glob
import struct

import crates
import lab
from lab import each
from mm_profdata import Profile, SEPARATOR, UNKNOWN

BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
EVENTS = "-Zself-profile-events=query-provider,query-cache-hit"
OPTIONS = ("-q", "-e", "query-cache-hit", "--ring-size", "256M")
HIT = "QueryCacheHit"


def truth_of(profile):
    """Hits by (invocation id, label)."""
    hits = collections.Counter()
    for kind, event, _, _, _, _ in struct.iter_unpack("<QQIIII", profile.events[8:]):
        if profile.text(kind) == HIT:
            hits[event, profile.text(event).split(SEPARATOR)[0]] += 1
    return hits


def ours_of(spans):
    """(hits by (invocation id, label), ids of executions)"""
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
    """Where we do not know the label, it is of what was never executed, and the id must agree."""
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
    """Of one process, as we and as rustc saw them."""
    flags = ["-Zself-profile=" + t.mkdir("profile"), EVENTS]
    run = t.capture(argv + flags, OPTIONS, env=BOOTSTRAP)
    assert run.status == 0, run.stderr.decode()
    (path,) = glob.glob(t.path("profile", "*.mm_profdata"))
    ours, executed = ours_of(t.spans(run.trace))
    return "%d hits, %d of what was not executed" % assert_same_hits(
        ours, executed, truth_of(Profile.read(path)))


@each(*((toolchain,) for toolchain in lab.toolchains() or ("stable",)))
def test_hello_world(t, toolchain):
    t.need_capture()
    source = t.write("hello.rs", 'fn main() { println!("hello"); }\n')
    rustc = t.toolchain(toolchain).rustc
    return hits_of(t, [rustc, source, "-o", t.path("hello")])


def test_a_crate(t):
    t.need_capture()
    return hits_of(t, [t.toolchain().rustc] + crates.arguments("semver", t.mkdir("out")))


def test_only_who_asks_gets_them(t):
    t.need_capture()
    source = t.write("hello.rs", 'fn main() { println!("hello"); }\n')
    run = t.capture([t.toolchain().rustc, source, "-o", t.path("hello")], ("-q", "-e", "all"))
    assert run.status == 0, run.stderr.decode()
    assert not [span for span in t.spans(run.trace) if span.get("kind") == HIT]
