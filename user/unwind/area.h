/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Puts the unwind tables of files into the area where the kernel half looks them up
 * (include/qprof/wire_unwind.h). Files are only added.
 */
#ifndef QPROF_UNWIND_AREA_H
#define QPROF_UNWIND_AREA_H

#include <stdint.h>

#include "unwind/table.h"

/* The memory is not owned: block i is at i * WIRE_UNWIND_BLOCK_VALUE. */
struct unwind_area {
	uint8_t *memory;
	uint32_t blocks; /* at most WIRE_UNWIND_BLOCKS_MAX */
	uint32_t used;	 /* offset of the first free byte */
};

void unwind_area__init(struct unwind_area *a, uint8_t *memory, uint32_t blocks);

/* Add the table of a file, and fill *out. 0; -ENOSPC, which adds nothing. */
int unwind_area__add(struct unwind_area *a, const struct unwind_table *t,
		     struct wire_unwind_file *out);

#endif /* QPROF_UNWIND_AREA_H */
