/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How long a build would take if parts of it took no time: its compiles are started again, each as
 * soon as what it waits for is there and a job is free, in the order in which they were started.
 * Each takes as long as it did. What happens outside compilers, except for the runs of build
 * scripts, takes no time.
 */
#ifndef QPROF_ANALYZE_SCHEDULE_H
#define QPROF_ANALYZE_SCHEDULE_H

#include "analyze/compile_graph.h"

#define SCHEDULE_ALL_JOBS UINT32_MAX

/* A part of a compile that takes no time, from and to ns after the start of its process. */
struct schedule_without {
	uint32_t node; /* UINT32_MAX: none */
	uint64_t from_ns;
	uint64_t to_ns;
	bool run; /* the run of its build script instead */
};

/* Put the time that the build takes with so many jobs into *ns. 0 or -ENOMEM. */
int schedule_ns(const struct compile_graph *g, uint32_t jobs,
		const struct schedule_without *without, uint64_t *ns);

/* How many compiles ran at once at most. 0: out of memory, or there are none. */
uint32_t schedule_jobs(const struct compile_graph *g);

#endif /* QPROF_ANALYZE_SCHEDULE_H */
