/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes the intervals of a thread nest, for readers that fail otherwise. Captured intervals nest
 * already and are left unchanged; other traces may hold anything.
 */
#ifndef QPROF_EXPORT_NESTING_H
#define QPROF_EXPORT_NESTING_H

#include <stdint.h>

#include "base/table.h"

struct nesting_thread;

/* All zeroes is empty. */
struct nesting {
	TABLE(struct nesting_thread) threads; /* by tid */
};

/*
 * Take the next interval of a thread, start <= end, at the `depth` that the trace gives. Returns 1
 * if it was shortened or moved, because it ended before the previous interval or overlapped an
 * earlier one without enclosing it; else 0, or -ENOMEM. Memory is per thread and per interval that
 * no other encloses yet.
 */
int nesting__fit(struct nesting *n, uint32_t tid, uint16_t depth, uint64_t *start, uint64_t *end);

void nesting__destroy(struct nesting *n);

#endif /* QPROF_EXPORT_NESTING_H */
