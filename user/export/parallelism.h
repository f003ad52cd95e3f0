/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How many intervals there are at a time: the mean over each of at most PARALLELISM_BUCKETS equal
 * stretches of time, which are 1 ms, or as many times doubled as it takes. Intervals come in any
 * order, and memory does not depend on how many.
 */
#ifndef QPROF_EXPORT_PARALLELISM_H
#define QPROF_EXPORT_PARALLELISM_H

#include <stdint.h>

#define PARALLELISM_BUCKETS 4096u

struct parallelism {
	uint64_t base_ns;
	uint64_t width_ns;			/* of a bucket */
	uint32_t used;				/* buckets that anything was in */
	uint64_t busy_ns[PARALLELISM_BUCKETS];	/* in intervals that begin or end in it */
	int64_t whole[PARALLELISM_BUCKETS + 1]; /* more intervals fill it than the one before */
};

/* Time before `base_ns` does not count. */
void parallelism__init(struct parallelism *p, uint64_t base_ns);

/* start_ns <= end_ns */
void parallelism__add(struct parallelism *p, uint64_t start_ns, uint64_t end_ns);

/* From `at_ns` on there are `mean` of them. 0 or a negative errno. */
typedef int (*parallelism_fn)(void *ctx, uint64_t at_ns, double mean);

/* Each change, in the order of time; the last one is to 0. 0, or what `put` returned. */
int parallelism__each(const struct parallelism *p, parallelism_fn put, void *ctx);

#endif /* QPROF_EXPORT_PARALLELISM_H */
