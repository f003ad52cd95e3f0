/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Puts the starts of a thread's intervals into an order that a stable sort by time keeps correct.
 *
 * Spans arrive in the order of their ends, children before parents. A viewer that draws separate
 * starts and ends sorts them by time, and keeps the order of the file for equal times. So if a
 * child starts together with its parent, the parent's start must be written first, although the
 * parent arrives later. The first children of each open interval are kept for that, as many as the
 * spans are nested deep.
 */
#ifndef QPROF_EXPORT_BEGINS_H
#define QPROF_EXPORT_BEGINS_H

#include "trace/trace.h"

struct begin;

/* State of one thread; all zeroes is empty. */
struct begins {
	struct begin *kept;
	uint32_t n;
	uint32_t capacity;
};

/* Write the start of `span`: 0 or a negative errno. */
typedef int (*begins_fn)(void *ctx, const struct trace_span *span);

/*
 * Take the next span, which is longer than 0 ns, and call `write` for each start whose position is
 * now known. 0, -ENOMEM, or the error of `write`.
 */
int begins__span(struct begins *b, const struct trace_span *span, begins_fn write, void *ctx);

/* No more spans: write the kept starts. */
int begins__finish(struct begins *b, begins_fn write, void *ctx);

void begins__destroy(struct begins *b);

#endif /* QPROF_EXPORT_BEGINS_H */
