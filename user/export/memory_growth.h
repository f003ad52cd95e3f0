/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How much memory page faults have made resident in each process over time, by sampled faults,
 * which come in no order. It only grows: what is freed is not seen. 24 bytes for each sample.
 */
#ifndef QPROF_EXPORT_MEMORY_GROWTH_H
#define QPROF_EXPORT_MEMORY_GROWTH_H

#include <stdint.h>

/* More samples of a process share a point. */
#define MEMORY_GROWTH_POINTS 4096u

struct memory_fault {
	uint64_t at_ns;
	uint64_t bytes;
	uint32_t process; /* index */
};

/* All zeroes is empty. */
struct memory_growth {
	struct memory_fault *at;
	uint32_t n;
	uint32_t capacity;
};

/* 0 or -ENOMEM. */
int memory_growth__add(struct memory_growth *g, const struct memory_fault *fault);

/*
 * Call `put` with sums: the bytes of a process up to and with this time. Processes in the order of
 * their indices, times ascending. 0, or the error of `put`.
 */
typedef int (*memory_growth_fn)(void *ctx, const struct memory_fault *sum);
int memory_growth__each(struct memory_growth *g, memory_growth_fn put, void *ctx);

void memory_growth__destroy(struct memory_growth *g);

#endif /* QPROF_EXPORT_MEMORY_GROWTH_H */
