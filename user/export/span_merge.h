/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The intervals of a trace in which not all queries have probes: those that probes saw, of
 * activities, waits and some queries, and those of other queries, which samples met
 * (analyze/sampled_intervals.h). Each thread's come nested and in the order of their ends, with the
 * depths that follow.
 *
 * Where a sampled interval and an activity overlap and neither is in the other, the execution began
 * before the activity, or ended after it, as executions and activities nest: the interval is made
 * longer, to the start or the end of the activity. An interval in an activity stays there, though
 * the execution may have had the activity in it.
 *
 * Memory: all these intervals, up to SPAN_MERGE_MOST. A trace with more is merged in parts: what
 * samples have met up to there and later on is two intervals.
 */
#ifndef QPROF_EXPORT_SPAN_MERGE_H
#define QPROF_EXPORT_SPAN_MERGE_H

#include "analyze/sampled_intervals.h"
#include "export/job.h"
#include "trace/reader.h"

#define SPAN_MERGE_MOST (1u << 20)

/* Once initialised, not to be moved. Destroy it in any case. */
struct span_merge {
	struct sampled_intervals sampled;
	struct trace_span *held;
	uint32_t n, capacity;
	int (*take)(void *ctx, const struct trace_span *span);
	void *take_ctx;
};

/* `take` gets the intervals, and may return an error. The reader outlives the merge. */
void span_merge__init(struct span_merge *m, const struct trace_reader *r,
		      int (*take)(void *ctx, const struct trace_span *span), void *take_ctx);

/*
 * Take the next item. Spans of a trace whose queries all have probes go on at once. 0, -ENOMEM, or
 * the error of `take`.
 */
int span_merge__item(struct span_merge *m, const struct trace_item *item);

/* After the last item. Errors as above. */
int span_merge__end(struct span_merge *m);

void span_merge__destroy(struct span_merge *m);

/*
 * Finds the shortest duration that an export can include within job->max_bytes. It counts intervals
 * by duration, because the longest are kept.
 */

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

#endif /* QPROF_EXPORT_SPAN_MERGE_H */
