/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An ELF file as the plan reads it: function symbols, executable bytes, identity. Every byte is
 * untrusted: nothing here reads outside the file, whatever its headers say.
 */
#ifndef QPROF_PLAN_ELF_IMAGE_H
#define QPROF_PLAN_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/plan.h"

struct elf_symbol {
	uint64_t addr;
	uint64_t size;
	const char *name; /* NUL-terminated, inside the mapped file */
};

struct elf_image;

/*
 * Map `path`. Errors as plan__build(): prints one line, returns a negative errno. -ENODATA (no
 * .symtab, or one without functions) is returned by elf_image__symbols(), not here.
 */
int elf_image__open(const char *path, struct elf_image **out);

/*
 * All defined function symbols of .symtab, sorted by (addr, name). Owned by the image. Each one
 * starts inside the file-backed part of an executable segment, and its size ends there too: what
 * does not is left out, or cut. Prints nothing on -ENODATA: the caller knows what it was for.
 */
int elf_image__symbols(struct elf_image *img, const struct elf_symbol **syms, size_t *n);

/*
 * The bytes from `addr` to the end of its executable segment (file-backed part only).
 * NULL and *len = 0 if `addr` is not in one.
 */
const uint8_t *elf_image__code(const struct elf_image *img, uint64_t addr, size_t *len);

/* As elf_image__code(), but of any segment: where tables and constants are. */
const uint8_t *elf_image__bytes(const struct elf_image *img, uint64_t addr, size_t *len);

/* File offset of an address in an executable segment; false if it is in none. */
bool elf_image__offset(const struct elf_image *img, uint64_t addr, uint64_t *offset);

/* GNU build-id; its length in bytes, 0 if there is none or it is longer than PLAN_BUILD_ID_MAX. */
uint32_t elf_image__build_id(const struct elf_image *img, uint8_t id[PLAN_BUILD_ID_MAX]);

/*
 * The build-id, or, for a file without one (rustup's librustc_driver), 20 bytes made from its size
 * and checksums of its headers, symbol table and unwind table: what a cache may use as a key.
 * Returns their number, never 0.
 */
uint32_t elf_image__identity(struct elf_image *img, uint8_t id[PLAN_BUILD_ID_MAX]);

/* "rustc version ..." string of .comment (or of .rodata / .rustc metadata where cheap), or NULL. */
const char *elf_image__rustc_version(const struct elf_image *img);

/*
 * Its debug information, to be ended with dwarf_end(), or NULL if it has none. libdw checks what it
 * reads.
 */
struct Dwarf *elf_image__dwarf(const struct elf_image *img);

const char *elf_image__path(const struct elf_image *img);

void elf_image__free(struct elf_image *img);
DEFINE_CLEANUP(struct elf_image, elf_image__free)
#define _elf_image_ __cleanup(elf_image__free_p)

#endif /* QPROF_PLAN_ELF_IMAGE_H */
