/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The intervals of record --slow of queries without probes: executions that several samples met,
 * which so are at least two sampling periods long.
 */
#ifndef QPROF_RECORD_SLOW_SAMPLED_H
#define QPROF_RECORD_SLOW_SAMPLED_H

#include "analyze/sampled_intervals.h"
#include "record/recent_jobs.h"
#include "record/slow_lines.h"

/* All zeroes: off. */
struct slow_sampled {
	struct slow_lines *lines;
	const struct trace_texts *names;
	struct sampled_intervals intervals;
	const struct recent_jobs *jobs; /* those of the samples */
	uint32_t *over; /* processes that have exited; samples of their last moments may come */
	uint32_t n_over, capacity;
};

/* What is passed outlives it. */
void slow_sampled__open(struct slow_sampled *s, struct slow_lines *lines,
			const struct recent_jobs *jobs, const struct trace_texts *names);

/* An execution was recorded, as all of its query are. 0 or -ENOMEM. */
int slow_sampled__span(struct slow_sampled *s, const struct trace_span *span);

/* 0 or -ENOMEM. */
int slow_sampled__sample(struct slow_sampled *s, const struct trace_sample *sample);

/* A process is new, or has changed. 0 or -ENOMEM. */
int slow_sampled__process(struct slow_sampled *s, const struct trace_process *p);

/*
 * The executions of a process, or of all (TRACE_NO_PROCESS), get their names now, as all have
 * ended. The samples in them were passed on.
 */
int slow_sampled__over(struct slow_sampled *s, uint32_t process);

/*
 * All samples up to now were passed on: end the intervals of processes that have exited. Their
 * names came before, if at all.
 */
int slow_sampled__tick(struct slow_sampled *s);

void slow_sampled__clear(struct slow_sampled *s);

#endif /* QPROF_RECORD_SLOW_SAMPLED_H */
