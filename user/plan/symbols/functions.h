/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions of a file by address, and their names: one block of bytes, which is made of the ELF
 * file once, and can be stored and mapped (unwind/job.h). All numbers are little endian:
 *
 *   magic, checksum of the ranges (u32 each)
 *   base: the lowest address (u64)
 *   ranges, bytes of names, bytes of the build-id (u32 each), and 4 zeroes
 *   build-id, in ELF_BUILD_ID_MAX bytes, and 4 zeroes
 *   ranges, in their order: address less base, size, offset of the name or 0xffffffff (u32 each)
 *   names, each with a NUL behind it
 *
 * Another state of this code does not read what was stored: the tables beside it have a checksum of
 * the code (unwind/codec.h).
 */
#ifndef QPROF_PLAN_SYMBOLS_FUNCTIONS_H
#define QPROF_PLAN_SYMBOLS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/symbols/elf_image.h"

struct functions;

/* In front of the ranges, and for each of them. */
#define FUNCTIONS_HEADER 56
#define FUNCTIONS_RANGE	 12

/*
 * Of any file that code may run in: .dynsym will do for symbols, and code without a symbol is
 * divided where the unwind table says that functions start. Of a file with neither, no function is
 * found. The file is read, not mapped. Errors as elf_image__read(), which prints them; -EFBIG: it
 * has more functions or names than 32 bits count; -ENOMEM.
 */
int functions__read(struct library_file *file, struct functions **out);

/* The same of an image. It is not needed afterwards. */
int functions__of_image(struct elf_image *img, struct functions **out);

/* Set the magic and the checksum of bytes of at least FUNCTIONS_HEADER; for tests. */
void functions__seal(uint8_t *bytes, size_t len);

/*
 * Those in `len` bytes, which may be anything. -EBADMSG unless these are of one file's functions,
 * whole: ranges rise and do not overlap, and every name ends within the bytes. The names themselves
 * are not looked at. -ENOMEM. `map` is the mapping that the bytes lie in, which is taken unless it
 * fails; or NULL: the caller keeps the bytes for as long as the functions.
 */
int functions__of_bytes(const uint8_t *bytes, size_t len, void *map, size_t map_size,
			struct functions **out);

/* All of it, for a store: the functions'. */
const uint8_t *functions__bytes(const struct functions *f, size_t *len);

/* A function, or a part of one: split off, or left between symbols. Ranges do not overlap. */
struct function_range {
	uint64_t addr;
	uint32_t size;
	const char *symbol; /* mangled, the functions'; NULL: none */
};

/*
 * The range that contains `pc`; false if there is none. Identical functions that were folded into
 * one have the name of the longest symbol; among equally long ones, the first in the table of
 * names. A function that begins within another has a range of its own. The rest of the outer
 * function behind it is one more range, with the outer name and its own address, like a split-off
 * part.
 */
bool functions__find(const struct functions *f, uint64_t pc, struct function_range *out);

/* The build-id of the file, as elf_image__identity(). */
uint32_t functions__build_id(const struct functions *f, uint8_t id[ELF_BUILD_ID_MAX]);

/* Bytes of memory of our own that they take, about: none that are mapped. */
size_t functions__memory(const struct functions *f);

void functions__free(struct functions *f);
DEFINE_CLEANUP(struct functions, functions__free)
#define _functions_ __cleanup(functions__free_p)

#endif /* QPROF_PLAN_SYMBOLS_FUNCTIONS_H */
