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
ACTIVITY, HASHING = 1, 4
IN_WRAPPER, IN_PROVIDER, IN_BODY, RUNS, CALLS, IN_GUARD = range(6)
TAGS, MACROS, PLACE_LOADS = 32, 4, 4


def text(s):
    return u32(NONE) if s is None else u32(len(s)) + s.encode()


def body(addr, incremental, problem=None):
    return struct.pack("<Q4IB", addr, 1, 1, 1, 0, incremental) + text(problem)


def query(name, bodies, provider=0x1200):
    return (text(name) + struct.pack("<3Q5I5B", 0x1000, 0x1100, provider, *bodies, 1, 1, 1, 1, 1, 1,
                                     1, START) + text("LocalDefId") + b"\0" + bytes(8 + 32 + 1))


def guard(function, label, kind, of_body):
    # A scope of its own, number 1, no slot, no argument.
    return (text(function) + text(label) + struct.pack("<2I2BiBIB", 9, of_body, kind, 1, -1, 0, 1, 1) +
            text(None) + b"\0" + bytes(8 + 2 + 3 * (3 + 4 * PLACE_LOADS)))


def frame(addr, size, of, kind):
    return struct.pack("<Q2IB", addr, size, of, kind)


def site(role, addr, of_query, of_body, reg, slot):
    return struct.pack("<2Q3I3B3iBi", addr, addr - 0x1000, of_query, of_body, NONE, role, 0, reg,
                       slot, -1, 8, NO_REG, -1)


def array(items):
    return u32(len(items)) + b"".join(items)


def layout():
    """Of names that cannot be read."""
    none = text(None)
    wire = bytes(8 + 8 + 4 * (6 + TAGS + 5 + 11) + 16)
    return (wire + bytes(5 * 4) + 3 * none + bytes(8 + 22 * 4) + none + bytes(11 * 4) + none + none)


def plan(bodies, queries, guards, frames, guard_frames, sites):
    data = u32(3) + b"\xab\xcd\x01" + text("/lib/librustc_driver-1.so") + text(None) + text("v0")
    data += struct.pack("<QI", 0x1ef50, 0x89abcdef)
    data += array(bodies) + array(queries) + array(guards) + u32(0) + array([]) + array([])
    data += array(frames) + array(guard_frames) + array(sites)
    return data + layout() + bytes(8 * 4 + MACROS) + text(None)


def plan_seeds():
    yield "nothing", plan([], [], [], [], [], [])
    yield "small", plan(
        [body(0x8000, 0), body(0x9000, 1, "no mask test")],
        [query("mir_built", (0, NONE)), query("typeck", (0, 1), 0x1300)],
        [guard("lower_crate", "early_lint_checks", ACTIVITY, NONE),
         guard("try_execute_query", None, HASHING, 1)],
        [frame(0x1008, 8, 0, IN_WRAPPER), frame(0x1200, 0x80, 0, IN_PROVIDER),
         frame(0x8000, 0x40, 0, IN_BODY), frame(0x8040, 0x20, 0, RUNS), frame(0x8060, 5, 1, CALLS),
         frame(0x8065, 0x20, 0, RUNS), frame(0x9000, 0x90, 1, RUNS)],
        [frame(0x7000, 0x40, 0, IN_GUARD), frame(0x7040, 0x10, 0, IN_GUARD),
         frame(0x7040, 0x10, 1, IN_GUARD)],
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


# ---- fuzz_definitions: a layout, and records with pieces of a table or with texts ---------------

NAMED, UNKNOWN, ROOT_TAG = 254, 255, 0
# Rows of 16 bytes: tag, symbol, disambiguator, parent. Tag 5 has a name, tag 3 the fixed symbol 9.
LAYOUT = bytes([8, 0, 4, 8, 12, ROOT_TAG, 1, 0, UNKNOWN, UNKNOWN, UNKNOWN, 9, 200, NAMED, 8, 44])


def record(symbols, offset, data):
    return struct.pack("<BBHI", symbols, 0, len(data), offset) + data


def rows(*definitions):
    return b"".join(u32(*d) for d in definitions)


def texts(*symbols):
    return b"".join(u32(number, len(t)) + t + bytes(-len(t) % 4) for number, t in symbols)


def definition_seeds():
    root = (ROOT_TAG, 0, 0, 0xffffff01)
    table = rows(root, (5, 40, 0, 0), (5, 41, 2, 1), (3, 0, 1, 1), (5, 42, 0, 3))
    names = texts((40, b"ast"), (41, b"Ast"), (9, b"impl"), (42, b"fmt"))
    yield "small", LAYOUT + record(0, 0, table) + record(1, 0, names)
    yield "two_pieces", (LAYOUT + record(0, 0, table[:32]) + record(1, 0, names[:12]) +
                         record(0, 32, table[32:]) + record(1, 0, names[12:]))
    yield "gap", LAYOUT + record(0, 0, table[:32]) + record(0, 48, table[48:]) + record(1, 0, names)
    yield "cycle", LAYOUT + record(0, 0, rows(root, (5, 40, 0, 2), (5, 41, 0, 1), (5, 42, 0, 3)))
    yield "deep", LAYOUT + record(0, 0, rows(root, *[(5, 40, 0, i) for i in range(250)])) + \
        record(1, 0, names)
    yield "odd_texts", LAYOUT + record(0, 0, table) + record(
        1, 0, texts((40, b""), (41, b"a\0b"), (42, b"x" * 1024)) + u32(9, 1 << 30))
    yield "nothing", LAYOUT


# ---- fuzz_sources: the way of the buckets, and records of spans, files and lines -----------------

SPANS, INTERNED, FILES, LINES = range(4)


def source(table, number, offset, data):
    return struct.pack("<BBHI", table, number, len(data), offset) + data


def span(position, length=5, context=0):
    return struct.pack("<IHH", position, length, context)


def source_file(number, start, length, n_lines, name):
    return u32(number, start, length, n_lines, len(name)) + name + bytes(-len(name) % 4)


def source_seeds():
    ways = bytes([0, 1])
    files = source(FILES, 0, 0, source_file(1, 101, 30, 3, b"src/b.rs") +
                   source_file(0, 0, 100, 2, b"src/a.rs"))
    lines = source(LINES, 0, 0, u32(0, 50)) + source(LINES, 1, 0, u32(0, 10)) + \
        source(LINES, 1, 8, u32(20))
    spans = source(SPANS, 0, 0, span(3) + span(110, 0x8005, 7) + span(9, 0xffff, 5)) + \
        source(SPANS, 1, 0, span(9, 0xffff, 0xffff) + span(131) + span(132))
    interned = source(INTERNED, 0, 0, u32(9, 120, 77))
    yield "small", ways + spans + interned + files + lines
    yield "lines_first", ways + lines + files + interned + spans
    yield "older_buckets", bytes([3, 0]) + spans + interned + files + lines
    yield "gap", ways + source(SPANS, 1, 64, span(3)) + files + lines
    yield "not_ascending", ways + spans + files + source(LINES, 1, 0, u32(0, 10, 10))
    yield "overlapping", ways + spans + lines + source(FILES, 0, 0, b"".join(
        source_file(i, 100, 0xffffffff, 3, b"x") for i in range(3)))
    yield "long_name", ways + source(FILES, 0, 0, source_file(0, 0, 9, 1, b"x" * 1024) +
                                     u32(0, 0, 9, 1, 1025))


# ---- fuzz_arguments: records of arguments, each behind its size ----------------------------------


def argument(number, text, value=0, macro=0, of=0, cut=0):
    record = struct.pack("<BBBBIQQII", 15, 0, value, macro, 7, number, of, cut, len(text)) + text
    return struct.pack("<H", len(record)) + record


def argument_seeds():
    yield "texts", argument(1, b"core") + argument(2, b"x" * 256, cut=9) + argument(3, b"")
    yield "unit", argument(1, b"a.1-cgu.0", value=1, of=1466)
    yield "macros", b"".join(argument(i, b"A", value=2, macro=i, of=7 << 32 | i) for i in range(5))
    yield "far", argument(1 << 40, b"a") + argument(1, b"a\0b\x1e")


# ---- fuzz_fingerprint: two JSON texts of cargo's and a list of inputs, each behind its size -------


def fingerprint(features="[]", deps="", local="", flags=""):
    return (f'{{"rustc":7,"features":"{features}","declared_features":"[]","target":3,"profile":1,"path":5,'
            f'"deps":[{deps}],"local":[{local}],"rustflags":[{flags}],"config":8,"compile_kind":0}}').encode()


def fingerprint_seeds():
    log, serde = '[1,"log",false,10031469680652712901]', '[2,"serde",true,7]'
    check = '{"CheckDepInfo":{"dep_info":"debug/.fingerprint/a/dep","checksum":false}}'
    watch = '{"RerunIfChanged":{"output":"debug/build/a/output","paths":["a","b c","d\\""]}}'
    var, other = ('{"RerunIfEnvChanged":{"var":"CC","val":%s}}' % val for val in ("null", '"gcc"'))
    newest = '{"Precalculated":"17.5s (src/a.rs)"}'
    inputs = (b"\x01\0\0\0\xff\x01\x02\0\0\0\0\x0a\0\0\0src/lib.rs\0\x01\x05\0\0\0/x.rs\x01" + bytes(8) +
              b"\x03\0\0\0abc\x02\0\0\0\x02\0\0\0CC\x01\x03\0\0\0gcc\x01\0\0\0V\0")
    for name, before, after in (
        ("features", fingerprint('[\\"a\\", \\"b\\"]', log), fingerprint('[\\"c\\"]', log)),
        ("deps", fingerprint(deps=log, local=check), fingerprint(deps=f"{log},{serde}", local=check)),
        ("local", fingerprint(local=f"{watch},{var}"), fingerprint(local=f"{watch},{other}")),
        ("newest", fingerprint(local=newest), fingerprint(local=newest.replace("7", "8"), flags='"-O","]\\""')),
    ):
        yield name, b"".join(struct.pack("<H", len(text)) + text for text in (before, after, inputs))


# ---- fuzz_samples: records of samples, each behind its size --------------------------------------

CPU, OFF_CPU, FAULT = 1, 2, 3
NO_QUERY = 0xffff
OF_WRAPPER, OF_BODY, OF_RUN, OF_HASHING, BEHIND_CALL, OF_PROVIDER, OF_ACTIVITY = (
    0x1010, 0x2010, 0x2110, 0x2150, 0x2205, 0x3810, 0x4010)


def sample(pid, *stack, cause=CPU, cut=0, query=NO_QUERY, depth=0, kind=0, busy=0, label=0,
           job=0, llvm=0, pass_at=0, function=0):
    """The outermost frame comes first."""
    record = struct.pack("<4BHH4B3IQQQQQII", 16, cause, cut, 0, query, depth, kind, busy, 0, llvm, label, pid,
                         pid + 1, 500, 1000000, job, pass_at, function, len(stack), 0)
    record += b"".join(struct.pack("<Q", place) for place in reversed(stack))
    return struct.pack("<H", len(record)) + record


def job(pid, number, around=0, query=0, key=0):
    return struct.pack("<H2BHI3Q", 32, 18, 0, query, pid, number, around, key)


def llvm_name(pid, number, text):
    return struct.pack("<HBBHIQ", 16 + len(text), 20, 0, len(text), pid, number) + text


def in_file(number, *addresses):
    return [number << 48 | address for address in addresses]


def sample_seeds():
    query = in_file(1, OF_WRAPPER, OF_RUN, 0x7010)
    yield "query", sample(9, *query) + sample(9, *query, cause=OFF_CPU, cut=4)
    yield "nested", sample(9, *query, *in_file(1, OF_ACTIVITY, OF_BODY, BEHIND_CALL, OF_PROVIDER, OF_RUN,
                                               OF_HASHING))
    yield "nowhere", sample(9, 0, 1 << 47, 0xffffffffffffffff, *in_file(1, 1 << 32, 1 << 47, 0),
                            *in_file(2, 0x1000))
    yield "probes", sample(9, *query, query=1, depth=3) + sample(9, *query, depth=2, kind=1, label=7) + \
        sample(9, *query, query=1, depth=3, busy=1)
    yield "jobs", job(9, 7, 5, query=1, key=3) + job(9, 5) + sample(9, *query, job=7) + sample(9, job=5) + \
        sample(9, job=6) + job(9, 8, 7) + sample(9, job=8, cause=FAULT)
    yield "circle", job(9, 1, 2) + job(9, 2, 1, query=1) + job(9, 3, 3, query=2) + sample(9, job=1) + \
        sample(9, job=3) + b"".join(job(10, i + 1, i) for i in range(40)) + sample(10, *query, job=40)
    in_pass = [1 << 48 | 0x5000, 1 << 48 | 0x5001, 2 << 48 | 0x5000]
    yield "llvm", sample(9, *query) + llvm_name(9, 77, b"_RNvC1a1f") + \
        b"".join(sample(9, *query, llvm=scope, pass_at=at, function=77) for scope in (1, 0x81, 2, 3, 4, 5, 0x7f)
                 for at in in_pass) + llvm_name(9, 78, b"a\0\xff b") + sample(9, *query, llvm=1, function=78) + \
        sample(9, *query, llvm=1, function=79) + llvm_name(9, 80, b"x" * 2047) + llvm_name(10, 81, b"y")
    yield "empty", sample(9) + sample(9, *query, cause=FAULT) + sample(9, cut=1)


# ---- fuzz_llvm: what a store has of LLVM, which the fuzzer seals ---------------------------------

def llvm_plan(problem, size, *passes):
    kinds = b"".join(struct.pack("<QBB", at, word, 3) for at, word in ((0x100, 4), (0x200, 4), (0x300, 2)))
    layout = struct.pack("<QQQ", 0x40, size, 0x48) + kinds + \
        struct.pack("<8B4IQ3I", 1, 0, 13, 7, 16, 8, 0, 16, 0, 0, 0xa0, 0xb0, 0x40, 0x18, 8, 8)
    names = b"".join(name + b"\0" for _, name in passes)
    return bytes(16) + struct.pack("<Q", problem) + layout + u32(len(passes), len(names)) + \
        b"".join(struct.pack("<Q", vtable) for vtable, _ in passes) + names


def llvm_seeds():
    yield "library", llvm_plan(0, 0x1000, (0x10, b"DCEPass"), (0x18, b"X86DAGToDAGISelLegacy"))
    yield "compiler", llvm_plan(1, 0, (0x10, b"BitcodeWriterPass"))
    yield "none", llvm_plan(6, 0)
    yield "order", llvm_plan(0, 0x1000, (0x18, b"A"), (0x10, b"B"))
    yield "small", llvm_plan(0, 0x250)


# ---- fuzz_stuck_llvm: changes of a list as LLVM keeps it, in tests/fixtures/llvm_list.h ------------

ADDRESS, IN_LIBRARY, NUMBER, FAR = range(4)


def change(at, kind, value):
    return struct.pack("<HB5s", at, kind, value.to_bytes(5, "little"))


def stuck_llvm_seeds():
    head, entry, outer, function, names, name = 0x348, 0x1100, 0x1200, 0x2000, 0x23a0, 0x4000
    yield "truth", b""
    yield "head", change(head, ADDRESS, outer)
    yield "around", change(entry + 8, ADDRESS, entry) + change(outer + 8, ADDRESS, entry)
    yield "legacy", change(entry, IN_LIBRARY, 0x920) + change(outer, IN_LIBRARY, 0x930)
    yield "function", change(entry + 24, ADDRESS, 0x5100) + change(function + 8, ADDRESS, 0x2200)
    yield "names", change(names, ADDRESS, 0x5ff8) + change(names + 16, NUMBER, 1 << 20)
    yield "component", change(head, ADDRESS, outer) + change(0x5208, ADDRESS, 0x5ff8) + change(0x5ff8, NUMBER, 1)
    yield "length", change(name, NUMBER, 2047) + change(name + 16, FAR, 0x1b1b1b1b1b)


# ---- fuzz_crates: where fields are, and records with crates, entries of caches, or texts ---------

CRATES, ENTRIES, TEXTS = 0, 1, 2
# Tag 0 is the root, 1 has a name, 2 the fixed symbol 9. The index of an entry is before its key.
CRATES_HEAD = bytes([0, 1, 0, 0, 8, NAMED, 9, UNKNOWN])


def crates_record(kind, crate, data):
    return struct.pack("<BBH", kind, crate, len(data)) + data


def crate(number, symbol, stable_id):
    return u32(number, symbol) + struct.pack("<Q", stable_id)


def cache(*entries):
    """As many control bytes as entries, then the entries, the last one first."""
    return bytes(len(entries)) + b"".join(u32(*e) for e in reversed(entries))


def crate_seeds():
    known = crates_record(CRATES, 0, crate(0, 0xffffffff, 5) + crate(1, 40, 6) + crate(2, 41, 7))
    names = crates_record(TEXTS, 0, texts((40, b"core"), (41, b"a"), (9, b"impl"), (42, b"fmt")))
    root = (0, 0, 0, 0, 0xffffff01)
    entries = cache(root, (7, 2, 0, 3, 0), (8, 1, 42, 0, 7))
    yield "small", CRATES_HEAD + known + names + crates_record(ENTRIES, 1, entries)
    yield "two_crates", (CRATES_HEAD + known + names + crates_record(ENTRIES, 1, entries) +
                         crates_record(ENTRIES, 2, entries))
    yield "cycle", CRATES_HEAD + known + names + crates_record(
        ENTRIES, 1, cache(root, (7, 1, 42, 0, 8), (8, 1, 42, 0, 7), (9, 1, 42, 0, 9)))
    yield "unused", CRATES_HEAD + known + names + crates_record(
        ENTRIES, 1, b"\x80\xff\x01" + entries[3:])
    yield "odd_sizes", CRATES_HEAD + known[:-3] + crates_record(ENTRIES, 1, entries[:-1]) + names
    yield "nothing", CRATES_HEAD


# ---- fuzz_relr: words, each a place or the bits of those that follow ----------------------------


def u64(*values):
    return struct.pack("<%dQ" % len(values), *values)


def relr_seeds():
    every = (1 << 64) - 1
    yield "places", u64(0x4cbf668, 0x4cbf6c0, 0x4f02480)
    yield "bits", u64(0x4cbf668, every, 1, 1 | 1 << 63 | 1 << 7, 0x4f02480, 3)
    yield "descending", u64(0x4cbf668, every, 0x4cbf670)
    yield "last_addresses", u64(every - 63 * 8 - 9, every, every)
    yield "cut", u64(0x4cbf668, every)[:-1]


# ---- fuzz_functions: the fuzzer sets magic and checksum -----------------------------------------


def stored_functions(base, ranges, names):
    head = bytes(8) + struct.pack("<Q", base) + u32(len(ranges), len(names), 20, 0)
    return head + bytes(range(24)) + b"".join(u32(*r) for r in ranges) + names


def functions_seeds():
    ranges = ((0, 4, 0), (4, 12, NONE), (16, 8, 2), (24, 8, 0))
    yield "named", stored_functions(0x401000, ranges, b"a\0bc\0")
    yield "none", stored_functions(0, (), b"")
    yield "outside", stored_functions(0x401000, ((0, 4, 9), (0xffffff00, 0xffffffff, 0)), b"a\0")
    yield "overlapping", stored_functions(0x401000, ((0, 4, 0), (3, 4, 0)), b"a\0")
    yield "endless", stored_functions(0x401000, ((0, 4, 0),), b"ab")


# ---- fuzz_compiler_memory: where things are, and the memory -------------------------------------

MEMORY, QUERIES, QUERY_SIZE = 0x10000, 40, 128


def compiler_memory(data, shards=4, step=0, change=0):
    """Tables of queries: the name's address 9 and length 5, a cache at 16, another at 72. Definitions: rows
    of 16 bytes with a number, the parent, a tag and a symbol; symbols of 16 bytes with address and length."""
    tables = bytes((16, 24, 33, 2, 0, shards // 2, 32, 7))
    layout = bytes((0, 4, 1, 16 - 8, 0, 0, 8, 0, 8, 8, 12, 0))
    return tables + layout + bytes((9, 5, 0, 16, 72, QUERY_SIZE, step, change)) + data


def counted(number, sharded=False):
    """The memory of queries with `number` results, or as many in each shard."""
    shards = MEMORY + QUERIES * QUERY_SIZE
    one = bytearray(QUERY_SIZE)
    one[:16] = struct.pack("<QQ", 9, 5)
    for at in (16, 72):
        struct.pack_into("<4QH", one, at, shards if sharded else 7, 0, number, number, 0x200 * sharded)
    shard = struct.pack("<4Q", 0, 0, 0, number).ljust(64, b"\0")
    return bytes(one) * QUERIES + shard * 4


def defined(n):
    """Definitions, each the parent of the next one, and 8 symbols."""
    rows, symbols, texts = MEMORY + 256, MEMORY + 256 + 16 * n, MEMORY + 256 + 16 * n + 128
    data = struct.pack("<QQ", rows, n).ljust(64, b"\0") + struct.pack("<QQ", symbols, 8)
    data = data.ljust(256, b"\0") + u32(0, NONE, 1, 0)
    data += b"".join(u32(0, i - 1, 0, i % 8) for i in range(1, n))
    return data + b"".join(struct.pack("<QQ", texts + i, 3 + i) for i in range(8)) + b"abcdefghijklmnopqrst"


def compiler_seeds():
    yield "counts", compiler_memory(counted(5))
    yield "shards", compiler_memory(counted(5, True))
    yield "many_shards", compiler_memory(counted(5, True), shards=400)
    yield "huge", compiler_memory(counted(1 << 60))
    yield "changing", compiler_memory(counted(5, True), step=129, change=2)
    yield "names", compiler_memory(defined(60))
    yield "deep", compiler_memory(defined(300), step=7, change=1)


# ---- fuzz_results: records of a compiler's tables, each behind its size --------------------------

FINISHED, DROPPED, DYING = 1, 2, 3
NO_COUNT = 0xffffffff
DEFINITIONS, RESULTS, INSTANCES = 1, 18, 19
CONTEXT = 0x7f0000000000


def behind_size(record):
    return struct.pack("<H", len(record)) + record


def exec_record(pid, *args):
    args = b"".join(arg + b"\0" for arg in args)
    return behind_size(struct.pack("<4BIQI16sIQ", 3, 0, 0, 0, pid, 100, len(args), b"rustc", 0, 0) + args)


def counts(pid, moment, items, first=0, of=5, lost=0):
    return behind_size(struct.pack("<4B5I3Q", 17, 0, moment, 0, pid, first, len(items), of, 0, 300, lost, CONTEXT)
                       + b"".join(u32(*item) for item in items))


def piece(pid, kind, number, offset, data):
    return behind_size(struct.pack("<4B5I", 12, 0, kind, 0, pid, number, offset, len(data), 0) + data)


def result_keys(pid, query, *keys, first=0):
    return piece(pid, RESULTS, query, 4 * first, u32(*(key + 1 for key in keys)))


def instances(pid, query, *entries, first=0):
    """entries: (crate, index, hash of the symbol)"""
    return piece(pid, INSTANCES, query, 16 * first,
                 b"".join(struct.pack("<QQ", crate + 1 << 32 | index, symbol) for crate, index, symbol in entries))


def fed(pid, cache, at=NO_COUNT):
    return behind_size(struct.pack("<4BIQII", 19, 0, 0, 0, pid, cache, at, 0))


def loaded(pid, query):
    return behind_size(struct.pack("<4BHHIIQQIIQ", 1, 0, 0, 3, query, 0, pid, pid, 150, 160, NONE, 0, 0))


def dropped(pid, is_drop=1):
    return behind_size(struct.pack("<4BIIIQ", 14, 0, is_drop, 0, pid, 4, 0, 400))


def named(pid):
    table = u32(1, 0, 0xffffff01, 0, 0, 40, 0, 0, 0, 41, 0, 0, 0, 40, 1, 1)
    symbols = u32(40, 3) + b"ast\0" + u32(41, 1) + b"b\0\0\0"
    return piece(pid, DEFINITIONS, 0, 0, table) + behind_size(
        struct.pack("<4BIII", 13, 0, 0, 0, pid, len(symbols), 0) + symbols)


def result_seeds():
    rustc, incremental = exec_record(9, b"rustc", b"a.rs"), exec_record(9, b"rustc", b"-Cincremental=x")
    some = [(3, 0, 0), (4, 2, 0), (3, 0, 0), (2, 0, 0), (7, 0, 1)]
    keys = result_keys(9, 0, 1, 2, 3) + result_keys(9, 2, 3, 1, 2) + result_keys(9, 3, 0, 7)
    yield "whole", rustc + counts(9, FINISHED, some) + keys + counts(9, DROPPED, some) + named(9) + dropped(9)
    both = fed(9, 2, 1) + fed(9, CONTEXT + 0x300)
    yield "fed", rustc + both + counts(9, DROPPED, some) + keys + named(9) + dropped(9)
    yield "more_fed", rustc + b"".join(fed(9, 2, i // 2) for i in range(5)) + counts(9, DROPPED, some)
    yield "loaded", incremental + loaded(9, 0) + loaded(9, 4) + counts(9, FINISHED, some) + keys + dropped(9)
    yield "lost", incremental + loaded(9, 0) + counts(9, FINISHED, some, lost=200) + keys + dropped(9)
    yield "gaps", rustc + counts(9, DYING, some[:2]) + counts(9, DYING, some[3:], first=3) + keys
    yield "twice", rustc + counts(9, DROPPED, some) + result_keys(9, 0, 1, 1, 3) + \
        result_keys(9, 2, 1, 2) + result_keys(9, 2, 3, first=5) + result_keys(9, 3, 1 << 24, 0) + named(9) + dropped(9)
    yield "huge", rustc + counts(9, DYING, [(NO_COUNT - 1,) * 3, (NO_COUNT, 0, 0)] + some[2:]) + keys
    made = instances(9, 4, (0, 1, 77), (0, 1, 78), (1, 5, 79), (0, 3, 77)) + instances(9, 4, *[(1, 5, 0)] * 3, first=4)
    yield "instances", rustc + counts(9, FINISHED, some) + keys + made + named(9) + dropped(9)
    yield "bad_instances", rustc + counts(9, FINISHED, some) + instances(9, 4, (0, 1 << 24, 1), (-1, 0, 5)) + \
        piece(9, INSTANCES, 4, 0, bytes(24)) + made + named(9) + dropped(9)
    yield "contexts", rustc + (counts(9, FINISHED, some) + keys + named(9) + dropped(9)) * 3 + \
        counts(9, DYING, some) + dropped(9, 0)


def main():
    for fuzzer, seeds in (("fuzz_pctab", pctab_seeds()), ("fuzz_plan_codec", plan_seeds()),
                          ("fuzz_function_name", name_seeds()),
                          ("fuzz_definitions", definition_seeds()),
                          ("fuzz_sources", source_seeds()),
                          ("fuzz_arguments", argument_seeds()),
                          ("fuzz_fingerprint", fingerprint_seeds()),
                          ("fuzz_samples", sample_seeds()),
                          ("fuzz_results", result_seeds()),
                          ("fuzz_compiler_memory", compiler_seeds()),
                          ("fuzz_llvm", llvm_seeds()),
                          ("fuzz_stuck_llvm", stuck_llvm_seeds()),
                          ("fuzz_crates", crate_seeds()), ("fuzz_relr", relr_seeds()),
                          ("fuzz_functions", functions_seeds())):
        os.makedirs(os.path.join(HERE, fuzzer), exist_ok=True)
        for name, data in seeds:
            with open(os.path.join(HERE, fuzzer, name), "wb") as f:
                f.write(data)


if __name__ == "__main__":
    main()
