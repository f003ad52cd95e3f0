# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The callers of each query (record --callers): complete, and equal to the kernel's own tracing."""

import collections
import contextlib
import os
import re
import subprocess

import crates
import lab
from lab import Skip, each

TRACING = "/sys/kernel/tracing"
QUERIES = ("-q", "-e", "query-provider")
CALLERS = QUERIES + ("--callers",)


def compile_argv(t, crate, *flags):
    return [t.rustc] + crates.arguments(crate, t.mkdir("out"), *flags)


def capture(t, argv, options, trace):
    return t.record(argv, options=options, trace=trace).trace


def asked(t, trace):
    """Executions per query with a known caller, and those without."""
    known, unknown = collections.Counter(), collections.Counter()
    for span in t.spans(trace):
        if span.get("kind", "Query") == "Query":
            (known if span.get("caller") else unknown)[span["query"]] += 1
    return known, unknown


@each("memchr", "semver")
def test_every_caller_is_known(t, crate):
    """Without incremental compilation every execution has a caller."""
    t.need_capture()
    argv = compile_argv(t, crate)
    plain = t.counts(capture(t, argv, QUERIES, "plain.qpt"))
    trace = capture(t, argv, CALLERS, "callers.qpt")
    known, unknown = asked(t, trace)
    assert t.counts(trace) == plain
    # If one thread maps memory while another one grows its stack, a caller may be unknown.
    assert sum(unknown.values()) <= sum(plain.values()) // 10000, unknown
    for query, count in known.most_common(5):
        rows = t.json("report", "--json", "--callers", query, trace)["callers"]
        assert sum(row["count"] for row in rows) == count, query
    return "%d executions, %d callers unknown" % (sum(plain.values()), sum(unknown.values()))


def test_incremental(t):
    """Queries that the dependency graph forces have no caller; all others have one."""
    t.need_capture()
    state = t.mkdir("state")
    argv = compile_argv(t, "semver", "-C", "incremental=" + state)
    first = capture(t, argv, CALLERS, "first.qpt")
    known, unknown = asked(t, first)
    # See test_every_caller_is_known().
    assert sum(unknown.values()) <= sum(known.values()) // 10000, unknown
    second = capture(t, argv, CALLERS, "second.qpt")
    known, unknown = asked(t, second)
    third = capture(t, argv, QUERIES, "third.qpt")
    assert known + unknown == t.counts(second) == t.counts(third)
    return "second build: %d executions, %d callers unknown" % (
        sum((known + unknown).values()), sum(unknown.values()))


# ---- Comparison with the kernel's own tracing --------------------------------------------------


def put(path, text, flags=os.O_TRUNC):
    fd = os.open(os.path.join(TRACING, path), os.O_WRONLY | flags)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


@contextlib.contextmanager
def traced(library, sites):
    """Attach a uprobe to each site, whose events contain the return address; yields their file's
    path."""
    if not os.path.exists(os.path.join(TRACING, "uprobe_events")):
        # The runner has its own mounts.
        subprocess.run(["mount", "-t", "tracefs", "nodev", TRACING], capture_output=True)
    if not os.path.exists(os.path.join(TRACING, "uprobe_events")):
        raise Skip("no tracefs with uprobe_events at " + TRACING)
    group = "qprof_e2e_%d" % os.getpid()
    instance = os.path.join(TRACING, "instances", group)
    os.mkdir(instance)
    try:
        put(instance + "/buffer_size_kb", "16384")
        for name, site in sites.items():
            put("uprobe_events", "p:%s/%s %s:%s ret=+%d(%%sp):x64\n" % (
                group, name, library, site["offset"], site["slot"]), os.O_APPEND)
        put(instance + "/events/%s/enable" % group, "1")
        yield instance + "/trace"
    finally:
        with contextlib.suppress(OSError):
            put(instance + "/events/%s/enable" % group, "0")
        os.rmdir(instance)
        for name in sites:
            with contextlib.suppress(OSError):
                put("uprobe_events", "-:%s/%s\n" % (group, name), os.O_APPEND)


EVENT = re.compile(r"-(\d+)\s+\[\d+\].*: (\w+): \(0x([0-9a-f]+)\) ret=0x([0-9a-f]+)")


def return_addresses(path, sites):
    """{(tid, query): ELF addresses that its requests return to, in order}"""
    found = collections.defaultdict(list)
    with open(path) as f:
        for line in f:
            assert "LOST" not in line, line
            event = EVENT.search(line)
            if event:
                tid, name, ip, ret = event.groups()
                address = int(ret, 16) - int(ip, 16) + int(sites[name]["address"], 16)
                found[int(tid), name].append(address)
    return found


def starts_of_functions(library):
    listing = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    found = (line.split(None, 2) for line in listing.splitlines())
    return {int(words[0], 16) for words in found if len(words) == 3 and words[1] in "tTwWvV"}


@lab.alone("the kernel traces the compilers of all tests, and its buffer is small")
def test_the_kernels_tracing_agrees(t):
    """Request by request in one process: return address minus offset is the start of a function."""
    t.need_capture()
    plan = t.json("plan", "--json", "+stable" if t.toolchain().name == "stable" else t.rustc)
    numbers = {query["name"]: i for i, query in enumerate(plan["queries"])}
    bodies = plan["bodies"]
    sites = {
        name: site for name in ("type_of", "layout_of") for site in plan["sites"]
        if site["role"] == "request" and site["query"] == numbers[name]
        and not bodies[site["body"]]["incremental"]
    }
    assert len(sites) == 2, sites
    with traced(plan["file"], sites) as events:
        trace = capture(t, compile_argv(t, "semver"), CALLERS, "callers.qpt")
        truth = return_addresses(events, sites)
    ours = collections.defaultdict(list)
    for span in sorted(t.spans(trace), key=lambda span: span["start_ns"]):
        if span["query"] in sites:
            ours[span["tid"], span["query"]].append(span["caller"])
    starts, of_name, n = starts_of_functions(plan["file"]), {}, 0
    assert ours
    for key, callers in ours.items():
        addresses = truth[key]
        assert len(addresses) == len(callers), (key, len(addresses), len(callers))
        for address, caller in zip(addresses, callers):
            start = address - caller["offset"]
            assert start in starts, (key, hex(address), caller)
            of_name.setdefault(caller["locindex"] - caller["offset"], (start, caller["function"]))
            assert of_name[caller["locindex"] - caller["offset"]] == (start, caller["function"])
            n += 1
    return "%d requests from %d functions" % (n, len(of_name))
