# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Turns a library's relative relocations into packed ones (DT_RELR), as Fedora's linker writes them with
-z pack-relative-relocs. The dynamic loader of glibc 2.36 or later loads the result.
"""

import mmap
import struct

RELA, DYN, AUX, WORD = struct.Struct("<QQq"), struct.Struct("<QQ"), struct.Struct("<IHHII"), struct.Struct("<Q")
SECTION = struct.Struct("<IIQQQQIIQQ")
R_X86_64_RELATIVE, PT_LOAD, SHT_RELR, SHF_ALLOC = 8, 1, 19, 2
DT_NULL, DT_STRTAB, DT_RELA, DT_RELASZ, DT_SYMENT, DT_RELRSZ, DT_RELR, DT_RELRENT = 0, 5, 7, 8, 11, 35, 36, 37
DT_FLAGS_1, DT_RELACOUNT, DT_VERNEED = 0x6ffffffb, 0x6ffffff9, 0x6ffffffe
# The loader does without these. The place of each is another's now.
SPARE = {DT_RELACOUNT: DT_RELR, DT_FLAGS_1: DT_RELRSZ, DT_SYMENT: DT_RELRENT}
# The loader refuses packed relocations of a library that does not need this version of libc.
NEEDED = b"GLIBC_ABI_DT_RELR"
UNUSED = 0x7ffe  # the number of a version that no symbol has
# Sections that nothing reads here: one header and its name become those of .relr.dyn.
UNREAD = (".note.bolt_info", ".gnu_debuglink")


def encode(places):
    """The words of a table: a place, then bits of the 63 words behind it, and so on."""
    words, i = [], 0
    while i < len(places):
        words.append(places[i])
        base, i = places[i] + 8, i + 1
        while True:
            bits = 0
            while i < len(places) and places[i] < base + 63 * 8 and (places[i] - base) % 8 == 0:
                bits |= 2 << (places[i] - base) // 8
                i += 1
            if not bits:
                break
            words.append(bits | 1)
            base += 63 * 8
    return b"".join(WORD.pack(word) for word in words)


def elf_hash(name):
    h = 0
    for c in name:
        h = (h << 4) + c
        h = (h ^ (h >> 24 & 0xf0)) & 0xfffffff
    return h


class Library:
    def __init__(self, data):
        self.data = data
        headers, self.sections = struct.unpack_from("<QQ", data, 32)
        count, _, self.n_sections, names = struct.unpack_from("<4H", data, 56)
        rows = [struct.unpack_from("<IIQQQQQQ", data, headers + 56 * i) for i in range(count)]
        self.loads = [(vaddr, offset, size) for kind, _, offset, vaddr, _, size, _, _ in rows if kind == PT_LOAD]
        self.names = self.section(names)[4]

    def section(self, i):
        return SECTION.unpack_from(self.data, self.sections + SECTION.size * i)

    def find(self, *wanted):
        """Number and row of the first section with one of these names."""
        for i in range(self.n_sections):
            row = self.section(i)
            at = self.names + row[0]
            if self.data[at:self.data.find(b"\0", at)].decode() in wanted:
                return i, row
        raise AssertionError("no section %s" % (wanted,))

    def offset(self, addr):
        (found,) = [offset + addr - vaddr for vaddr, offset, size in self.loads if vaddr <= addr < vaddr + size]
        return found

    def set_section(self, i, *row):
        SECTION.pack_into(self.data, self.sections + SECTION.size * i, *row)

    def set_dynamic(self, values):
        """Put in these values, and those of spare rows, which then are others'."""
        _, row = self.find(".dynamic")
        for at in range(row[4], row[4] + row[5], DYN.size):
            tag, value = DYN.unpack_from(self.data, at)
            tag = SPARE.get(tag, tag)
            DYN.pack_into(self.data, at, tag, values.pop(tag, value))
        assert not values, values

    def need_version(self, at, addr):
        """Need one more version of libc, described in the space at `at`."""
        (_, row), (_, strings) = self.find(".gnu.version_r"), self.find(".dynstr")
        need = row[4]
        while True:
            _, count, file, aux, following = struct.unpack_from("<HHIII", self.data, need)
            last = need + aux
            for _ in range(count):
                step = AUX.unpack_from(self.data, last)[4]
                last += step
            if self.data.find(b"libc.so.6\0", strings[4] + file) == strings[4] + file:
                break
            assert following, "libc is not needed"
            need += following
        struct.pack_into("<H", self.data, need + 2, count + 1)
        struct.pack_into("<I", self.data, last + 12, at - last)
        AUX.pack_into(self.data, at, elf_hash(NEEDED), 0, UNUSED, addr + AUX.size - strings[3], 0)
        self.data[at + AUX.size:at + AUX.size + len(NEEDED) + 1] = NEEDED + b"\0"

    def pack(self):
        number, rela = self.find(".rela.dyn")
        start, size = rela[4], rela[5]
        kept, places = [], []
        for at, info, addend in RELA.iter_unpack(self.data[start:start + size]):
            if info == R_X86_64_RELATIVE and at % 2 == 0:
                places.append(at)
                WORD.pack_into(self.data, self.offset(at), addend)
            else:
                kept.append(RELA.pack(at, info, addend))
        kept, table = b"".join(kept), encode(sorted(places))
        self.data[start:start + size] = (kept + table).ljust(size, b"\0")
        return number, rela, len(places), len(kept), len(table)


def convert(path):
    """Change the library at `path`; returns how many relocations are packed."""
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as data:
        library = Library(data)
        number, rela, n, kept, size = library.pack()
        addr, start = rela[3], rela[4]
        library.set_section(number, *rela[:5], kept, *rela[6:])
        other, row = library.find(*UNREAD)
        at = library.names + row[0]
        data[at:at + 10] = b".relr.dyn\0"
        library.set_section(other, row[0], SHT_RELR, SHF_ALLOC, addr + kept, start + kept, size, 0, 0, 8, 8)
        library.need_version(start + kept + size, addr + kept + size)
        library.set_dynamic({DT_RELASZ: kept, DT_RELR: addr + kept, DT_RELRSZ: size, DT_RELRENT: 8})
        return n
