/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mean time of an execution of each query, over all recorded executions. */
#ifndef QPROF_ANALYZE_MEANS_H
#define QPROF_ANALYZE_MEANS_H

#include <stddef.h>
#include <stdint.h>

struct mean {
	uint32_t label;
	uint64_t count;
	uint64_t ns; /* sum over all executions */
};

/* All zeroes is empty. */
struct means {
	struct mean *at; /* by label */
	size_t n;
	uint64_t spans; /* number of spans the means cover; set and read by the owner */
};

/* Replace the means by `n` parts, in any order; labels may repeat. `m` takes the array over. */
void means__set(struct means *m, struct mean *parts, size_t n);

/* The estimated time of `count` executions, from the recorded mean; 0 if none was recorded. */
uint64_t means__estimate(const struct means *m, uint32_t label, uint64_t count);

void means__destroy(struct means *m);

#endif /* QPROF_ANALYZE_MEANS_H */
