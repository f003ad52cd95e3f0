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

#endif /* QPROF_EXPORT_SPAN_MERGE_H */
