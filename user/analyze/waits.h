/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Within what the threads waited. Whether there is a query around a wait is only known once that
 * query has ended: spans come in the order of their ends.
 */
#ifndef QPROF_ANALYZE_WAITS_H
#define QPROF_ANALYZE_WAITS_H

#include "trace/trace.h"

/* ns; each wait is in one of them. */
struct waits {
	uint64_t in_queries; /* of any kind of interval of a query, whatever lies between */
	uint64_t in_passes;  /* in an activity, and in no query */
	uint64_t in_neither;
};

struct open_waits {
	uint64_t ns[2]; /* with nothing around them yet, and with activities only */
	uint16_t depth;
};

/* The waits of a thread that may still be in a query. All zeroes is empty. */
struct wait_track {
	struct open_waits *open; /* deeper ones last */
	uint32_t n;
	uint32_t capacity;
};

/* A wait: a span of TRACE_KIND_OFF_CPU. 0 or -ENOMEM. */
int wait_track__wait(struct wait_track *t, const struct trace_span *span);

/* Any other span: what is within it is now known to be. */
void wait_track__span(struct wait_track *t, const struct trace_span *span, struct waits *sums);

/* There are no more spans. Frees the track. */
void wait_track__end(struct wait_track *t, struct waits *sums);

#endif /* QPROF_ANALYZE_WAITS_H */
