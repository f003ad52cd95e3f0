/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The starts of a thread's intervals in an order that a stable sort by time makes right.
 *
 * Spans come in the order of their ends, children before parents. Who draws them from separate
 * starts and ends sorts these by time, and of equal times takes the order of the file. So where a
 * child starts with its parent, the parent's start has to be written first, though it comes later.
 * What is kept for that are the first children of what is still open: as many as spans are nested.
 */
#ifndef QPROF_EXPORT_BEGINS_H
#define QPROF_EXPORT_BEGINS_H

#include "trace/trace.h"

struct begin;

/* Of one thread; all zeroes is none. */
struct begins {
	struct begin *kept;
	uint32_t n;
	uint32_t capacity;
};

/* Write the start of `span`: 0 or a negative errno. */
typedef int (*begins_fn)(void *ctx, const struct trace_span *span);

/*
 * Take the next span, which is longer than 0 ns, and call `write` for each start whose place is
 * known now. 0, -ENOMEM, or what `write` returned.
 */
int begins__span(struct begins *b, const struct trace_span *span, begins_fn write, void *ctx);

/* No span will come: write the rest. */
int begins__finish(struct begins *b, begins_fn write, void *ctx);

void begins__destroy(struct begins *b);

#endif /* QPROF_EXPORT_BEGINS_H */
