# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The trace format as docs/trace-format.md has it: chunks and what is in them, from plain values."""
import struct

MAGIC = b"\x89QPT\r\n\x1a\n"
INFO, STRINGS, PROCESSES, SPANS, LOSSES, END, THREADS, MAPPINGS, COSTS, INDEX, FUNCTIONS, LINES, DECISIONS = range(
    1, 14
)
LABELS, TALLIES, PLACES, KEYS, FOREIGN, SAMPLING, STACKS, SAMPLES, FILES, OVERHEAD, PART = range(16, 27)
JOBS = 28
SYMBOLS = 31
REBUILT = 32
RESULTS = 29
U64 = 1 << 64


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(*values):
    out = bytearray()
    for value in values:
        value %= U64
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)
    return bytes(out)


def zigzag(value):
    return value * 2 if value >= 0 else -value * 2 - 1


def text(value):
    return varint(len(value.encode())) + value.encode()


def header(version=1, size=32, features=0, reserved=0, state=0, extra=b""):
    head = MAGIC + struct.pack("<HHIQ", version, size, features, reserved)
    return head + struct.pack("<II", crc32c(head), state) + extra


def chunk(kind, payload, flags=0, reserved=0, raw=None):
    head = struct.pack("<BBHII", kind, flags, reserved, len(payload), len(payload) if raw is None else raw)
    return head + struct.pack("<I", crc32c(head + payload)) + payload


def zstd_stored(data):
    """A zstd frame of one raw block (RFC 8878): single segment, size in two bytes."""
    block = len(data) << 3 | 1
    return b"\x28\xb5\x2f\xfd\x60" + struct.pack("<H", len(data) - 256) + block.to_bytes(3, "little") + data


def zstd_equal(*runs):
    """A zstd frame of runs (byte, count) of equal bytes: four bytes stand for up to 128 KiB."""
    blocks = []
    for byte, count in runs:
        for at in range(0, count, 1 << 17):
            blocks.append((byte, min(count - at, 1 << 17)))
    out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", sum(count for _, count in runs))
    for i, (byte, count) in enumerate(blocks):
        out += (count << 3 | 2 | (i == len(blocks) - 1)).to_bytes(3, "little") + bytes([byte])
    return out


def packed(kind, *parts):
    """A compressed chunk; parts are bytes or runs (byte, count)."""
    runs = []
    for part in parts:
        runs += [part] if isinstance(part, tuple) else [(byte, 1) for byte in part]
    return chunk(kind, zstd_equal(*runs), flags=1, raw=sum(count for _, count in runs))


def info(*clock):
    texts = text("qprof-bpf 0.1.0") + text("6.18.0") + text("builder")
    return chunk(INFO, varint(1000, 1700000000 * 10**9) + texts + varint(*clock))


def string(value):
    """A text, or a list of texts and distances back to earlier strings."""
    if isinstance(value, str):
        return varint(len(value.encode()) << 1) + value.encode()
    out = varint(len(value) << 1 | 1)
    for piece in value:
        out += varint(piece << 1 | 1) if isinstance(piece, int) else string(piece)
    return out


def strings(first, *values):
    return chunk(STRINGS, varint(first, len(values)) + b"".join(map(string, values)))


def process(index, flags=0, pid=0, parent=0, start=0, end=0, status=0, refs=(0, 0, 0, 0, 0, 0), extra=b""):
    record = varint(index, flags, pid, parent, start, end, status, *refs) + extra
    return varint(len(record)) + record


def processes(*records):
    return chunk(PROCESSES, varint(len(records)) + b"".join(records))


def spans_payload(threads, columns, base, absent=0, callers=()):
    """threads: (process, tid, count); columns: (flags, depth, label, invocation, a, b) per span."""
    out = varint(len(columns), len(threads), base, absent) + b"".join(varint(*t) for t in threads)
    out += bytes(c[0] for c in columns)
    for i in (1, 2, 3):
        out += varint(*(c[i] for c in columns))
    for i in (4, 5):
        out += bytes(c[i] & 0xFF for c in columns) + varint(*(c[i] >> 8 for c in columns))
    return out + varint(*callers_column([c[2] for c in columns], callers))


def callers_column(labels_of, callers):
    out, lists = [], {}
    for label, caller in zip(labels_of, callers):
        recent = lists.setdefault(label % 1024, [0] * 8)
        at = recent.index(caller) if caller in recent else 7
        out.append(at if caller in recent else caller + 8)
        del recent[at]
        recent.insert(0, caller)
    return out


def losses(*counts):
    return chunk(LOSSES, varint(len(counts), *counts))


def labels(*records):
    return chunk(LABELS, varint(len(records)) + b"".join(varint(*r) for r in records))


def keys(*records):
    return chunk(KEYS, varint(len(records)) + b"".join(varint(*r) for r in records))


def tallies(*records):
    return chunk(TALLIES, varint(len(records)) + b"".join(varint(*r) for r in records))


def mappings(space, *runs):
    """runs: (first, how, n, string differences)"""
    payload = varint(space, len(runs))
    for first, how, n, differences in runs:
        payload += varint(zigzag(first), n << 2 | how) + varint(*map(zigzag, differences))
    return chunk(MAPPINGS, payload)


def places(process, *records):
    """records: differences of path, file and line, and of the call's file and line, if any"""
    payload = varint(process, len(records))
    for path, file, line, *call in records:
        payload += varint(zigzag(path), zigzag(file) << 1 | bool(call), zigzag(line), *map(zigzag, call))
    return chunk(PLACES, payload)


def pc_table(*runs):
    """runs: (value, pcs); values from -1 on, as differences"""
    out, last = b"", -1
    for value, pcs in runs:
        out += varint(zigzag(value - last), pcs)
        last = value
    return out + b"\0"


def functions(base, ranges, *records, n=None):
    """ranges: (number or -1, locations); records: (library, address, name)"""
    n = len(records) if n is None else n
    return chunk(FUNCTIONS, varint(n, base) + pc_table(*ranges) + b"".join(varint(*r) for r in records))


def lines(*records):
    """records: (function, runs of file + 1, runs of lines)"""
    out = b"".join(varint(f) + pc_table(*files) + pc_table(*rows) for f, files, rows in records)
    return chunk(LINES, varint(len(records)) + out)


class Stacks:
    """Encodes the entries of stacks of one file: each is (parent, kind, number)."""

    def __init__(self):
        self.entries, self.places, self.lists, self.last_new = [], [], {}, 0

    def place(self, parent, place):
        """The code of a place, and the new place or None."""
        above = self.entries[parent - 1] if parent else (0, 0, 0)
        recent = self.lists.setdefault((above[2] + 512 * above[1]) % 4096 if parent else 0, [])
        code, new = 2 + recent.index(place) if place in recent else None, None
        if code is None and place in self.places:
            code = 10 + self.places.index(place)
        elif code is None and place[0]:
            code, new = 1, place[1] << 3 | place[0]
            self.places.append(place)
        elif code is None:
            near = next((number for kind, number in recent if not kind), self.last_new)
            code, new = 0, zigzag(place[1] - near)
            self.places.append(place)
            self.last_new = place[1]
        if place in recent:
            recent.remove(place)
        recent.insert(0, place)
        del recent[8:]
        return code, new

    def payload(self, *entries):
        first, lengths, distances, codes, new_places = len(self.entries) + 1, [], [], [], []
        for parent, kind, number in entries:
            at = len(self.entries) + 1
            if lengths and parent == at - 1:
                lengths[-1] += 1
            else:
                lengths.append(1)
                distances.append(at - parent)
            code, new = self.place(parent, (kind, number))
            codes.append(code)
            new_places += [] if new is None else [new]
            self.entries.append((parent, kind, number))
        return varint(first, len(entries), len(lengths), *lengths, *distances, *codes, *new_places)


def stacks(*entries):
    return chunk(STACKS, Stacks().payload(*entries))


def sampling(hz, faults, flags, extra=b""):
    return chunk(SAMPLING, varint(hz, faults, flags) + extra)


def jobs(*records):
    """records: (process, query, invocation or None, distance to the parent or 0)"""
    out, process, number = b"", 0, 0
    for its_process, query, invocation, back in records:
        its = 0 if invocation is None else invocation + 1
        out += varint(zigzag(its_process - process), query, zigzag(its - number), back)
        process, number = its_process, its
    return chunk(JOBS, varint(len(records)) + out)


def symbols(*records):
    """records: (process, string id of the symbol, string id of the item)"""
    return chunk(SYMBOLS, varint(len(records)) + b"".join(varint(*record) for record in records))


def samples_payload(base, base_stack, *threads, columns=0):
    """
    threads: (process, tid, samples); samples: (cause, cut, value, time, stack[, depth, label code]),
    or, with columns=2, (..., stack, job)
    """
    rows = [row for *_, of_thread in threads for row in of_thread]
    out = varint(len(rows), len(threads), base, base_stack, columns)
    out += b"".join(varint(process, tid, len(of_thread)) for process, tid, of_thread in threads)
    out += bytes(cause | cut << 2 for cause, cut, *_ in rows)
    values, times, numbers, last_value = [], [], [], {}
    for cause, _, value, *_ in rows:
        values.append(zigzag(value - last_value.get(cause, 0)))
        last_value[cause] = value
    for *_, of_thread in threads:
        last = due = base
        highest = base_stack
        for cause, _, value, time, stack, *_ in of_thread:
            times.append(zigzag(time - (due if cause == 1 else last)))
            numbers.append(zigzag(stack - highest))
            highest = max(highest, stack)
            off = value if cause == 2 else 0
            due = time + value if cause == 1 else due + off
            last = time + off
    out += varint(*values, *times, *numbers)
    depth = 0
    for row in rows if columns else []:
        out += varint(zigzag(row[5] - depth))
        depth = row[5]
    return out + varint(*(row[6] for row in rows if columns & ~2))


def index(previous, first, *entries):
    return chunk(INDEX, varint(previous, first, len(entries)) + b"".join(entries))


def indexed(chunks, processes=()):
    """Entries of an index for the chunks of a file so far; `processes` are those of all its spans."""
    while chunks:
        kind, stored = chunks[0], struct.unpack("<I", chunks[4:8])[0]
        n_spans = chunks[16]
        spans = varint(n_spans, zigzag(0), U64 - 1, len(processes), *processes, 0)
        yield varint(kind, stored) + (spans if kind == SPANS else b"")
        chunks = chunks[16 + stored :]


def end(n_strings, n_processes, n_spans, n_mapped=0, index_at=0):
    return chunk(END, struct.pack("<IIQQQ", n_strings, n_processes, n_spans, n_mapped, index_at))
