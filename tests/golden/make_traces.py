#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Write the golden traces, good and bad, from docs/trace-format.md alone.

    make_traces.py [DIRECTORY]

Shares no code with the program. The text next to each file is the expected output of a reader; it
is written by hand below, not by a reader. The output is the same on every run.
"""
import os
import struct
import sys

from qpt_format import (
    COSTS, DECISIONS, FILES, FOREIGN, FUNCTIONS, KEYS, LINES, LOSSES, MAPPINGS, OVERHEAD, PART, PLACES, REBUILT, RESULTS, SAMPLES, SAMPLING,
    SPANS, STACKS, STRINGS, SYMBOLS, THREADS, U64, Stacks, chunk, end, functions, header, index, indexed, info,
    jobs, keys, labels, lines, losses, mappings, packed, places, process, processes, samples_payload, sampling,
    spans_payload, stacks, string, strings, symbols, tallies, text, varint, zigzag, zstd_stored,
)

INFO_LINE = "info [qprof-bpf 0.1.0] [6.18.0] [builder] 1000 1700000000000000000\n"
NAMES = strings(0, "typeck", "mir_built", "rustc --crate-name a", "a")
ONE = processes(process(0, 0, 4711, 4710, 2000, 0, 0, (3, 4, 0, 0, 0, 0)))
ONE_LINE = "process 0 pid=4711 parent=4710 start=2000 end=0 [rustc --crate-name a] [a] [-] [-] [-] [-]\n"
# Two threads. The first has a leaf, the span around it, and a later leaf; the second has a leaf.
BATCH = spans_payload(
    [(0, 4711, 3), (0, 4712, 1)],
    [
        (0, zigzag(1), 1, zigzag(7) + 1, 0, 40),  # base .. base + 40, #7
        (0, zigzag(-1), 0, zigzag(0) + 1, 10, 5),  # base - 10 .. base + 45, #8
        (1, zigzag(0), 0, 0, 5, 50),  # base + 50 .. base + 100, no id, unwound
        (4, zigzag(0), 1, zigzag(91) + 1, 300, 700),  # base + 300 .. base + 1000, #100, open
    ],
    3000,
)
BATCH_LINES = (
    "span 0/4711 depth=1 3000..3040 mir_built #7\n"
    "span 0/4711 depth=0 2990..3045 typeck #8\n"
    "span 0/4711 depth=0 3050..3100 typeck flags=1\n"
    "span 0/4712 depth=0 3300..4000 mir_built #100 flags=4\n"
)
GONE = processes(process(0, 2, 4711, 4710, 2000, 5000, 256, (3, 4, 0, 0, 0, 0)))
GONE_LINE = "process 0 pid=4711 parent=4710 start=2000 end=5000 exit=256 [rustc --crate-name a] [a] [-] [-] [-] [-]\n"
# Functions of library "a": rustc::ask has 6 bytes at 1 to 7, 8 is free, another one is at 9 to 11.
CODE_NAMES = strings(0, "typeck", "mir_built", "rustc --crate-name a", "a", "src/a.rs", "rustc::ask")
CODE = CODE_NAMES + functions(1, [(0, 7), (-1, 1), (1, 3)], (3, 0x1000, 5), (3, 0x2000, 5))
ASKED = chunk(
    SPANS,
    spans_payload([(0, 1, 6)], [(0, 0, 0, 0, 0, 10)] * 6, 0, 1, [3, 2, 1, 7, 8, 0]),
)
ASKED_MORE = chunk(SPANS, spans_payload([(0, 1, 1)], [(0, 0, 0, 0, 0, 10)], 60, 1, [15]))
BODY = info() + NAMES + ONE + chunk(SPANS, BATCH)
BODY_LINES = INFO_LINE + ONE_LINE + BATCH_LINES
WHOLE = "whole\n"
# Strings made of strings; events whose names come later, or never.
SHARED = (
    info()
    + strings(0, "regex_syntax", "ast", [2, "::", 1], [1, "::Parser"], "typeck", "spare")
    + processes(process(0))
    + chunk(
        SPANS,
        spans_payload(
            [(0, 1, 4)],
            [
                (0, 0, 4, 1 + zigzag(7), 0, 5),  # typeck #7
                (0, 0, 4, 1 + zigzag(0), 5, 5),  # typeck #8
                (0, 0, 1 << 31 | 70000, 0, 5, 5),  # a label that gets its text
                (0, 0, 1 << 31 | 70001, 1 + zigzag(91), 5, 5),  # a label that gets none; #100
            ],
            1000,
        ),
    )
    + strings(6, "late", [4, " ", 2])
    + mappings(1, (5, 1, 3, [1]), (1, 0, 1, [3]))  # 5 to 7: strings 1, 2, 3; 9: string 7
    + mappings(0, (70000, 2, 1, [6]))
)
# Two processes, one of which has spans.
OTHERS_BATCH = spans_payload([(1, 9, 2)], [(0, 0, 0, 0, 0, 10), (0, 0, 1, 0, 0, 10)], 0)
OTHERS = info() + NAMES + processes(process(0), process(1, pid=9)) + chunk(SPANS, OTHERS_BATCH)
OTHERS_LINES = (
    INFO_LINE
    + "process 0 pid=0 parent=0 start=0 end=0 [-] [-] [-] [-] [-] [-]\n"
    + "process 1 pid=9 parent=0 start=0 end=0 [-] [-] [-] [-] [-] [-]\n"
    + "span 1/9 depth=0 0..10 typeck\n"
    + "span 1/9 depth=0 10..20 mir_built\n"
)
SHARED_LINES = (
    INFO_LINE
    + "process 0 pid=0 parent=0 start=0 end=0 [-] [-] [-] [-] [-] [-]\n"
    + "span 0/1 depth=0 1000..1005 typeck #7 event=regex_syntax::ast::Parser\n"
    + "span 0/1 depth=0 1010..1015 typeck #8 event=<unknown>\n"
    + "span 0/1 depth=0 1020..1025 late\n"
    + "span 0/1 depth=0 1030..1035 <unknown> #100 event=<unknown>\n"
)


def good():
    yield "empty", header() + info() + end(0, 0, 0), INFO_LINE + WHOLE
    yield "clock", header() + info(1) + end(0, 0, 0), INFO_LINE.replace("] 1000", "] realtime 1000") + WHOLE
    yield "clock-and-more", header() + info(0, 77) + end(0, 0, 0), INFO_LINE + WHOLE
    yield "plain", header() + BODY + losses(3, 0, 0, 0, 0, 0, 9) + GONE + end(4, 1, 4), (
        BODY_LINES + "losses ring_full=3 end_without_start=9\n" + GONE_LINE + WHOLE
    )
    long_name = "x" * 300
    packed = zstd_stored(varint(0, 1) + string(long_name))
    raw = len(varint(0, 1) + string(long_name))
    one = processes(process(0, 1, 1, 0, 5, 0, 0, (1, 0, 0, 0, 0, 0)))
    yield "zstd", header() + info() + chunk(STRINGS, packed, flags=1, raw=raw) + one + end(1, 1, 0), (
        INFO_LINE + f"process 0 pid=1 parent=0 start=5 end=0 late [{long_name}] [-] [-] [-] [-] [-]\n" + WHOLE
    )
    yield "strings", header() + SHARED + end(8, 1, 4, 5), SHARED_LINES + WHOLE
    # String 3 begins with string 2, which begins with string 0.
    yield "foreign", header() + SHARED + chunk(FOREIGN, varint(1, 0)) + end(8, 1, 4, 5), (
        SHARED_LINES.replace("::Parser\n", "::Parser foreign\n") + WHOLE
    )
    # String 3 is at line 7 of string 6, called at line 9 of string 5; string 0 at line 300 of string 1.
    placed = places(0, (3, 6, 7, -1, 2), (-3, -5, 293), (3, 0, 1))
    yield "places", header() + SHARED + placed + end(8, 1, 4, 5), (
        SHARED_LINES.replace("::Parser\n", "::Parser at=late:7 called=spare:9\n") + WHOLE
    )
    yield "threads-and-costs", (
        header()
        + info()
        + NAMES
        + processes(process(0, refs=(3, 4, 1, 0, 0, 2)))
        + chunk(THREADS, varint(2, 0, 4711, 0, 0, 4712, 3))
        + chunk(COSTS, varint(1, 5, 430000, 13800000, 400000, 13700000, 7))
        + end(4, 1, 0)
    ), (
        INFO_LINE
        + "process 0 pid=0 parent=0 start=0 end=0 [rustc --crate-name a] [a] [typeck] [-] [-] [mir_built]\n"
        + "thread 0/4711 [typeck]\nthread 0/4712 [a]\ncosts subtracted 430000 13800000 400000 13700000\n"
        + WHOLE
    )
    took = chunk(OVERHEAD, varint(1, 7)) + chunk(OVERHEAD, varint(8, 10, 20, 30, 40, 50, 2, 7000, 99))
    yield "overhead", header() + info() + took + end(0, 0, 0), (
        INFO_LINE + "overhead 7 0 0 0 0 0 0 0 0 0 0\noverhead 10 20 30 40 50 2 7000 99 0 0 0\n" + WHOLE
    )
    yield "part", header() + info() + chunk(PART, varint(3)) + end(0, 0, 0), INFO_LINE + "part 3\n" + WHOLE
    # The last reason is that of a later version.
    again = chunk(REBUILT, varint(3, 3, 3, 1, 0, 0, 10, 1, 1, 99))
    yield "rebuilt", header() + info() + NAMES + again + end(4, 0, 0, 0), (
        INFO_LINE + "rebuilt [a] file [rustc --crate-name a]\nrebuilt [typeck] dependency [-]\n"
        "rebuilt [mir_built] unknown [typeck]\n" + WHOLE
    )
    at = len(header() + BODY)
    yield "index", header() + BODY + index(0, 32, *indexed(BODY)) + end(4, 1, 4, 0, at), BODY_LINES + WHOLE
    # A reader that trusts this index may skip wanted spans; the file itself is valid.
    lie = [e if e[0] != SPANS else e[:-2] + varint(1, 5, 0) for e in indexed(BODY)]
    lies = header() + BODY + index(0, 32, *lie) + end(4, 1, 4, 0, at)
    # An index selects what is read but does not change it, so a wrong one is no damage.
    yield "index-lies", lies, BODY_LINES + WHOLE
    yield "index-wrong", header() + BODY + index(0, 7, b"\x04\x00\xff") + end(4, 1, 4, 0, at), BODY_LINES + WHOLE
    yield "index-nowhere", header() + SHARED + end(8, 1, 4, 5, 1 << 60), SHARED_LINES + WHOLE
    # The span summaries are right: a reader that filters by another process may skip the chunk.
    for name, stored, n in (("index-right", 0, 0), ("index-count", 0, 1), ("index-size", 3, 0)):
        said = [*indexed(OTHERS, processes=(1,))]
        said[-1] = varint(SPANS, len(OTHERS_BATCH) - stored) + varint(2 + n) + said[-1][3:]
        at = len(header() + OTHERS)
        yield name, header() + OTHERS + index(0, 32, *said) + end(4, 2, 2, 0, at), OTHERS_LINES + WHOLE
    # Two indexes of late names: one begins behind them, the other has a wrong type for them.
    *_, last = indexed(SHARED)
    at = len(header() + SHARED)
    first = at - 16 - last[1]
    late = index(0, first, last)
    yield "index-late", header() + SHARED + late + end(8, 1, 4, 5, at), SHARED_LINES + WHOLE
    typed = [varint(200) + e[1:] if e[0] == MAPPINGS else e for e in indexed(SHARED)]
    typed[-1] = last
    yield "index-types", header() + SHARED + index(0, 32, *typed) + end(8, 1, 4, 5, at), SHARED_LINES + WHOLE
    # Offsets that wrap at 2^64, and so describe many chunks in a small file.
    wraps = index(0, at - 1000 * 16, *[varint(STRINGS, 0)] * 1000)
    yield "index-wraps", header() + SHARED + wraps + end(8, 1, 4, 5, at), SHARED_LINES + WHOLE
    kinds = strings(4, "typeck (QueryBlocked)", "QueryBlocked", "LLVM Pass", "x", "y", "QueryCacheHitCount")
    listed = labels((4, 5, 0), (7, 6, 1)) + labels((8, 9, 0))
    three = spans_payload(
        [(0, 1, 3)], [(0, 0, 4, 0, 0, 10), (0, 0, 7, 0, 0, 20), (0, 0, 0, 0, 0, 30)], 0
    )
    yield "kinds", (
        header() + info() + NAMES + kinds + listed + ONE + chunk(SPANS, three)
        + tallies((0, 8, 2, 300), (0, 1, 1, 5)) + end(10, 1, 3)
    ), (
        INFO_LINE
        + ONE_LINE
        + "span 0/1 depth=0 0..10 typeck [QueryBlocked]\n"
        + "span 0/1 depth=0 10..30 mir_built [LLVM Pass]\n"
        + "span 0/1 depth=0 30..60 typeck\n"
        + "tally 0 typeck [QueryCacheHitCount] 2 300\n"
        + "tally 0 mir_built [Query] 1 5\n"
        + WHOLE
    )
    # The later of two types of one query holds; a type may be that of several.
    yield "keys", (
        header() + info() + NAMES + strings(4, "DefId", "Instance") + keys((0, 4), (1, 4)) + ONE
        + keys((0, 5)) + end(6, 1, 0)
    ), (
        INFO_LINE
        + ONE_LINE
        + "key of typeck: Instance\nkey of mir_built: DefId\n"
        + WHOLE
    )
    yield "callers", (
        header() + info() + CODE + ONE + ASKED
        + functions(12, [(2, 4)], (0, 0x3000, 1)) + ASKED_MORE
        + lines((2, [(5, 3)], [(40, 1), (41, 2)])) + lines((0, [(5, 2), (0, 4)], [(70, 1), (7, 1), (0, 4)]))
        + end(6, 1, 7)
    ), (
        INFO_LINE
        + ONE_LINE
        + "span 0/1 depth=0 0..10 typeck from=rustc::ask+2@src/a.rs:7\n"
        + "span 0/1 depth=0 10..20 typeck from=rustc::ask+1@src/a.rs:70\n"
        + "span 0/1 depth=0 20..30 typeck from=rustc::ask+0\n"  # no instruction is before it
        + "span 0/1 depth=0 30..40 typeck from=rustc::ask+6\n"  # no line is known there
        + "span 0/1 depth=0 40..50 typeck from=8\n"  # in no function
        + "span 0/1 depth=0 50..60 typeck\n"
        + "span 0/1 depth=0 60..70 typeck from=mir_built+3@src/a.rs:41\n"
        + WHOLE
    )
    # main calls ask: location 3 in it, then a query that asks again. Later typeck is below that too.
    tree = Stacks()
    first = chunk(STACKS, tree.payload((0, 0, 3), (1, 1, 0), (2, 0, 5), (2, 0, 6), (2, 6, 0)))
    more = chunk(STACKS, tree.payload((4, 1, 1), (6, 0, 5), (4, 0, 6), (8, 2, 4), (0, 0, 0), (1, 1, 0)))
    file = chunk(FILES, varint(1, 3, 4))
    early = [(1, 0, 2000000, 5000000, 3), (2, 1, 70000, 6000000, 4), (1, 0, 2000000, 7070003, 3)]
    later = [(3, 4, 409600, 8000000, 11, 2, 8), (1, 0, 1000, 9000000, 7, 0, 0), (1, 2, 1000, 9001000, 9, 3, 1)]
    named = strings(6, "typeck (QueryBlocked)", "QueryBlocked") + labels((6, 7, 0))
    yield "samples", (
        header() + info() + CODE_NAMES + file + functions(1, [(0, 7), (-1, 1), (1, 3)], (3, 0x1000, 5), (3, 0x2000, 5))
        + named + ONE + sampling(499, 100, 1) + first
        + chunk(SAMPLES, samples_payload(4999999, 4, (0, 9, early), (0, 8, [(1, 0, 2000000, 5000001, 0)])))
        + more + chunk(SAMPLES, samples_payload(8000000, 10, (0, 9, later), columns=1))
        + chunk(SPANS, spans_payload([(0, 1, 1)], [(0, 0, 0, 0, 0, 10)], 0)) + end(8, 1, 1)
    ), (
        INFO_LINE
        + ONE_LINE
        + "sampling 499 Hz, faults by 100, off-cpu\n"
        + "sample 0/9 cpu 5000000 2000000 stack=3: rustc::ask+4(src/a.rs) 1:typeck rustc::ask+2(src/a.rs)\n"
        + "sample 0/9 off-cpu 6000000 70000 cut=1 stack=4: rustc::ask+5(src/a.rs) 1:typeck rustc::ask+2(src/a.rs)\n"
        + "sample 0/9 cpu 7070003 2000000 stack=3: rustc::ask+4(src/a.rs) 1:typeck rustc::ask+2(src/a.rs)\n"
        + "sample 0/8 cpu 5000001 2000000 stack=0:\n"
        + "sample 0/9 fault 8000000 409600 cut=4 in=typeck [QueryBlocked] depth=2 stack=11: 1:typeck"
        + " rustc::ask+2(src/a.rs)\n"
        + "sample 0/9 cpu 9000000 1000 stack=7: rustc::ask+4(src/a.rs) 1:mir_built rustc::ask+5(src/a.rs) 1:typeck"
        + " rustc::ask+2(src/a.rs)\n"
        + "sample 0/9 cpu 9001000 1000 cut=2 in=typeck [QueryBlocked] depth=3 stack=9: 2:src/a.rs"
        + " rustc::ask+5(src/a.rs) rustc::ask+5(src/a.rs) 1:typeck rustc::ask+2(src/a.rs)\n"
        + "span 0/1 depth=0 0..10 typeck\n"
        + WHOLE
    )
    yield "sampling-additions", header() + info() + sampling(1, 0, 0xFC, b"more") + end(0, 0, 0), (
        INFO_LINE + "sampling 1 Hz, faults by 0\n" + WHOLE
    )
    yield "sampling-light", header() + info() + sampling(0, 10, 2) + end(0, 0, 0), (
        INFO_LINE + "sampling 0 Hz, faults by 10, light\n" + WHOLE
    )
    # Additions of a later version that need no new version number.
    # The peak of its memory, CPU time, kill, why LLVM is not known, and more.
    extra = varint(300 << 20, 1500, 1, 4) + b"\xff\xff\xff"
    later = processes(process(0, 0, 4711, 4710, 2000, 0, 0, (3, 4, 0, 0, 0, 0), extra=extra))
    unknown = chunk(200, b"whatever", flags=0xFE, reserved=7, raw=1 << 31)
    within = jobs((0, 1, None, 0), (0, 0, 7, 1)) + jobs((0, 1, None, 1), (0, 1, None, 0))
    in_jobs = [(1, 0, 1000, 5000, 1, 3), (1, 0, 1000, 6000, 0, 0), (3, 0, 4096, 7000, 1, 4), (1, 0, 1000, 8000, 1, 2)]
    yield "jobs", (
        header() + info() + CODE + ONE + sampling(499, 100, 0) + stacks((0, 0, 3)) + within
        + chunk(SAMPLES, samples_payload(4999, 1, (0, 9, in_jobs), columns=2)) + mappings(0, (7, 0, 1, [4])) + end(6, 1, 0, 1)
    ), (
        INFO_LINE
        + ONE_LINE
        + "sampling 499 Hz, faults by 100\n"
        + "sample 0/9 cpu 5000 1000 job=3:mir_built job=2:typeck(7) job=1:mir_built stack=1: rustc::ask+2\n"
        + "sample 0/9 cpu 6000 1000 stack=0:\n"
        + "sample 0/9 fault 7000 4096 job=4:mir_built stack=1: rustc::ask+2\n"
        + "sample 0/9 cpu 8000 1000 job=2:typeck(7) job=1:mir_built stack=1: rustc::ask+2\n"
        + WHOLE
    )
    # Of a process's symbol, the last item counts. Readers look them up.
    yield "symbols", (
        header() + info() + NAMES + ONE + symbols((0, 0, 1), (0, 2, 3)) + symbols((0, 0, 3)) + end(4, 1, 0)
    ), (INFO_LINE + ONE_LINE + WHOLE)
    yield "later-additions", (
        header(size=40, extra=b"12345678") + info() + unknown + NAMES + later + losses(*range(1, 25)) + end(4, 1, 0)
    ), (
        INFO_LINE
        + ONE_LINE.replace("end=0", "end=0 peak=314572800 cpu=1500 kill=1 no_llvm=[a]")
        + "losses ring_full=1 stack_full=2 no_storage=3 recursion=4 process_record=5 targets_full=6"
        + " end_without_start=7 unwound=8 left=9 open=10 unknown_provider=11 bad_record=12"
        + " hits=13 hits_other=14 label=15 caller=16 mappings=17 compilers=18 names=19 samples=20 results=21"
        + " jobs=22 llvm=23\n"
        + WHOLE
    )


def bad():
    def refused(code, why):
        return f"refused: {code}: {why}\n"

    def problem(lines, what):
        return lines + f"problem: {what}\n"

    damaged = "damaged at byte {}: {}".format
    start = len(header() + info())
    yield "not-a-trace", b"\x7fELF" + bytes(100), refused("EBADMSG", "it does not begin as a trace does")
    yield "empty-file", b"", refused("EBADMSG", "it is shorter than a trace's header")
    yield "newer-version", header(version=2) + BODY, refused("EPROTONOSUPPORT", "it was written by a newer version")
    yield "newer-features", header(features=1) + BODY, refused("EPROTONOSUPPORT", "it was written by a newer version")
    yield "header-size", header(size=31) + BODY, refused("EBADMSG", "its header makes no sense")
    yield "header-reserved", header(reserved=1) + BODY, refused("EBADMSG", "its header makes no sense")
    yield "header-crc", header()[:9] + b"\1" + header()[10:] + BODY, refused("EBADMSG", "its header is damaged")
    malformed = refused("EBADMSG", "its first chunk is malformed")
    yield "clock", header() + info(2) + end(0, 0, 0), malformed
    yield "no-info", header() + NAMES, refused("EBADMSG", "its first chunk is not what a trace begins with")
    yield "cut-in-info", header() + info()[:-1], refused("EBADMSG", "its first chunk is cut short or damaged")
    yield "killed", header(state=0xFFFFFFFF) + BODY, problem(
        BODY_LINES, f"unfinished: still recording, or interrupted; whole up to byte {len(header() + BODY)}"
    )
    yield "killed-before-sync", header(state=0xFFFFFFFF) + BODY + end(4, 1, 4), problem(
        BODY_LINES, "unfinished: whole, but interrupted before it was synced"
    )
    yield "cut-in-spans", (header() + BODY)[:-1], problem(
        INFO_LINE + ONE_LINE,
        f"cut short at byte {len(header() + BODY) - 1}: whole up to byte {len(header() + info() + NAMES + ONE)}",
    )
    yield "no-end", header() + BODY, problem(
        BODY_LINES, "cut short at byte {0}: whole up to byte {0}".format(len(header() + BODY))
    )
    yield "after-end", header() + BODY + end(4, 1, 4) + b"x", problem(
        BODY_LINES, damaged(len(header() + BODY + end(4, 1, 4)), "bytes after its end")
    )
    yield "missing-spans", header() + BODY + end(4, 1, 5), problem(
        BODY_LINES, damaged(len(header() + BODY), "it does not hold what its end says")
    )
    yield "info-twice", header() + info() + info(), problem(INFO_LINE, damaged(start, "it begins twice"))
    yield "missing-names", header() + info() + strings(1, "a"), problem(INFO_LINE, damaged(start, "names are missing"))
    yield "nul-in-name", header() + info() + strings(0, "a\0b"), problem(
        INFO_LINE, damaged(start, "a name is malformed")
    )
    for name, broken in (
        ("string-of-itself", ["a", 1]),
        ("string-of-later", ["a", 5]),
        ("string-of-one", ["a"]),
        ("string-of-nothing", ["a", ""]),
    ):
        yield name, header() + info() + strings(0, broken), problem(INFO_LINE, damaged(start, "a name is malformed"))
    # Each string is twice the one before: the 21st would be 2 MiB.
    doubled = strings(0, "xy", *[[1, 1]] * 20)
    yield "string-too-long", header() + info() + doubled, problem(INFO_LINE, damaged(start, "a name is malformed"))
    nested = strings(0, "x", *[["y", 1]] * 256)
    yield "string-too-deep", header() + info() + nested, problem(INFO_LINE, damaged(start, "a name is malformed"))
    names_end = start + len(NAMES + ONE)
    for name, broken in (
        ("places-process", places(1, (0, 0, 1))),
        ("places-string", places(0, (4, 0, 1))),
        ("places-below", places(0, (-1, 0, 1))),
        ("places-file", places(0, (0, 4, 1))),
        ("places-line", places(0, (0, 0, 0))),
        ("places-long-line", places(0, (0, 0, 1 << 32))),
        ("places-call-file", places(0, (0, 0, 1, 4, 0))),
        ("places-call-line", places(0, (0, 0, 1, 0, -1))),
        ("places-none", places(0)),
        ("places-short", chunk(PLACES, varint(0, 1, 0, 0))),
        ("places-bytes-left", chunk(PLACES, varint(0, 1, 0, 0, 2, 0))),
    ):
        yield name, header() + info() + NAMES + ONE + broken, problem(
            INFO_LINE + ONE_LINE, damaged(names_end, "a list of places is malformed")
        )
    for name, broken in (
        ("mapping-process", mappings(2, (0, 0, 1, [0]))),
        ("mapping-string", mappings(1, (0, 0, 1, [4]))),
        ("mapping-series", mappings(1, (0, 1, 5, [0]))),
        ("mapping-how", mappings(1, (0, 3, 1, [0]))),
        ("mapping-range", mappings(0, ((1 << 31) - 1, 0, 2, [0]))),
        ("mapping-many", mappings(1, (0, 0, (1 << 27) + 1, [0]))),
        ("mapping-none", mappings(1, (0, 0, 0, []))),
    ):
        yield name, header() + info() + NAMES + ONE + broken, problem(
            INFO_LINE + ONE_LINE, damaged(names_end, "a mapping of names is malformed")
        )
    for name, payload in (("string", varint(2, 0, 4)), ("fewer", varint(2, 0)), ("bytes-left", varint(1, 0, 1))):
        yield "foreign-" + name, header() + info() + NAMES + ONE + chunk(FOREIGN, payload), problem(
            INFO_LINE + ONE_LINE, damaged(names_end, "a list of other crates is malformed")
        )
    yield "thread-process", header() + info() + NAMES + ONE + chunk(THREADS, varint(1, 1, 1, 0)), problem(
        INFO_LINE + ONE_LINE, damaged(names_end, "a thread record is malformed")
    )
    yield "costs", header() + info() + chunk(COSTS, varint(2, 0)), problem(
        INFO_LINE, damaged(start, "a record of costs is malformed")
    )
    yield "overhead", header() + info() + chunk(OVERHEAD, varint(2, 0)), problem(
        INFO_LINE, damaged(start, "a record of what recording took is malformed")
    )
    yield "part", header() + info() + chunk(PART, varint(0)), problem(
        INFO_LINE, damaged(start, "the number of a part is malformed")
    )
    for name, payload, what in (
        ("none", varint(0), "a list of rebuilt crates is empty"),
        ("crate", varint(1, 4, 0, 0), "a rebuilt crate is malformed"),
        ("detail", varint(1, 0, 5, 0), "a rebuilt crate is malformed"),
        ("short", varint(2, 0, 0, 0), "a rebuilt crate is malformed"),
        ("long", varint(1, 0, 0, 0, 0), "a rebuilt crate is malformed"),
    ):
        named = header() + info() + NAMES
        lines_before = INFO_LINE + ("rebuilt [typeck] unknown [-]\n" if name == "short" else "")
        yield f"rebuilt-{name}", named + chunk(REBUILT, payload), problem(lines_before, damaged(len(named), what))
    later = spans_payload([(0, 1, 1)], [(0, 0, 0, 0, 0, 1)], 0, absent=2)
    yield "span-columns", header() + info() + NAMES + ONE + chunk(SPANS, later), problem(
        INFO_LINE + ONE_LINE, damaged(names_end, "the threads of a batch do not add up")
    )
    yield "process-gap", header() + info() + processes(process(1)), problem(
        INFO_LINE, damaged(start, "a process record is malformed")
    )
    yield "process-name", header() + info() + NAMES + processes(process(0, refs=(5, 0, 0, 0, 0, 0))), problem(
        INFO_LINE, damaged(start + len(NAMES), "a process record is malformed")
    )
    yield "spans-before-names", header() + info() + chunk(SPANS, BATCH), problem(
        INFO_LINE, damaged(start, "spans of a process it does not hold")
    )
    backwards = spans_payload([(0, 1, 1)], [(0, 0, 0, 0, U64 - 5, 10)], 0)
    yield "span-backwards", header() + info() + NAMES + ONE + chunk(SPANS, backwards), problem(
        INFO_LINE + ONE_LINE, damaged(start + len(NAMES + ONE), "a span ends before it starts")
    )
    flags = spans_payload([(0, 1, 1)], [(8, 0, 0, 0, 0, 1)], 0)
    yield "span-flags", header() + info() + NAMES + ONE + chunk(SPANS, flags), problem(
        INFO_LINE + ONE_LINE, damaged(start + len(NAMES + ONE), "a span has unknown flags")
    )
    code_end = start + len(CODE)
    record = (3, 0x3000, 5)
    for name, broken in (
        ("overlap", functions(11, [(2, 4)], record)),
        ("backwards", functions(1, [(2, 4)], record)),
        ("number", functions(12, [(3, 4)], record)),
        ("twice", functions(12, [(1, 4)], record)),
        ("beyond", functions((1 << 32) - 4, [(2, 4)], record)),
        ("long", functions(12, [(2, (1 << 32) - 1)], record)),
        ("none", functions(12, [(-1, 4)])),
        ("fewer", functions(12, [(2, 4)], record, n=2)),
        ("library", functions(12, [(2, 4)], (6, 0x3000, 5))),
        ("name", functions(12, [(2, 4)], (3, 0x3000, 6))),
        ("table", chunk(FUNCTIONS, varint(1, 12, zigzag(3), 4))),
    ):
        yield f"functions-{name}", header() + info() + CODE + broken, problem(
            INFO_LINE, damaged(code_end, "a list of functions is malformed")
        )
    for name, broken in (
        ("function", lines((2, [(5, 3)], [(40, 3)]))),
        ("short", lines((0, [(5, 5)], [(40, 6)]))),
        ("long", lines((0, [(5, 6)], [(40, 7)]))),
        ("file", lines((0, [(7, 6)], [(40, 6)]))),
        ("twice", lines((0, [(5, 6)], [(40, 6)]), (0, [(5, 6)], [(40, 6)]))),
        ("none", lines()),
        ("table", chunk(LINES, varint(1, 0, zigzag(6), 6, 0, zigzag(41), 0, 0))),
    ):
        yield f"lines-{name}", header() + info() + CODE + broken, problem(
            INFO_LINE, damaged(code_end, "a table of lines is malformed")
        )
    # The third function comes after its use.
    yield "span-caller", header() + info() + CODE + ONE + ASKED_MORE + functions(12, [(2, 4)], record), problem(
        INFO_LINE + ONE_LINE, damaged(code_end + len(ONE), "a span has a caller the file does not hold")
    )
    for name, records, what in (
        ("name", [(0, 1, 4)], "a list of labels is malformed"),
        ("own-name", [(0, 1, 0)], "a list of labels is malformed"),
        ("empty", [], "a list of labels is malformed"),
        ("twice", [(0, 1, 2), (0, 2, 3)], "a label is listed twice, or as a query's"),
        ("chain", [(0, 1, 2), (3, 1, 0)], "a label is listed twice, or as a query's"),
    ):
        yield f"labels-{name}", header() + info() + NAMES + labels(*records), problem(
            INFO_LINE, damaged(start + len(NAMES), what)
        )
    yield "tally-label", header() + info() + NAMES + ONE + tallies((0, 0, 1, 1), (0, 4, 1, 1)), problem(
        INFO_LINE + ONE_LINE + "tally 0 typeck [Query] 1 1\n",
        damaged(start + len(NAMES + ONE), "a tally is malformed"),
    )
    yield "tallies-empty", header() + info() + tallies(), problem(
        INFO_LINE, damaged(start, "a list of tallies is empty")
    )
    for name, payload in (
        ("none", varint(0)),
        ("query", varint(1, 4, 0)),
        ("type", varint(1, 0, 4)),
        ("short", varint(2, 0, 1)),
        ("bytes-left", varint(1, 0, 1, 0)),
        ("many", varint(5, 0, 1)),
    ):
        yield f"keys-{name}", header() + info() + NAMES + chunk(KEYS, payload), problem(
            INFO_LINE, damaged(start + len(NAMES), "a list of types of keys is malformed")
        )
    # What a recording with a budget leaves out is not known any more.
    off = chunk(DECISIONS, varint(1, 10, 2500, 0, 2, 61000, 50000))
    yield "decisions", header() + info() + NAMES + ONE + off + chunk(SPANS, BATCH) + end(5, 1, 4), (
        INFO_LINE + ONE_LINE + "refused: EPROTONOSUPPORT\n"
    )
    code_lines = INFO_LINE + ONE_LINE + "sampling 1 Hz, faults by 0\n"
    code = header() + info() + CODE + ONE + sampling(1, 0, 0)
    deep = [(i, 0, 1) for i in range(2049)]
    for name, payload, what in (
        ("first", varint(2, 1, 1, 1, 1, 0, 2), "stacks are missing"),
        ("none", varint(1, 0, 0), "a list of stacks has a bad size"),
        ("many", varint(1, 65537, 1), "a list of stacks has a bad size"),
        ("chains", varint(1, 1, 2, 1, 1, 1, 1, 0, 2), "a list of stacks has a bad size"),
        ("short", varint(1, 2, 1, 2, 1, 0), "a list of stacks is too short"),
        ("chain", varint(1, 2, 2, 1, 2, 1, 1, 0, 0, 2, 2), "a list of stacks is malformed"),
        ("fewer", varint(1, 2, 1, 1, 1, 0, 0, 2, 2), "a list of stacks is malformed"),
        ("parent", varint(1, 1, 1, 1, 2, 0, 2), "a list of stacks is malformed"),
        ("own-parent", varint(1, 1, 1, 1, 0, 0, 2), "a list of stacks is malformed"),
        ("location", Stacks().payload((0, 0, 12)), "a list of stacks is malformed"),
        ("string", Stacks().payload((0, 1, 6)), "a list of stacks is malformed"),
        ("unknown", Stacks().payload((0, 6, 1)), "a list of stacks is malformed"),
        ("kind", Stacks().payload((0, 7, 0)), "a list of stacks is malformed"),
        ("kind-of-location", varint(1, 1, 1, 1, 1, 1, 8), "a list of stacks is malformed"),
        ("list", varint(1, 1, 1, 1, 1, 2), "a list of stacks is malformed"),
        ("number", varint(1, 1, 1, 1, 1, 10), "a list of stacks is malformed"),
        ("new-places", varint(1, 1, 1, 1, 1, 0, 2, 2), "a list of stacks is malformed"),
        ("deep", Stacks().payload(*deep), "a list of stacks is malformed"),
    ):
        yield f"stacks-{name}", code + chunk(STACKS, payload), problem(code_lines, damaged(len(code), what))
    for name, records in (
        ("process", [(1, 0, None, 0)]),
        ("query", [(0, 6, None, 0)]),
        ("parent", [(0, 0, None, 1)]),
        ("invocation", [(0, 0, (1 << 32) - 1, 0)]),
        ("deep", [(0, 0, None, min(i, 1)) for i in range(2049)]),
    ):
        yield f"jobs-{name}", code + jobs(*records), problem(
            code_lines, damaged(len(code), "a list of jobs is malformed")
        )
    for name, payload in (
        ("none", varint(0)),
        ("process", varint(1, 1, 0, 0)),
        ("symbol", varint(1, 0, 6, 0)),
        ("item", varint(1, 0, 0, 6)),
        ("short", varint(2, 0, 0, 0)),
        ("long", varint(1, 0, 0, 0, 0)),
    ):
        yield f"symbols-{name}", code + chunk(SYMBOLS, payload), problem(
            code_lines, damaged(len(code), "a list of symbols is malformed")
        )
    sample = (1, 0, 5, 100, 1)
    code += stacks((0, 0, 3))
    add_up, no_name = "the threads of a batch do not add up", "a sample has a name the file does not hold"
    for name, payload, what in (
        ("process", samples_payload(0, 0, (1, 1, [sample])), "samples of a process it does not hold"),
        ("threads", samples_payload(0, 0, (0, 1, [sample]))[:6] + b"\3" + bytes(9), add_up),
        ("columns", samples_payload(0, 0, (0, 1, [sample + (0, 0)]), columns=8), add_up),
        ("cause", samples_payload(0, 0, (0, 1, [(0,) + sample[1:]])), "a sample has an unknown cause"),
        ("cut", samples_payload(0, 0, (0, 1, [(1, 5) + sample[2:]])), "a sample has an unknown cause"),
        ("late", samples_payload(0, 0, (0, 1, [(2, 0, -100, 100, 1)])), "a sample ends before it starts"),
        ("stack", samples_payload(0, 0, (0, 1, [sample[:4] + (2,)])), "a sample has a stack the file does not hold"),
        ("below", samples_payload(0, 0, (0, 1, [sample[:4] + (-1,)])), "a sample has a stack the file does not hold"),
        ("depth", samples_payload(0, 0, (0, 1, [sample + (65536, 0)]), columns=1), "a sample is nested too deep"),
        ("label", samples_payload(0, 0, (0, 1, [sample + (1, 8)]), columns=1), no_name),
        ("same", samples_payload(0, 0, (0, 1, [sample + (1, 1)]), columns=1), no_name),
        ("job", samples_payload(0, 0, (0, 1, [sample + (1,)]), columns=2), "a sample has a job the file does not hold"),
        ("none", samples_payload(0, 0), "a batch of samples has a bad size"),
        ("bytes-left", samples_payload(0, 0, (0, 1, [sample])) + b"\0", "a batch of samples does not fill its chunk"),
    ):
        yield f"samples-{name}", code + chunk(SAMPLES, payload), problem(code_lines, damaged(len(code), what))
    payload = samples_payload(0, 0, (0, 1, [(1, 0, 5, 100, 0)]))
    yield "samples-before-sampling", header() + info() + NAMES + ONE + chunk(SAMPLES, payload), problem(
        INFO_LINE + ONE_LINE, damaged(names_end, "it does not say how it samples")
    )
    yield "sampling-twice", header() + info() + sampling(1, 0, 0) + sampling(1, 0, 0), problem(
        INFO_LINE + "sampling 1 Hz, faults by 0\n",
        damaged(start + len(sampling(1, 0, 0)), "how it samples is stored twice"),
    )
    for name, payload in (("short", varint(1, 0)), ("rate", varint(1 << 32, 0, 0))):
        yield f"sampling-{name}", header() + info() + chunk(SAMPLING, payload), problem(
            INFO_LINE, damaged(start, "the record of how it samples is malformed")
        )
    for name, payload in (
        ("none", varint(0)), ("library", varint(1, 4, 0)), ("path", varint(1, 0, 4)), ("bytes-left", varint(1, 0, 1, 0))
    ):
        yield f"files-{name}", header() + info() + NAMES + chunk(FILES, payload), problem(
            INFO_LINE, damaged(start + len(NAMES), "a list of files is malformed")
        )
    yield "chunk-flags", header() + info() + chunk(LOSSES, varint(0), flags=2), problem(
        INFO_LINE, damaged(start, "a chunk has unknown flags")
    )
    yield "chunk-length", header() + info() + struct.pack("<BBHIII", LOSSES, 0, 0, 0xFFFFFFFF, 0, 0), problem(
        INFO_LINE, damaged(start, "a chunk is too long")
    )
    yield "chunk-raw-length", header() + info() + chunk(LOSSES, b"\x28\xb5\x2f\xfd", flags=1, raw=0xFFFFFFFF), problem(
        INFO_LINE, damaged(start, "a chunk is too long")
    )
    yield "chunk-two-sizes", header() + info() + chunk(LOSSES, varint(0), raw=2), problem(
        INFO_LINE, damaged(start, "a chunk has two sizes")
    )
    yield "chunk-zstd", header() + info() + chunk(LOSSES, b"no zstd frame", flags=1, raw=9), problem(
        INFO_LINE, damaged(start, "a chunk does not decompress")
    )
    yield "chunk-crc", header() + info() + losses(1)[:-1] + b"\2", problem(
        INFO_LINE, damaged(start, "a chunk does not match its checksum")
    )


def doubled(n):
    """Strings, each but the first twice the one before: the last has 2^(n - 1) bytes."""
    return strings(0, "x", *([1, 1] for _ in range(n - 1)))


def expands():
    """Files that expand far more than recordings do; each is read, and takes little memory."""
    n = 65536
    batch = packed(SPANS, varint(n, 1, 5, 0, 0, 7, n), (0, 8 * n))
    one = info() + strings(0, "q") + processes(process(0, pid=1))
    yield "spans", header() + one + batch * 5
    # Equal records of 16 bytes each, without texts.
    yield "losses", header() + one + packed(LOSSES, varint(1 << 20), (0, 1 << 20)) * 8
    names = info() + doubled(21)
    long = process(0, pid=1, refs=(21,) * 6)
    yield "commands", header() + names + processes(*[long] * 20)
    yield "threads", header() + names + processes(process(0, pid=1)) + chunk(
        THREADS, varint(50) + b"".join(varint(0, i, 20) for i in range(50))
    )
    events = spans_payload([(0, 7, 20)], [(0, 0, 0, 1, 0, 1)] + [(0, 0, 0, 1 + zigzag(-1), 0, 1)] * 19, 5)
    yield "events", header() + names + processes(process(0, pid=1)) + mappings(1, (0, 0, 1, (20,))) + chunk(
        SPANS, events
    )
    # Repeated ranges of the same ids, none of which fills an aligned block.
    runs = [(1 if i == 0 else -2046, 0, 2046, (0 if i == 0 else -1,)) for i in range(2000)]
    yield "mappings", header() + one + mappings(1, *runs)
    # Each entry takes three equal bytes; every 64th is one deeper than those before.
    n = 65536
    columns = (1, n), varint(*range(1, 65)), (64, n - 64), b"\0", (2, n - 1), b"\0"
    yield "stacks", header() + one + packed(STACKS, varint(1, n, n), *columns)
    # 70,000 times a name of 1 MiB, in records that are all zeroes.
    yield "too-much", header() + info() + packed(STRINGS, varint(0, 1, 1 << 21), (ord("n"), 1 << 20)) + processes(
        process(0, pid=1)
    ) + packed(THREADS, varint(70000), (0, 3 * 70000))
    # 20 million items, each the same string.
    lists = ((varint(0, 0, 0, 4096), (0, 4096)) * 1000)
    yield "too-many-results", header() + one + packed(RESULTS, varint(1000), *lists) * 5
    yield "places", header() + one + packed(PLACES, varint(0, 1 << 20) + b"\0\0\2", (0, 3 * ((1 << 20) - 1)))


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for kind, cases in (("good", good()), ("bad", bad())):
        for name, data, expected in cases:
            path = os.path.join(directory, f"{kind}-{name}")
            with open(path + ".qpt", "wb") as out:
                out.write(data)
            with open(path + ".txt", "w", encoding="utf-8") as out:
                out.write(expected)
    for name, data in expands():
        with open(os.path.join(directory, f"expands-{name}.qpt"), "wb") as out:
            out.write(data)


if __name__ == "__main__":
    main()
