/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The number of intervals that are open at a time, as a mean over each of at most
 * PARALLELISM_BUCKETS equal buckets of time. A bucket lasts 1 ms, doubled as often as needed.
 * Intervals may come in any order; memory does not depend on their number.
 */
#ifndef QPROF_EXPORT_PARALLELISM_H
#define QPROF_EXPORT_PARALLELISM_H

#include <stdint.h>

#define PARALLELISM_BUCKETS 4096u

struct parallelism {
	uint64_t base_ns;
	uint64_t width_ns;			/* of a bucket */
	uint32_t used;				/* buckets with any interval */
	uint64_t busy_ns[PARALLELISM_BUCKETS];	/* of intervals that begin or end in it */
	int64_t whole[PARALLELISM_BUCKETS + 1]; /* intervals that fill it, less the bucket before */
};

/* Time before `base_ns` does not count. */
void parallelism__init(struct parallelism *p, uint64_t base_ns);

/* start_ns <= end_ns */
void parallelism__add(struct parallelism *p, uint64_t start_ns, uint64_t end_ns);

/* From `at_ns` on, `mean` intervals are open. 0 or a negative errno. */
typedef int (*parallelism_fn)(void *ctx, uint64_t at_ns, double mean);

/* Call `put` for each change, in the order of time; the last is to 0. 0, or the error of `put`. */
int parallelism__each(const struct parallelism *p, parallelism_fn put, void *ctx);

#endif /* QPROF_EXPORT_PARALLELISM_H */
