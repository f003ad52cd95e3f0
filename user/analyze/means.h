/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How long an execution of each query takes on average, over all that were recorded. */
#ifndef QPROF_ANALYZE_MEANS_H
#define QPROF_ANALYZE_MEANS_H

#include <stddef.h>
#include <stdint.h>

struct mean {
	uint32_t label;
	uint64_t count;
	uint64_t ns; /* of all */
};

/* All zeroes is empty. */
struct means {
	struct mean *at; /* by label */
	size_t n;
	uint64_t spans; /* the maker's: of how many spans they are */
};

/* Take over `n` parts in any order, several of one label among them. The array is `m`'s now. */
void means__set(struct means *m, struct mean *parts, size_t n);

/* What `count` executions take if they are like those recorded; 0 if none was. */
uint64_t means__estimate(const struct means *m, uint32_t label, uint64_t count);

void means__destroy(struct means *m);

#endif /* QPROF_ANALYZE_MEANS_H */
