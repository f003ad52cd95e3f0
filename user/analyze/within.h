/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sums of the intervals within another one. Intervals of a thread come in the order of their ends,
 * so the inner ones come first: their sums wait in a track, by depth, until the outer one ends.
 */
#ifndef QPROF_ANALYZE_WITHIN_H
#define QPROF_ANALYZE_WITHIN_H

#include "base/table.h"
#include "trace/trace.h"

/* Two sums of times, which the owner of the track gives a meaning. */
struct within {
	uint32_t depth;
	uint64_t ns[2];
};

/* All zeroes is empty. */
struct within_track {
	struct within *at; /* the deepest is last */
	uint32_t n, capacity;
};

/* Remove all that is deeper than `depth`, and return its sum, as of that depth. */
struct within within__take(struct within_track *t, uint32_t depth);

/* Add what was taken, or is in nothing yet; nothing deeper is there. 0 or -ENOMEM. */
int within__put(struct within_track *t, const struct within *sums);

/*
 * Which long intervals explain where time went. A long interval is mostly within other long ones;
 * one of them is to be named, not all. It is the innermost: an interval explains its time if at
 * least half of it is in no interval within it that does.
 */

/* All zeroes is empty. */
struct explained {
	TABLE(struct within_track) threads; /* by process << 32 | tid */
};

/*
 * Take the next interval of a thread; they come in the order of their ends, and short ones may be
 * left out, with all that is within them. `ns` is its duration. Whether it explains it; always true
 * if `may` is, and memory runs out; never if `may` is false.
 */
bool explained__take(struct explained *e, const struct trace_span *span, uint64_t ns, bool may);

void explained__clear(struct explained *e);

#endif /* QPROF_ANALYZE_WITHIN_H */
