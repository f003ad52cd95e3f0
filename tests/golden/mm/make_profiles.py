#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Write .mm_profdata files, good and bad, from the description in qprof/measureme_format.h alone.

    make_profiles.py [DIRECTORY]

Shares no code with the program. The text beside each file is the trace that its import makes, or
why it is refused; it is written by hand below, not by a reader. Output is the same on every run.
"""
import os
import struct
import sys

EVENTS, DATA, INDEX = range(3)
MAGICS = {EVENTS: b"MMES", DATA: b"MMSD", INDEX: b"MMSI"}
METADATA, INVALID, FIRST = 100_000_001, 100_000_002, 100_000_003
INSTANT, INTEGER = 0xFFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFE
START = 1_700_000_000 * 10**9  # of the process; also when the files without metadata were changed
PLAIN = '{ "start_time": %d, "process_id": 4711, "cmd": "rustc --crate-name a --crate-type lib x.rs " }' % START


class Profile:
    def __init__(self, version=9, metadata=PLAIN):
        self.version = version
        self.id = "<Q" if version == 9 else "<I"
        head = struct.pack("<I", version)
        self.streams = {tag: magic + head for tag, magic in MAGICS.items()}
        if metadata is not None:
            self.map(METADATA, self.string(metadata))

    def ref(self, string_id):
        return b"\xfe" + struct.pack(self.id, string_id)

    def string(self, *parts):
        """Texts and bytes as they are; returns the id."""
        address = len(self.streams[DATA])
        raw = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
        self.streams[DATA] += raw + b"\xff"
        return FIRST + address

    def map(self, virtual, string_id):
        self.streams[INDEX] += struct.pack(self.id, virtual) + struct.pack(self.id, string_id - FIRST)

    def event(self, kind, event_id, thread, first, second):
        high = (first >> 32) << 16 | second >> 32
        self.streams[EVENTS] += struct.pack(self.id, kind) + struct.pack(self.id, event_id)
        self.streams[EVENTS] += struct.pack("<IIII", thread, first & 0xFFFFFFFF, second & 0xFFFFFFFF, high)

    def pages(self, size=1 << 20, order=(EVENTS, DATA, INDEX)):
        """Pages of at most that size, the streams taking turns."""
        left = dict(self.streams)
        while any(left.values()):
            for tag in order:
                if left.get(tag):
                    yield struct.pack("<BI", tag, len(left[tag][:size])) + left[tag][:size]
                    left[tag] = left[tag][size:]

    def bytes(self, **kwargs):
        return b"MMPD" + struct.pack("<I", self.version) + b"".join(self.pages(**kwargs))


def simple(**kwargs):
    """typeck #7 with mir_built #8 inside, then a phase; the hits of typeck; on another thread a wait."""
    p = Profile(**kwargs)
    query, activity = p.string("Query"), p.string("GenericActivity")
    count, blocked = p.string("QueryCacheHitCount"), p.string("QueryBlocked")
    typeck = p.string("typeck")
    p.map(8, p.string("mir_built"))
    p.map(7, p.string(p.ref(typeck), "\x1e", "DefId(0:1)"))
    p.event(query, 8, 3, 110, 140)
    p.event(query, 7, 3, 100, 150)
    p.event(blocked, 7, 4, 105, 151)
    p.event(activity, p.string("link", b"\xfe" + struct.pack(p.id, typeck)), 3, 150, 1 << 40)
    p.event(count, 7, 3, 12, INTEGER)
    p.event(count, typeck, 3, 30, INTEGER)
    return p


def info():
    return f"info [qprof-bpf import] [] [] {START} {START}\n"


def process(end, pid=4711, command="rustc --crate-name a --crate-type lib x.rs", crate="a", crate_type="lib"):
    return f"process 0 pid={pid} parent=0 start={START} end={START + end} [{command}] [{crate}] [{crate_type}] [-] [-] [-]\n"


def span(thread, depth, start, end, rest):
    return f"span 0/{thread} depth={depth} {START + start}..{START + end} {rest}\n"


LAST = 1 << 40
SIMPLE_SPANS = (
    span(3, 1, 110, 140, "mir_built #8 event=")
    + span(3, 0, 100, 150, "typeck #7 event=DefId(0:1)")
    + span(3, 0, 150, LAST, "linktypeck [GenericActivity]")
    + span(4, 0, 105, 151, "typeck [QueryBlocked] #7 event=DefId(0:1)")
)
SIMPLE = info() + process(LAST) + SIMPLE_SPANS + "tally 0 typeck [QueryCacheHitCount] 2 42\nwhole\n"
UNKNOWN_PROCESS = "process 0 pid=0 parent=0 start={0} end={1} [-] [-] [-] [-] [-] [-]\n".format
NO_LOSSES = "problem: "


def good():
    yield "plain", simple().bytes(), SIMPLE
    yield "version-8", simple(version=8).bytes(), SIMPLE
    yield "small-pages", simple().bytes(size=7, order=(INDEX, EVENTS, DATA)), SIMPLE
    yield "no-events", Profile().bytes(), info() + process(0) + "whole\n"

    # rustc escapes the command as a Rust literal.
    literal = r'rustc --cfg feature=\"don\'t \u{e9}\u{1f980}\" a\\b\t x.rs '
    p = Profile(metadata='{ "start_time": %d, "process_id": 1, "cmd": "%s", "counter": {"name": "x"} }' % (START, literal))
    yield "escapes", p.bytes(), (
        info() + process(0, 1, 'rustc --cfg feature="don\'t é🦀" a\\b\t x.rs', "x", "-") + "whole\n"
    )

    # A failed compile: kinds have names, queries have none.
    p = Profile()
    p.event(p.string("Query"), 7, 3, 1, 2)
    p.event(p.string("Query"), INVALID, 3, 3, 4)
    yield "no-names", p.bytes(), (
        info() + process(4) + span(3, 0, 1, 2, "<unknown> #7") + span(3, 0, 3, 4, "<unknown>") + "whole\n"
    )

    # Instants count where nothing else does; other values are summed by kind and label.
    p = simple()
    hit, size = p.string("QueryCacheHit"), p.string("ArtifactSize")
    for event_id in (7, 8, 8):
        p.event(hit, event_id, 3, 50, INSTANT)
    p.event(size, p.string("object_file", "\x1e", "a.o"), 3, 1 << 47, INTEGER)
    p.event(size, p.string("object_file", "\x1e", "b.o"), 3, 5, INTEGER)
    p.event(p.string("mine"), p.string("x y\n"), 3, 9, INSTANT)
    yield "values", p.bytes(), SIMPLE.replace(
        "whole\n",
        "tally 0 mir_built [QueryCacheHitCount] 2 2\n"
        f"tally 0 object_file [ArtifactSize] 2 {(1 << 47) + 5}\n"
        "tally 0 x y\n [mine] 1 0\nwhole\n",
    )

    # Arguments: shared, several, none, of an event without a virtual id (once, and again), and where
    # the label ends inside another string.
    p = Profile()
    query, activity = p.string("Query"), p.string("GenericActivity")
    typeck, krate = p.string("typeck"), p.string("a")
    path = p.string(p.ref(krate), "::f")
    p.map(1, p.string(p.ref(typeck), "\x1e", p.ref(path)))
    p.map(2, p.string("mir", "\x1e", p.ref(path), "::{closure#0}", "\x1e", p.ref(typeck)))
    p.map(4, typeck)
    p.map(5, p.string(p.ref(p.string("q\x1eb")), "c"))
    codegen = p.string("codegen\x1e", p.ref(krate), ".0")
    events = ((query, 1), (query, 2), (query, 3), (query, 4), (query, 5), (activity, codegen), (activity, codegen),
              (activity, typeck), (activity, p.string("x\x1ey")))  # fmt: skip
    for i, (kind, event_id) in enumerate(events):
        p.event(kind, event_id, 1, i, i)
    rests = (
        "typeck #1 event=a::f", "mir #2 event=a::f::{closure#0}\x1etypeck", "<unknown> #3 event=<unknown>",
        "typeck #4 event=", "q #5 event=bc", "codegen [GenericActivity] #100000003 event=a.0",
        "codegen [GenericActivity] #100000003 event=a.0", "typeck [GenericActivity]",
        "x [GenericActivity] #100000004 event=y",
    )  # fmt: skip
    spans = "".join(span(1, 0, i, i, rest) for i, rest in enumerate(rests))
    yield "arguments", p.bytes(), info() + process(8) + spans + "whole\n"

    # Inclusive containment: equal ends and empty intervals nest, the later one outside.
    p = Profile()
    query, q = p.string("Query"), p.string("q")
    for start, end in ((5, 5), (5, 5), (2, 5), (7, 8), (2, 8), (8, 8)):
        p.event(query, q, 1, start, end)
    yield "touching", p.bytes(), (
        info() + process(8)
        + span(1, 3, 5, 5, "q") + span(1, 2, 5, 5, "q") + span(1, 1, 2, 5, "q")
        + span(1, 1, 7, 8, "q") + span(1, 0, 2, 8, "q") + span(1, 0, 8, 8, "q") + "whole\n"
    )  # fmt: skip


def bad():
    def refused(code, why):
        return f"refused: {code}: {why}\n"

    whole = simple().bytes()
    no_profile = refused("EBADMSG", "it is no profile of rustc's (.mm_profdata)")
    yield "empty-file", b"", no_profile
    yield "not-a-profile", b"\x7fELF" + bytes(100), no_profile
    yield "version-7", b"MMPD\7\0\0\0" + whole[8:], refused("EPROTONOSUPPORT", "it has another version than 8 or 9")
    header_only = "profile: cut short at byte 8: it holds no events\n" + info() + UNKNOWN_PROCESS(START, START)
    yield "header-only", whole[:8], header_only + "whole\n"

    yield "cut-in-page", whole + struct.pack("<BI", 0, 33) + bytes(32), (
        f"profile: cut short at byte {len(whole) + 37}: whole up to byte {len(whole)}\n" + SIMPLE
    )
    yield "cut-in-page-header", whole + b"\0\1", (
        f"profile: cut short at byte {len(whole) + 2}: whole up to byte {len(whole)}\n" + SIMPLE
    )
    yield "unknown-stream", whole + struct.pack("<BI", 3, 1) + b"x", (
        f"profile: damaged at byte {len(whole)}: a page of an unknown stream\n" + SIMPLE
    )
    yield "empty-page", whole + struct.pack("<BI", 0, 0), (
        f"profile: damaged at byte {len(whole)}: an empty page\n" + SIMPLE
    )
    yield "cut-in-event", whole + struct.pack("<BI", 0, 31) + bytes(31), (
        "profile: cut short: its events end inside one\n" + SIMPLE
    )
    yield "cut-in-index", whole + struct.pack("<BI", 2, 9) + bytes(9), (
        "profile: cut short: its string index ends inside an entry\n" + SIMPLE
    )
    p = simple()
    p.streams[DATA] = b"MMXX" + p.streams[DATA][4:]
    unknown_all = (
        UNKNOWN_PROCESS(START, START + LAST)
        + span(3, 1, 110, 140, "<unknown> [<unknown>] #8")
        + span(3, 0, 100, 150, "<unknown> [<unknown>] #7")
        + span(3, 0, 150, LAST, "<unknown> [<unknown>]")
        + span(4, 0, 105, 151, "<unknown> [<unknown>] #7")
        + "tally 0 <unknown> [<unknown>] 2 42\nwhole\n"
    )
    yield "strings-magic", p.bytes(), "profile: damaged: what should be its strings are not\n" + info() + unknown_all
    # The file of a killed rustc.
    p = simple()
    p.streams[DATA] = p.streams[INDEX] = b""
    data = p.bytes()
    yield "killed", data, f"profile: cut short at byte {len(data)}: it holds no strings\n" + info() + unknown_all

    for name, metadata in (
        ("metadata-no-json", "rustc a.rs"),
        ("metadata-array", "[1]"),
        ("metadata-missing", '{"start_time": 1, "cmd": "x"}'),
        ("metadata-negative", '{"start_time": -1, "process_id": 1, "cmd": "x"}'),
    ):
        if "cmd" in metadata:
            command, pid = "x", 1 if "process_id" in metadata else 0
        else:
            command, pid = "-", 0
        yield name, Profile(metadata=metadata).bytes(), info() + process(0, pid, command, "-", "-") + "whole\n"

    # Strings that refer to themselves, to nothing, or never end; labels that are none.
    p = Profile()
    query = p.string("Query")
    loop = FIRST + len(p.streams[DATA])
    p.string("a", p.ref(loop))
    texts = [
        p.string(""), p.string("\x1earg"), p.string("a\0b"), p.string("a", p.ref(5), "b"),
        p.string("a", p.ref(FIRST + 10**6)), p.string(p.ref(loop)), FIRST + 10**6, p.string(b"\xfe\1"),
    ]  # fmt: skip
    p.streams[DATA] += b"open"
    texts.append(FIRST + len(p.streams[DATA]) - 4)
    names = [
        "<parse error>", "<parse error>", "<parse error>", "a<unknown>b",
        "a<unknown>", "a" * 63 + "<invalid>", "<unknown>",
    ]  # fmt: skip
    names[1] += " #100000003 event=arg"
    for i, text in enumerate(texts):
        p.event(query, text, 1, i, i)
    spans = "".join(span(1, 0, i, i, name) for i, name in enumerate(names))
    yield "strings", p.bytes(), (
        info() + process(len(texts) - 1) + spans
        + span(1, 0, 7, 7, "<invalid>") + span(1, 0, 8, 8, "<invalid>") + "whole\n"
    )  # fmt: skip

    # The same of arguments. All that can be read of one is one text then.
    p = Profile()
    query = p.string("Query")
    loop = FIRST + len(p.streams[DATA])
    p.string("a", p.ref(loop))
    nested = p.string("x")
    for _ in range(40):
        nested = p.string(p.ref(nested), "y")
    for i, part in enumerate((p.ref(loop), p.ref(9), p.ref(nested))):
        p.map(i, p.string("q\x1e", part))
        p.event(query, i, 1, i, i)
    p.map(3, p.string("q\x1e", *[p.ref(INVALID)] * 20))
    p.event(query, 3, 1, 3, 3)
    p.map(4, p.string("q\x1e", b"\xfe\1"))  # last: it never ends
    p.event(query, 4, 1, 4, 4)
    texts = ["a" * 65 + "<invalid>", "<unknown>", "x" + "y" * 40, "<unknown>" * 20, "<invalid>"]
    spans = "".join(span(1, 0, i, i, f"q #{i} event={text}") for i, text in enumerate(texts))
    yield "arguments", p.bytes(), info() + process(4) + spans + "whole\n"

    # Left out: an interval that ends before it starts, one that ends after a later one's end.
    p = Profile()
    query, q = p.string("Query"), p.string("q")
    for start, end in ((1, 2), (9, 8), (0, 20), (3, 10), (4, 11)):
        p.event(query, q, 1, start, end)
    yield "order", p.bytes(), (
        "profile: 1 backwards, 1 out of order, 1 overlapping\n"
        + info() + process(11) + span(1, 0, 1, 2, "q") + span(1, 0, 3, 10, "q") + span(1, 0, 4, 11, "q") + "whole\n"
    )


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for kind, cases in (("good", good()), ("bad", bad())):
        for name, data, expected in cases:
            path = os.path.join(directory, f"{kind}-{name}")
            with open(path + ".mm_profdata", "wb") as out:
                out.write(data)
            with open(path + ".txt", "w", encoding="utf-8") as out:
                out.write(expected)


if __name__ == "__main__":
    main()
