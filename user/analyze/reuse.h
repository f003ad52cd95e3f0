/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What an incremental compile took over from the last one. What can be told and what cannot is in
 * docs/events.md.
 */
#ifndef QPROF_ANALYZE_REUSE_H
#define QPROF_ANALYZE_REUSE_H

#include "base/map.h"
#include "trace/trace.h"

/* Of one process. */
struct reuse {
	uint64_t executed;  /* queries, of which there is a span */
	uint64_t counted;   /* executions without one, exactly */
	uint64_t estimated; /* and about; */
	bool rough;	    /* if that is said, even of none */
	bool late;	    /* loads were not watched from the start: some may be missing */
	uint64_t loads;	    /* results looked for in the cache on disk */
	uint64_t loaded;    /* of them, those not followed by the query's execution: at least */
	/*
	 * Results in the graph of this compile, whatever became of them: at least. 0: not known, as
	 * several threads made them, and then their numbers have gaps.
	 */
	uint64_t results;
};

/* Without those that are only estimated. */
static inline uint64_t reuse__executed(const struct reuse *r)
{
	return r->executed + r->counted;
}

/*
 * A load may have been followed by an execution without a span, or was not seen: `loaded` is no
 * bound then.
 */
static inline bool reuse__may_miss(const struct reuse *r)
{
	return r->counted || r->rough || r->late;
}

/* Whether reuse__unseen() is anything: not of estimates. */
static inline bool reuse__knows_unseen(const struct reuse *r)
{
	return r->results && !r->rough && !r->late;
}

/* Results that were neither executed nor loaded. */
static inline uint64_t reuse__unseen(const struct reuse *r)
{
	uint64_t seen = reuse__executed(r) + r->loaded;

	return r->results > seen ? r->results - seen : 0;
}

/* Tells loads that found something from those that did not. All zeroes is empty. */
struct load_tracks {
	struct load_track *tracks;
	uint32_t n;
	uint32_t capacity;
	struct u64_map track_of; /* process << 32 | tid */
};

/*
 * Spans of a thread in the order of their ends. 1 if the span is an execution right after a load of
 * the same query, which therefore found nothing; else 0, or -ENOMEM.
 */
int load_tracks__span(struct load_tracks *l, const struct trace_span *span);

void load_tracks__destroy(struct load_tracks *l);

#endif /* QPROF_ANALYZE_REUSE_H */
