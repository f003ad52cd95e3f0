/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes the intervals of a thread nest, for readers that fail where they do not. What a capture
 * records nests, and is left as it is; other traces may hold anything.
 */
#ifndef QPROF_EXPORT_NESTING_H
#define QPROF_EXPORT_NESTING_H

#include <stdint.h>

#include "base/map.h"

struct nesting_thread;

/* All zeroes is empty. */
struct nesting {
	struct u64_map thread_of; /* tid -> index into threads */
	struct nesting_thread *threads;
	uint32_t n;
	uint32_t capacity;
};

/*
 * Take the next interval of a thread, start <= end, nested `depth` deep as the trace has it. If it
 * ends before the last one, or overlaps an earlier one without enclosing it, it is made shorter or
 * moved: 1. Else 0; or -ENOMEM. Memory is by thread and by intervals that nothing encloses yet.
 */
int nesting__fit(struct nesting *n, uint32_t tid, uint16_t depth, uint64_t *start, uint64_t *end);

void nesting__destroy(struct nesting *n);

#endif /* QPROF_EXPORT_NESTING_H */
