/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads an ELF file for a plan: function symbols, executable bytes, identity. Every byte is
 * untrusted: nothing here reads outside the file, whatever its headers contain.
 *
 * To learn how the room user/plan/symbols works, read in this order:
 *
 *	elf_image.h	an opened file: this file
 *	names.c		which of rustc's functions a mangled symbol names
 *	function_name.h	the symbols of an image that a plan uses; names for people (demangle.h)
 *	debug_file.h	symbols that are in another file than the library
 *	eh_frame.h	the unwind records of functions; cfa.h runs the program of one
 *	bounds.h	where functions begin and end in a file without symbols
 *
 * The other files answer one question each: key_name.h the type of a query's key, got.h and
 * relocated.h what a pointer leads to, functions.h and lines.h what code at an address belongs to.
 */
#ifndef QPROF_PLAN_SYMBOLS_ELF_IMAGE_H
#define QPROF_PLAN_SYMBOLS_ELF_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/library/file.h"
#include "plan/symbols/elf_symbol.h"

/* Bytes of the longest build-id that is read. */
#define ELF_BUILD_ID_MAX 20
/* The name in .gnu_debuglink, and its NUL. */
#define ELF_LINK_MAX 256

struct elf_image;

/*
 * Map `file`, and keep a reference. If the file is truncated meanwhile, reading the image ends the
 * process with SIGBUS: use this in children, and in commands that only read. Errors as
 * plan__build(): prints one line, returns a negative errno. elf_image__symbols() returns -ENODATA
 * (no .symtab, or one without functions); this function does not.
 */
int elf_image__map(struct library_file *file, struct elf_image **out);

/*
 * The same, but read each part into our own memory: truncating the file causes an error, not a
 * signal. elf_image__code() and elf_image__bytes() find nothing; use elf_image__copy().
 */
int elf_image__read(struct library_file *file, struct elf_image **out);

/* As elf_image__read(), of a file that may hold symbols only. */
int elf_image__read_debug_file(struct library_file *file, struct elf_image **out);

/*
 * All defined function symbols of .symtab, sorted by (addr, name). The image owns them. Each symbol
 * starts inside the file-backed part of an executable segment; others are left out. A size beyond
 * the end of that part is cut. Prints nothing on -ENODATA: the caller knows the purpose of the
 * symbols.
 */
int elf_image__symbols(struct elf_image *img, const struct elf_symbol **syms, size_t *n);

/* The size of the first of those symbols that begin at `addr`; 0 if none does, or none were read.
 */
uint64_t elf_image__size_of(const struct elf_image *img, uint64_t addr);

/* True if it has a .symtab that is not empty. */
bool elf_image__has_symbols(const struct elf_image *img);

/*
 * Use these symbols as those of .symtab. This ends symbols and names that the image gave before.
 * Each st_name is an offset in `names`, which the image takes, also on an error, and which ends
 * with a NUL. Symbols are left out as there. 0 or -ENOMEM.
 */
int elf_image__take_symbols(struct elf_image *img, const GElf_Sym *symbols, size_t n, char *names,
			    size_t names_size);

/*
 * The same of .symtab, or of .dynsym if that has none: sorted by address, the longest first. Tables
 * of more than 2^20 symbols are not read. Use one of the two functions for an image, until it takes
 * other symbols. -ENODATA, or -ENOMEM after one line.
 */
int elf_image__any_symbols(struct elf_image *img, const struct elf_symbol **syms, size_t *n);

/*
 * The bytes from `addr` to the end of its executable segment (file-backed part only).
 * NULL and *len = 0 if `addr` is not in one, or the image is not mapped.
 */
const uint8_t *elf_image__code(const struct elf_image *img, uint64_t addr, size_t *len);

/* As elf_image__code(), but of any segment: for tables and constants. */
const uint8_t *elf_image__bytes(const struct elf_image *img, uint64_t addr, size_t *len);

/* Where the first section of this name is in memory; false if there is none that is there. */
bool elf_image__section(const struct elf_image *img, const char *name, uint64_t *addr,
			uint64_t *size);
/* The same, and its bytes as far as the file has them; NULL: none. */
const uint8_t *elf_image__section_bytes(const struct elf_image *img, const char *name,
					uint64_t *addr, size_t *len);

/* True if there is a section of this name, in memory or not. */
bool elf_image__has_section(const struct elf_image *img, const char *name);

/* The name in .gnu_debuglink, of a file in an unknown directory; "" and false if there is none. */
bool elf_image__debuglink(const struct elf_image *img, char name[ELF_LINK_MAX]);

/* The address where a program starts; 0 if it is none. */
uint64_t elf_image__entry(const struct elf_image *img);

/* A file-backed part of a segment. */
struct elf_segment {
	uint64_t addr;
	uint64_t offset; /* in the file */
	uint64_t size;
};

/*
 * The executable ones, in the order of the program headers, to `out`, which has room for `most`.
 * Returns how many there are, which may be more.
 */
size_t elf_image__code_segments(const struct elf_image *img, struct elf_segment *out, size_t most);

/*
 * The function of this library that a call or jump through the pointer at `slot` reaches; 0 if it
 * is another library's, or `slot` is not in the global offset table, or the image is not mapped.
 */
uint64_t elf_image__through(const struct elf_image *img, uint64_t slot);

/*
 * Copy up to `len` bytes of code from `addr`, fewer at the end of its executable segment. Returns
 * their number, 0 if `addr` is in no such segment or the file cannot be read.
 */
size_t elf_image__copy(const struct elf_image *img, uint64_t addr, uint8_t *buf, size_t len);

/*
 * The start addresses of functions, from the unwind table (.eh_frame_hdr) or, if there is none,
 * from the symbols of functions. Sorted; the image owns them. -ENODATA if the file has neither;
 * -EBADMSG if the unwind table is not sorted, or far larger than any of rustc's; -ENOMEM. Prints
 * nothing.
 */
int elf_image__starts(struct elf_image *img, const uint64_t **starts, size_t *n);

/* The file offset of an address in an executable segment; false if no such segment contains it. */
bool elf_image__offset(const struct elf_image *img, uint64_t addr, uint64_t *offset);

/*
 * The GNU build-id. Returns its length in bytes, 0 if there is none or if it is longer than
 * ELF_BUILD_ID_MAX.
 */
uint32_t elf_image__build_id(const struct elf_image *img, uint8_t id[ELF_BUILD_ID_MAX]);

/*
 * The build-id, or, for a file without one (rustup's librustc_driver), 20 bytes made from the
 * file's size and checksums of its headers, symbol table and unwind table. A cache may use it as a
 * key. Returns the number of bytes, never 0.
 */
uint32_t elf_image__identity(struct elf_image *img, uint8_t id[ELF_BUILD_ID_MAX]);

/* "rustc version ..." string of .comment (or of .rodata / .rustc metadata where cheap), or NULL. */
const char *elf_image__rustc_version(const struct elf_image *img);

/*
 * The debug information, which the caller ends with dwarf_end(), or NULL if there is none. libdw
 * checks all data that it reads.
 */
struct Dwarf *elf_image__dwarf(const struct elf_image *img);

/* The path that the file was opened by. */
const char *elf_image__path(const struct elf_image *img);
struct library_file *elf_image__file(const struct elf_image *img);

void elf_image__free(struct elf_image *img);
DEFINE_CLEANUP(struct elf_image, elf_image__free)
#define _elf_image_ __cleanup(elf_image__free_p)

#endif /* QPROF_PLAN_SYMBOLS_ELF_IMAGE_H */
