/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The linear-index encoding of a pc-value table, after Austin Clements' experiment for Go
 * (golang.org/issue/61984, 2023); written here from its description, with its mistakes mended
 * (docs/pctab.md names them). Code is cut into chunks of 256 quanta; an index has the place of each
 * chunk; a chunk lists the pcs at which the value changes, and the values, in 1, 2 or 4 bytes, less
 * the chunk's first one. A look-up reads one index entry and one chunk, however long the function.
 *
 * The length of the function is not part of the encoding; store it beside the table.
 */
#ifndef QPROF_PCTAB_LINEAR_H
#define QPROF_PCTAB_LINEAR_H

#include <stdint.h>

#include "pctab/pctab.h"

#define PCTAB_CHUNK_SHIFT  8	/* a chunk is 256 quanta */
#define PCTAB_INDEX_WIDE   0xfe /* first byte of an index of u16 */
#define PCTAB_INDEX_WIDEST 0xff /* first byte of an index of u32 */

/* A table in memory, not owned. */
struct pctab_linear {
	const uint8_t *data;
	uint32_t size;
	uint32_t length; /* bytes of code */
};

/* How many chunks code of this length has; 0 quanta have none. */
static inline uint32_t pctab_linear__chunks(uint32_t length, unsigned int quantum_shift)
{
	return length ? ((length - 1) >> (PCTAB_CHUNK_SHIFT + quantum_shift)) + 1 : 0;
}

/*
 * Append the table to `out`. 0, -EINVAL (see pctab_runs__check()), -EFBIG if it would take more
 * than 4 GiB, -ENOMEM.
 */
int pctab_linear__encode(struct pctab_buffer *out, const struct pctab_runs *runs,
			 unsigned int quantum_shift);

/* Counts of a table's parts, for statistics. */
struct pctab_linear_stats {
	uint32_t chunks;
	uint32_t constant;    /* chunks with one value */
	uint32_t shared;      /* of these, chunks that refer to an earlier one */
	uint32_t index_width; /* bytes per entry: 1, 2 or 4; 0 if there is no index */
	uint32_t most_pcs;    /* in one chunk */
};

/*
 * Replace `runs` by the whole table, and fill `stats` unless NULL. Checks every byte: 0, -EBADMSG
 * if it is no table, or not all of it is used, -ENOMEM; both may have changed in any case.
 */
int pctab_linear__decode(const struct pctab_linear *t, unsigned int quantum_shift,
			 struct pctab_runs *runs, struct pctab_linear_stats *stats);

/*
 * The value at `pc`. 0, -ERANGE if `pc` is not below the length, -EBADMSG if what was read is no
 * table. Of a table that pctab_linear__decode() refuses any value may come, but nothing outside
 * of it is read.
 */
int pctab_linear__lookup(const struct pctab_linear *t, unsigned int quantum_shift, uint32_t pc,
			 int32_t *value);

#endif /* QPROF_PCTAB_LINEAR_H */
