#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Write the fuzzers' seeds in this directory, by what the formats say and none of our code.

Other seeds are files that the tests have anyway: those of the readers of traces and profiles are
links to tests/golden, those of ELF files are assembled by tests/fixtures/make-fixtures.sh.
"""

import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))


def u32(*values):
    return struct.pack("<%dI" % len(values), *values)


# ---- fuzz_pctab: kind and shift of the quantum, length of the code in bytes, the table ----------

VARINT, LINEAR, FUNCTIONS, FUNCTIONS_BIG = range(4)


def table(kind, length, data, shift=0):
    return bytes([kind | shift << 2]) + u32(length) + bytes(data)


def functions(order, magic, quantum, word, records):
    """A Go function table: one function of 64 bytes and its record, as Go's linker writes them."""
    fields = (1, 0, 0x401000, 96, 0, 0, 104, 112)
    head = struct.pack(order + "I4B8" + word, magic, 0, 0, quantum, 8 if word == "Q" else 4,
                       *fields)
    names, pc_table = b"f".ljust(8, b"\0"), bytes([0, 4, 16, 1, 2]).ljust(8, b"\0")
    rows = struct.pack(order + "%dI" % len(records), *records)
    return head.ljust(96, b"\0") + names + pc_table + rows


def pctab_seeds():
    yield "varint", table(VARINT, 0, [4, 16, 1, 2, 2, 0x80, 1, 0])
    yield "linear_one_chunk", table(LINEAR, 9, [2, 3, 5, 25, 1, 43, 1, 0])
    yield "linear_20_pcs", table(LINEAR, 100, [20, *range(1, 21), *[0x55] * 5, 1, 0, 1,
                                               *range(2, 21)])
    # A pc of its own for each value: the most that a chunk holds.
    yield "linear_255_pcs", table(LINEAR, 256, [255, *range(1, 256), *[0x55] * 64, *[0, 1] * 128])
    yield "linear_shared", table(LINEAR, 800, [3, 0, 6, 0, 1, 1, 0, 1, 2, 1, 9, 5, 2, 0xff])
    yield "linear_u16", table(LINEAR, 300, [0xfe, 0, 0, 0, 1, 7])
    yield "linear_u32", table(LINEAR, 300, [0xff, 0, 0, 0, 0, 0, 1, 7])
    yield "linear_quanta", table(LINEAR, 1028, [5, 1, 4, 5, 1, 1, 0, 1, 1], shift=2)
    yield "functions_1_18", table(FUNCTIONS, 0, functions(
        "<", 0xfffffff0, 1, "Q", [0, 16, 64, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1]))
    yield "functions_1_20_big", table(FUNCTIONS_BIG, 0, functions(
        ">", 0xfffffff1, 1, "I", [0, 16, 64, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1]))


# ---- fuzz_plan_codec: a plan without its header -------------------------------------------------

NONE, NO_REG = 0xffffffff, 0xff
START, END = 1, 5


def text(s):
    return u32(NONE) if s is None else u32(len(s)) + s.encode()


def body(addr, incremental, problem=None):
    return struct.pack("<Q4IB", addr, 1, 1, 1, 0, incremental) + text(problem)


def query(name, bodies):
    return text(name) + struct.pack("<3Q4I4B", 0x1000, 0x1100, 0x1200, *bodies, 1, 1, 1, 1, 1,
                                    START)


def site(role, addr, of_query, of_body, reg, slot):
    return struct.pack("<2Q2I3B3i", addr, addr - 0x1000, of_query, of_body, role, 0, reg, slot, -1,
                       8)


def plan(bodies, queries, sites):
    data = u32(3) + b"\xab\xcd\x01" + text("/lib/librustc_driver-1.so") + text(None) + text("v0")
    data += struct.pack("<QI", 0x1ef50, 0x89abcdef)
    return data + b"".join(u32(len(part)) + b"".join(part) for part in (bodies, queries, sites))


def plan_seeds():
    yield "nothing", plan([], [], [])
    yield "small", plan(
        [body(0x8000, 0), body(0x9000, 1, "no mask test")],
        [query("mir_built", (0, NONE)), query("typeck", (0, 1))],
        [site(START, 0x2201, 1, NONE, NO_REG, -1), site(END, 0x8080, NONE, 0, 13, -1),
         site(END, 0x9090, NONE, 1, NO_REG, 0x54)])


def name_seeds():
    yield "binder", b"_RNvMINtC1a1fDG0_NtC1a1TEL_Eu1x"
    yield "types", b"_RINvCs1_1a1fRL_eDNtB2_1TEL_FUKCjEuThhEE.llvm.12.cold"
    yield "impl", b"_RNvXs0_C1aINtC1d1FNvYuNtC1d1H1mENtC1d1H1g"
    yield "back_references", b"_RINvC1a1fTuuETB9_B9_EE"
    # A demangler that was left in the middle of this one leaked.
    yield "punycode_left_in_the_middle", b"_RINvCs1_u1a1fhuL_eB_L"
    yield "punycode", b"_RNCNvC1au6gdel_5qa0"
    yield "legacy", b"_ZN4core3ptr37drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE"


def main():
    for fuzzer, seeds in (("fuzz_pctab", pctab_seeds()), ("fuzz_plan_codec", plan_seeds()),
                          ("fuzz_function_name", name_seeds())):
        os.makedirs(os.path.join(HERE, fuzzer), exist_ok=True)
        for name, data in seeds:
            with open(os.path.join(HERE, fuzzer, name), "wb") as f:
                f.write(data)


if __name__ == "__main__":
    main()
