/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The global offset table: pointers that the dynamic linker fills in, through which compilers call
 * functions. Its relocations show which function each leads to.
 */
#ifndef QPROF_PLAN_SYMBOLS_GOT_H
#define QPROF_PLAN_SYMBOLS_GOT_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Where a part of the table is in memory, and what the file has there: .got, .got.plt. */
struct got_part {
	uint64_t addr;
	uint64_t size;
	const uint8_t *bytes; /* `size` of them */
};

struct got;

/*
 * 0 and the table, which the caller frees, or -ENOMEM. Relocations that cannot be read are left
 * out.
 */
int got__read(Elf *elf, const struct got_part *parts, size_t n_parts, struct got **out);

/*
 * The address that the dynamic linker writes into the slot at `slot`, if it is one of this file;
 * 0 if it is another file's, or there is no such slot.
 */
uint64_t got__value(const struct got *g, uint64_t slot);

/* The `i`-th slot of those that have an address of this file, by their addresses; false: the end.
 */
bool got__slot(const struct got *g, uint32_t i, uint64_t *slot, uint64_t *value);

void got__free(struct got *g);
DEFINE_CLEANUP(struct got, got__free)
#define _got_ __cleanup(got__free_p)

/* ---- Packed relative relocations ------------------------------------------------------------- */

/*
 * Packed relative relocations (DT_RELR), as linkers write them with -z pack-relative-relocs: only
 * places, where the file itself holds the address that the dynamic linker moves.
 */

/* Called with the address of each place. Another result than 0 ends the reading. */
typedef int (*relr_fn)(void *arg, uint64_t place);

/*
 * 0, or the result of `each` that is not. The places ascend, as each is there once: a table in
 * which they do not is damaged, and the rest of it is not read.
 */
int relr__each(const uint8_t *table, size_t size, relr_fn each, void *arg);

#endif /* QPROF_PLAN_SYMBOLS_GOT_H */
