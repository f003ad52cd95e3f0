#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Write small traces that say much: each once took a reader gigabytes or minutes.

Needs zstd(1) for the chunks, and tests/golden/qpt_format.py for the rest of the format. A last
byte is added, by which the fuzzer chooses how to read: 0, as report does.
"""

import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "golden"))

from make_traces import NAMES, ONE  # noqa: E402
from qpt_format import (  # noqa: E402
    INDEX, LINES, MAPPINGS, SAMPLES, SPANS, STACKS, STRINGS, Stacks, chunk, crc32c, end, functions, header, info,
    process, processes, sampling, string, varint, zigzag,
)


def packed(kind, payload):
    data = subprocess.run(["zstd", "-q", "-c", "-19"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    head = struct.pack("<BBHII", kind, 1, 0, len(data), len(payload))
    return head + struct.pack("<I", crc32c(head + data)) + data


def index_that_wraps():
    """Each INDEX lists two million chunks, at offsets that wrap around 2^64."""
    out, last, n = header() + info(), 0, (4 << 20) // 2 - 20
    for _ in range(40):
        at = len(out)
        out += packed(INDEX, varint(last, at - 16 * n, n) + b"\2\0" * n)
        last = at
    return out + end(0, 0, 0, 0, last)


def processes_of_one_text(n=200):
    """All six texts of each process are the same megabyte."""
    names = packed(STRINGS, varint(0, 1) + string("x" * (1 << 20)))
    records = [process(i, refs=(1, 1, 1, 1, 1, 1)) for i in range(n)]
    return header() + info() + names + processes(*records) + end(1, n, 0)


def lines_read_again_and_again(n_runs=1000000, n=65536):
    """Spans that all come from the last byte of a function with a million lines."""
    code = functions(1, [(0, n_runs + 1)], (3, 0x1000, 1))
    table = b"".join(varint(zigzag(-1 if i % 2 else 1), 1) for i in range(n_runs - 1))
    rows = varint(zigzag(2), n_runs) + b"\0" + varint(zigzag(2), 1) + table + b"\0"
    spans = varint(n, 1, 0, 1) + varint(0, 1, n) + bytes(n) * 8 + varint(n_runs + 8) + bytes(n - 1)
    return header() + info() + NAMES + code + ONE + packed(LINES, varint(1, 0) + rows) + packed(SPANS, spans) + end(
        4, 1, n
    )


def one_run_of_ids():
    """2^27 virtual ids, all of one text."""
    runs = varint(1, 1) + varint(zigzag(0), 1 << 27 << 2) + varint(zigzag(0))
    return header() + info() + NAMES + ONE + chunk(MAPPINGS, runs) + end(4, 1, 0, 1 << 27)


def samples_of_deep_stacks(n=65536, chunks=4):
    """All samples have the deepest stack that there may be, of as many queries."""
    deep = packed(STACKS, Stacks().payload(*((i, 1, i % 2) for i in range(2048))))
    batch = varint(n, 1, 0, 2048, 0) + varint(0, 1, n) + b"\1" * n + bytes(3 * n)
    return header() + info() + NAMES + ONE + sampling(1, 0, 0) + deep + packed(SAMPLES, batch) * chunks + end(4, 1, 0)


def main():
    directory = os.path.join(HERE, "fuzz_trace_reader_small_bombs")
    os.makedirs(directory, exist_ok=True)
    for bomb in (index_that_wraps, processes_of_one_text, lines_read_again_and_again, one_run_of_ids,
                 samples_of_deep_stacks):
        with open(os.path.join(directory, bomb.__name__), "wb") as f:
            f.write(bomb() + b"\0")


if __name__ == "__main__":
    main()
