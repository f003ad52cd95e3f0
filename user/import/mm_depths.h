/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How deep each interval of a .mm_profdata file is nested, by the rule of measureme's readers: an
 * interval is inside the next one of its thread, in file order, whose times enclose its own.
 */
#ifndef QPROF_IMPORT_MM_DEPTHS_H
#define QPROF_IMPORT_MM_DEPTHS_H

#include "import/mm_reader.h"

/* Of an event without a place: it is no interval, ends before it starts, or is out of order. */
#define MM_NO_DEPTH UINT16_MAX

struct mm_depths {
	uint16_t *depth;       /* by event */
	uint64_t last_end_ns;  /* of all intervals that have a depth */
	uint64_t backwards;    /* intervals that end before they start */
	uint64_t out_of_order; /* intervals that end after one that follows them in their thread */
	uint64_t overlapping;  /* intervals that overlap one without either enclosing the other */
};

/* Read all events of a file, backwards. -ENOMEM, -EIO. `*d` needs destroying in any case. */
int mm_depths__find(struct mm_depths *d, struct mm_reader *r);

void mm_depths__destroy(struct mm_depths *d);

#endif /* QPROF_IMPORT_MM_DEPTHS_H */
