/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Results that an incremental compile reused from the previous one. docs/events.md lists which of
 * them can be determined.
 */
#ifndef QPROF_ANALYZE_REUSE_H
#define QPROF_ANALYZE_REUSE_H

#include "base/table.h"
#include "trace/trace.h"

/* Reuse in one process. */
struct reuse {
	uint64_t executed; /* query executions with a span */
	bool unprobed;	   /* some queries had no probes: there were more executions */
	uint64_t loads;	   /* results looked for in the cache on disk */
	uint64_t loaded;   /* lower bound: loads not followed by an execution of the query */
	/*
	 * Lower bound of the results in the graph of this compile, reused or not. 0: unknown,
	 * because several threads numbered results, which leaves gaps.
	 */
	uint64_t results;
};

/* True if an execution without a span may have followed a load. `loaded` is then no lower bound. */
static inline bool reuse__may_miss(const struct reuse *r)
{
	return r->unprobed;
}

/* True if reuse__unseen() is valid. */
static inline bool reuse__knows_unseen(const struct reuse *r)
{
	return r->results && !r->unprobed;
}

/* Results that were neither executed nor loaded. */
static inline uint64_t reuse__unseen(const struct reuse *r)
{
	uint64_t seen = r->executed + r->loaded;

	return r->results > seen ? r->results - seen : 0;
}

/* Separates loads that found something from those that did not. All zeroes is empty. */
struct load_tracks {
	TABLE(struct load_track) tracks; /* by process << 32 | tid */
};

/*
 * Add a span; spans of a thread come in the order of their ends. Returns 1 if the span is an
 * execution right after a load of the same query, so that the load found nothing; else 0 or
 * -ENOMEM.
 */
int load_tracks__span(struct load_tracks *l, const struct trace_span *span);

void load_tracks__destroy(struct load_tracks *l);

#endif /* QPROF_ANALYZE_REUSE_H */
