/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Puts the unwind tables of files into the area where the kernel half looks them up
 * (include/qprof/wire_unwind.h).
 */
#ifndef QPROF_UNWIND_AREA_H
#define QPROF_UNWIND_AREA_H

#include <stdint.h>

#include "unwind/table.h"

#define UNWIND_AREA_TABLES_MAX 2048

/* The memory is not owned: block i is at i * WIRE_UNWIND_BLOCK_VALUE. */
struct unwind_area {
	uint8_t *memory;
	uint32_t blocks; /* at most WIRE_UNWIND_BLOCKS_MAX */
	uint32_t n;
	/* Offsets that each table takes, in their order. */
	struct unwind_range {
		uint32_t start, end;
	} tables[UNWIND_AREA_TABLES_MAX];
};

void unwind_area__init(struct unwind_area *a, uint8_t *memory, uint32_t blocks);

/* Add the table of a file, and fill *out. 0; -ENOSPC, which changes no table that is there. */
int unwind_area__add(struct unwind_area *a, const struct unwind_table *t,
		     struct wire_unwind_file *out);

/* Give back what unwind_area__add() took. The kernel half must not read it any more. */
void unwind_area__remove(struct unwind_area *a, const struct wire_unwind_file *f);

uint32_t unwind_area__bytes(const struct unwind_area *a);

/* Bytes that no table takes. */
uint32_t unwind_area__left(const struct unwind_area *a);

#endif /* QPROF_UNWIND_AREA_H */
