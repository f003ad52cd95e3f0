/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Computes how deep each interval of a .mm_profdata file is nested, by the rule of measureme's
 * readers: the parent of an interval is the next interval of its thread, in file order, whose times
 * enclose it.
 */
#ifndef QPROF_IMPORT_MM_DEPTHS_H
#define QPROF_IMPORT_MM_DEPTHS_H

#include "import/mm_reader.h"

/* Depth of an event that is no interval, or whose interval is backwards or out of order. */
#define MM_NO_DEPTH UINT16_MAX

struct mm_depths {
	uint16_t *depth;       /* by event */
	uint64_t last_end_ns;  /* of all intervals that have a depth */
	uint64_t backwards;    /* intervals that end before they start */
	uint64_t out_of_order; /* intervals that end after a later one of their thread */
	uint64_t overlapping;  /* intervals that overlap another, and neither encloses the other */
};

/*
 * Read all events of a file, last first. 0, -ENOMEM or -EIO. The caller destroys `*d` in any case.
 */
int mm_depths__find(struct mm_depths *d, struct mm_reader *r);

void mm_depths__destroy(struct mm_depths *d);

#endif /* QPROF_IMPORT_MM_DEPTHS_H */
