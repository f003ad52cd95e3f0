/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How many of some intervals run at once: of processes, how parallel a build was. */
#ifndef QPROF_ANALYZE_RUNNING_H
#define QPROF_ANALYZE_RUNNING_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct running_interval {
	uint64_t start_ns;
	uint64_t end_ns;   /* one before start_ns counts as start_ns */
	uint64_t alone_ns; /* filled in: while no other one ran */
};

struct running {
	uint64_t start_ns; /* of the first */
	uint64_t end_ns;   /* of the last */
	uint64_t tail_ns;  /* at the end, with no more than one */
	/* at[i]: while i ran at once. They add up to end_ns - start_ns. */
	uint64_t *at;
	size_t n; /* the most that ran at once, plus 1; 0 without intervals */
};

/* 0 or -ENOMEM. To be destroyed; what is in `r` before is not looked at. */
int running__of(struct running *r, struct running_interval *intervals, size_t n);

void running__destroy(struct running *r);

#endif /* QPROF_ANALYZE_RUNNING_H */
