# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads rustc's own self-profile (measureme's .mm_profdata, format 9, or 8 of older
compilers), the tests' reference.

It covers events in file order, with virtual id and label; the sums of measureme's summarize; and
faults that measureme's tools stumble over. The format: a header, then pages that interleave three
streams (events, string data, string index); all integers are little-endian.
"""

import json
import struct
from collections import Counter, defaultdict, namedtuple

MAGIC = b"MMPD"
# By version: of an event, of an entry of the index, and of a reference in a string. Numbers of
# strings have 64 bits, or 32.
FORMATS = {9: ("<QQIIII", "<QQ", "<Q"), 8: ("<IIIIII", "<II", "<I")}
STREAMS = {0: b"MMES", 1: b"MMSD", 2: b"MMSI"}
MAX_VIRTUAL_ID = 100_000_000
METADATA_ID = MAX_VIRTUAL_ID + 1
FIRST_REGULAR_ID = MAX_VIRTUAL_ID + 3
INSTANT = 0xFFFF_FFFF_FFFF
INTEGER = 0xFFFF_FFFF_FFFE
SEPARATOR = "\x1e"
UNKNOWN = "<unknown>"
NO_NAME = "an event without a name"

Event = namedtuple("Event", "thread invocation label start_ns end_ns")
Record = namedtuple("Record", "kind label thread first second")


class BadProfile(Exception):
    pass


class Profile:
    def __init__(self, data):
        version, streams = split_pages(data)
        self.event, index, self.reference = FORMATS[version]
        self.events = streams[0]
        self.strings = streams[1]
        self.addresses = {}
        for virtual_id, address in struct.iter_unpack(index, streams[2][8:]):
            self.addresses[virtual_id] = address  # of duplicates, the last one counts
        self.known = {}
        self.counted = None
        self.labels = {}

    @classmethod
    def read(cls, path):
        with open(path, "rb") as f:
            return cls(f.read())

    def text(self, string_id):
        if string_id not in self.known:
            self.known[string_id] = self.resolve(string_id, 0)
        return self.known[string_id]

    def label(self, event_id):
        at = self.addresses.get(event_id, -event_id)
        if at not in self.labels:
            self.labels[at] = self.text(event_id).split(SEPARATOR)[0]
        return self.labels[at]

    def resolve(self, string_id, nested):
        if string_id >= FIRST_REGULAR_ID:
            at = string_id - FIRST_REGULAR_ID
        elif string_id in self.addresses:
            at = self.addresses[string_id]
        else:
            return UNKNOWN
        if nested > 32:
            raise BadProfile("strings refer to each other in a circle")
        parts = []
        while True:
            if at >= len(self.strings):
                raise BadProfile("a string runs beyond the string data")
            if self.strings[at] == 0xFF:
                return "".join(parts)
            if self.strings[at] == 0xFE:
                (part,) = struct.unpack_from(self.reference, self.strings, at + 1)
                parts.append(self.resolve(part, nested + 1))
                at += 1 + struct.calcsize(self.reference)
            else:
                end = at
                while end < len(self.strings) and self.strings[end] < 0xFE:
                    end += 1
                parts.append(self.strings[at:end].decode())
                at = end

    def all_intervals(self):
        """(kind, interval event), in file order: per thread in the order of their ends."""
        for kind_id, event_id, thread, low1, low2, high in struct.iter_unpack(
            self.event, self.events[8:]
        ):
            start = low1 | (high >> 16) << 32
            end = low2 | (high & 0xFFFF) << 32
            if end in (INSTANT, INTEGER):
                continue
            label = self.label(event_id)
            yield self.text(kind_id), Event(thread, event_id, label, start, end)

    def intervals(self, kind="Query"):
        return (event for its_kind, event in self.all_intervals() if its_kind == kind)

    def records(self):
        """Every event in file order; `second` is INSTANT, INTEGER, or an interval's end."""
        for kind_id, event_id, thread, low1, low2, high in struct.iter_unpack(
            self.event, self.events[8:]
        ):
            label = self.text(event_id).split(SEPARATOR)[0]
            first = low1 | (high >> 16) << 32
            yield Record(self.text(kind_id), label, thread, first, low2 | (high & 0xFFFF) << 32)

    def event_texts(self):
        """(kind, string id, [label, argument...], whether it is an interval) of every event."""
        for kind_id, event_id, _, _, low2, high in struct.iter_unpack(self.event, self.events[8:]):
            interval = (low2 | (high & 0xFFFF) << 32) < INTEGER
            yield self.text(kind_id), event_id, self.text(event_id).split(SEPARATOR), interval

    def rows(self):
        """The number of intervals of each kind, label and arguments."""
        return Counter(
            (kind, *texts) for kind, _, texts, interval in self.event_texts() if interval
        )

    def metadata(self):
        return json.loads(self.text(METADATA_ID))

    def ids(self):
        """{(kind's id, address of the label or minus its id): intervals}, cached. Most of the
        millions of events have different ids, but share few strings."""
        if self.counted is None:
            self.counted = Counter()
            for kind_id, event_id, _, _, low2, high in struct.iter_unpack(
                self.event, self.events[8:]
            ):
                if low2 | (high & 0xFFFF) << 32 < INTEGER:
                    self.counted[kind_id, self.addresses.get(event_id, -event_id)] += 1
        return self.counted

    def counts(self, kind="Query"):
        """{label: intervals}"""
        counts = Counter()
        for (kind_id, at), n in self.ids().items():
            if self.text(kind_id) == kind:
                string_id = at + FIRST_REGULAR_ID if at >= 0 else -at
                counts[self.text(string_id).split(SEPARATOR)[0]] += n
        return counts

    def by_thread(self, kind="Query"):
        threads = defaultdict(list)
        for event in self.intervals(kind):
            threads[event.thread].append(event)
        return threads


class Sums:
    """A row of summarize; times in ns."""

    def __init__(self):
        self.count = self.total = self.own = self.hits = 0
        self.blocked = self.load = self.hashing = 0

    def add(self, kind, duration):
        self.own += duration
        if kind != "IncrementalResultHashing":
            self.total += duration
        if kind == "QueryBlocked":
            self.blocked += duration
        elif kind == "IncrementalLoadResult":
            self.load += duration
        elif kind == "IncrementalResultHashing":
            self.hashing += duration
        else:
            self.count += 1

    def add_child(self, kind, duration):
        """`kind` is that of the parent, which is this row."""
        self.own -= duration
        if kind == "IncrementalLoadResult":
            self.load -= duration
        elif kind == "IncrementalResultHashing":
            self.hashing -= duration


def summarize(profile):
    """(rows by label, artifact sizes by label), by the arithmetic of measureme's summarize."""
    rows, sizes = defaultdict(Sums), Counter()
    stacks = defaultdict(list)
    counted = set()
    for record in reversed(list(profile.records())):
        kind, label, thread, start, end = record
        if end == INTEGER:
            if kind == "QueryCacheHitCount":
                rows[label].hits += start
                counted.add(label)
            elif kind == "ArtifactSize":
                sizes[label] += start
            continue
        if end == INSTANT:
            if kind == "QueryCacheHit":
                rows[label].hits += label not in counted
            continue
        stack = stacks[thread]
        while stack and not (stack[-1].first <= start and end <= stack[-1].second):
            stack.pop()
        if stack:
            rows[stack[-1].label].add_child(stack[-1].kind, end - start)
        rows[label].add(kind, end - start)
        stack.append(record)
    return rows, sizes


def problems(profile):
    """A Counter of faults that measureme's tools fail on or show wrongly; empty for a good file.

    Unreadable strings raise BadProfile, or an error of UTF-8 or JSON.
    """
    found = Counter()
    stacks = defaultdict(list)
    for record in reversed(list(profile.records())):
        _, label, thread, start, end = record
        if UNKNOWN in (record.kind, label):
            found[NO_NAME] += 1
        if not label or any(c < " " or c == "\x7f" for c in label):
            found["a label that cannot be parsed"] += 1
        if end in (INTEGER, INSTANT):
            continue
        if start > end:
            found["an interval that ends before it starts"] += 1
        stack = stacks[thread]
        while stack and not (stack[-1].first <= start and end <= stack[-1].second):
            if end > stack[-1].first:
                found["overlap without nesting, or not in the order of ends"] += 1
            stack.pop()
        stack.append(record)
    for _, event_id, texts, _ in profile.event_texts():
        if event_id in (METADATA_ID, METADATA_ID + 1):
            found["an event whose string is no event's"] += 1
        # The first text is the label, which was checked above.
        for argument in texts[1:]:
            if not argument or any(c < " " or c == "\x7f" for c in argument):
                found["an argument that cannot be parsed"] += 1
    for address in profile.addresses.values():
        profile.resolve(address + FIRST_REGULAR_ID, 0)
    metadata = profile.metadata()
    if type(metadata) is not dict:
        found["metadata that is no object"] += 1
        return found
    for key, kind in (("start_time", int), ("process_id", int), ("cmd", str)):
        if type(metadata.get(key)) is not kind:
            found["metadata without " + key] += 1
    return found


def split_pages(data):
    version = struct.unpack_from("<I", data, 4)[0] if len(data) >= 8 else None
    if data[:4] != MAGIC or version not in FORMATS:
        raise BadProfile("not a self-profile of a known format")
    pages = {tag: [] for tag in STREAMS}
    at = 8
    while at < len(data):
        if at + 5 > len(data):
            raise BadProfile("a page header is cut short")
        tag, size = struct.unpack_from("<BI", data, at)
        at += 5
        if tag not in pages or size == 0 or at + size > len(data):
            raise BadProfile("a bad page header at byte %d" % (at - 5))
        pages[tag].append(data[at : at + size])
        at += size
    streams = {tag: b"".join(parts) for tag, parts in pages.items()}
    for tag, magic in STREAMS.items():
        if streams[tag][:4] != magic or len(streams[tag]) < 8:
            raise BadProfile("no stream %s" % magic.decode())
    return version, streams
