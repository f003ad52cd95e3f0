/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How many intervals run at once; for processes, the parallelism of a build. */
#ifndef QPROF_ANALYZE_RUNNING_H
#define QPROF_ANALYZE_RUNNING_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct running_interval {
	uint64_t start_ns;
	uint64_t end_ns;   /* an end before start_ns counts as start_ns */
	uint64_t alone_ns; /* output: time in which no other interval ran */
};

struct running {
	uint64_t start_ns; /* start of the first interval */
	uint64_t end_ns;   /* end of the last interval */
	uint64_t tail_ns;  /* time at the end with at most one running */
	/* at[i]: time in which exactly i ran. The sum is end_ns - start_ns. */
	uint64_t *at;
	size_t n; /* largest number that ran at once, plus 1; 0 without intervals */
};

/* 0 or -ENOMEM. Destroy it after use; the previous content of `r` is ignored. */
int running__of(struct running *r, struct running_interval *intervals, size_t n);

void running__destroy(struct running *r);

#endif /* QPROF_ANALYZE_RUNNING_H */
