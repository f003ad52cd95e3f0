# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Strips a library as Fedora's packages are stripped: of its symbols, the functions that are not exported
stay, in a compressed ELF file of their own within it (.gnu_debugdata). GNU strip breaks BOLT's layout.
"""

import lzma
import mmap
import shutil
import struct

from packed_relocations import SECTION, Library

SYMBOL = struct.Struct("<IBBHQQ")
STT_FUNC, SHT_PROGBITS, SHT_SYMTAB, SHT_NOBITS, SHF_ALLOC, STB_LOCAL = 2, 1, 2, 8, 2, 0
EHDR, PHDR = 64, 56
# A section that nothing reads here: its header and its name become those of .gnu_debugdata.
UNREAD = ".note.bolt_info"


def name_at(data, at):
    return data[at:data.find(b"\0", at)]


def symbols(library, table):
    (_, row), names = library.find(table), library.section(library.find(table)[1][6])[4]
    for at in range(row[4], row[4] + row[5], SYMBOL.size):
        fields = SYMBOL.unpack_from(library.data, at)
        yield name_at(library.data, names + fields[0]), fields


def functions(library):
    """The table of the functions that are not exported, its names, and how many are local."""
    exported = {name for name, fields in symbols(library, ".dynsym") if fields[3]}
    table, names = [bytes(SYMBOL.size)], [b""]
    length, local = 1, 1
    for name, fields in symbols(library, ".symtab"):
        if fields[1] & 15 == STT_FUNC and fields[3] and name not in exported:
            table.append(SYMBOL.pack(length, *fields[1:]))
            names.append(name)
            length += len(name) + 1
            local += fields[1] >> 4 == STB_LOCAL
    return b"".join(table), b"\0".join(names) + b"\0", local


def debug_elf(library):
    """An ELF file with the library's headers, these functions, and nothing else."""
    data, n = library.data, library.n_sections
    out = bytearray(data[:EHDR])
    segments = struct.unpack_from("<Q", data, 32)[0]
    struct.pack_into("<Q", out, 32, EHDR)
    out += data[segments:segments + PHDR * struct.unpack_from("<H", data, 56)[0]]
    symtab, row = library.find(".symtab")
    table, names, local = functions(library)
    parts = {symtab: table, row[6]: names}
    strings = struct.unpack_from("<H", data, 62)[0]
    parts[strings] = data[library.names:library.names + library.section(strings)[5]]
    rows = []
    for i in range(n):
        row = list(library.section(i))
        if i in parts:
            row[4], row[5] = len(out), len(parts[i])
            row[7] = local if i == symtab else 0  # libdwfl relies on this number
            out += parts[i].ljust((len(parts[i]) + 7) & ~7, b"\0")
        elif i:
            row[1] = SHT_NOBITS
            row[4] = len(out)
            row[5] *= row[2] & SHF_ALLOC != 0
        rows.append(row)
    struct.pack_into("<Q", out, 40, len(out))
    return bytes(out) + b"".join(SECTION.pack(*row) for row in rows)


def strip(source, target):
    shutil.copy2(source, target)
    with open(target, "r+b") as f:
        with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
            packed = lzma.compress(debug_elf(Library(data)), preset=0)
        f.seek(0, 2)
        end = f.tell()
        f.write(packed)
        f.flush()
        with mmap.mmap(f.fileno(), 0) as data:
            library = Library(data)
            symtab, _ = library.find(".symtab")
            library.set_section(symtab, 0, SHT_PROGBITS, *[0] * 8)
            unread, row = library.find(UNREAD)
            at = library.names + row[0]
            data[at:at + 15] = b".gnu_debugdata\0"
            library.set_section(unread, row[0], SHT_PROGBITS, 0, 0, end, len(packed), 0, 0, 1, 0)
