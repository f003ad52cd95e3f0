# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A reader of ELF files that shares no code with the profiler, as far as the tests need it."""

import bisect
import ctypes
import ctypes.util
import struct

SYMBOL = struct.Struct("<IBBHQQ")
PT_LOAD, PF_X, SHT_SYMTAB, STT_FUNC = 1, 1, 2, 2


class Elf:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        phoff, self.shoff = struct.unpack_from("<QQ", self.data, 32)
        phnum = struct.unpack_from("<H", self.data, 56)[0]
        self.shnum = struct.unpack_from("<H", self.data, 60)[0]
        self.loads = []  # (address, offset, size) of executable segments
        for i in range(phnum):
            kind, flags, offset, vaddr, _, filesz, _, _ = struct.unpack_from(
                "<IIQQQQQQ", self.data, phoff + 56 * i)
            if kind == PT_LOAD and flags & PF_X:
                self.loads.append((vaddr, offset, filesz))

    def symtab(self):
        """Offset and size of the symbol table, offset of its strings."""
        for i in range(self.shnum):
            _, kind, _, _, offset, size, link = struct.unpack_from(
                "<IIQQQQI", self.data, self.shoff + 64 * i)
            if kind == SHT_SYMTAB:
                return offset, size, struct.unpack_from(
                    "<Q", self.data, self.shoff + 64 * link + 24)[0]
        raise AssertionError("no symbol table")

    def symbols(self):
        """(offset of the symbol's entry, name, type, address) of each."""
        offset, size, names = self.symtab()
        for at in range(offset, offset + size, SYMBOL.size):
            name, info, _, _, value, _ = SYMBOL.unpack_from(self.data, at)
            end = self.data.index(b"\0", names + name)
            yield at, self.data[names + name:end].decode(), info & 15, value

    def offset_of(self, addr):
        for vaddr, offset, size in self.loads:
            if vaddr <= addr < vaddr + size:
                return offset + addr - vaddr
        return None

    def function_starts(self):
        """Offsets in the file, sorted."""
        found = {self.offset_of(value) for _, _, kind, value in self.symbols()
                 if kind == STT_FUNC}
        return sorted(found - {None})


class Disassembler:
    """Capstone, through its C interface."""

    def __init__(self):
        name = ctypes.util.find_library("capstone")
        self.lib = ctypes.CDLL(name)
        self.lib.cs_malloc.restype = ctypes.c_void_p
        self.handle = ctypes.c_size_t()
        assert self.lib.cs_open(3, 1 << 3, ctypes.byref(self.handle)) == 0
        self.insn = ctypes.c_void_p(self.lib.cs_malloc(self.handle))

    def starts(self, code):
        """Offsets of the instructions, starting with the first byte."""
        buffer = ctypes.create_string_buffer(code, len(code))
        at = ctypes.c_void_p(ctypes.addressof(buffer))
        left = ctypes.c_size_t(len(code))
        addr = ctypes.c_uint64(0)
        while left.value:
            here = addr.value
            if not self.lib.cs_disasm_iter(self.handle, ctypes.byref(at), ctypes.byref(left),
                                           ctypes.byref(addr), self.insn):
                return
            yield here


def is_emulated(code):
    """Whether the kernel emulates this instruction: push, nop, jmp, call and conditional jumps."""
    first, second = code[0], code[1]
    return (first in (0x90, 0xe8, 0xe9, 0xeb) or 0x50 <= first <= 0x57 or 0x70 <= first <= 0x7f
            or first == 0x0f and 0x80 <= second <= 0x8f
            or first == 0x41 and 0x50 <= second <= 0x57)


def not_instructions(path, offsets):
    """The offsets at which no emulated instruction starts."""
    elf, disassembler = Elf(path), Disassembler()
    starts = elf.function_starts()
    within = {}
    for offset in sorted(offsets):
        start = starts[bisect.bisect_right(starts, offset) - 1]
        within.setdefault(start, []).append(offset)
    bad = []
    for start, those in within.items():
        code = elf.data[start:those[-1] + 16]
        known = {start + at for at in disassembler.starts(code)}
        bad += [at for at in those if at not in known or not is_emulated(elf.data[at:at + 2])]
    return bad
