/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the shortest duration that an export can include within job->max_bytes. It counts intervals
 * by duration, because the longest are kept.
 */
#ifndef QPROF_EXPORT_SIZE_LIMIT_H
#define QPROF_EXPORT_SIZE_LIMIT_H

#include "export/job.h"

/* Eight duration classes per power of two. */
#define SIZE_CLASSES (64 * 8)

struct size_limit {
	uint64_t counts[SIZE_CLASSES];
	uint64_t all;
};

/*
 * Add all intervals that a timeline of the trace has, and pass each item to `item`, or NULL. 0 or a
 * negative errno.
 */
int size_limit__read(struct size_limit *f, struct trace_reader *r,
		     int (*item)(void *ctx, const struct trace_item *item), void *ctx);

/* The least duration, ns, for which at most `most` spans are as long or longer; 0: all spans. */
uint64_t size_limit__least(const struct size_limit *f, uint64_t most);

/* Whether the job has a size limit that its trace may exceed. Only then is job->survey read. */
bool size_limit_is_due(const struct export_job *job, uint32_t span_bytes);

/*
 * Set job->least_ns so that the spans of at least that duration, at `span_bytes` each, stay below
 * the limit. Reads job->survey to its end, unless the trace is certainly small enough. Without a
 * survey, least_ns stays 0. 0 or a negative errno.
 */
int size_limit_least(struct export_job *job, uint32_t span_bytes);

#endif /* QPROF_EXPORT_SIZE_LIMIT_H */
