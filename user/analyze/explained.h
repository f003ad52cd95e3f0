/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which long intervals explain where time went. A long interval is mostly within other long ones;
 * one of them is to be named, not all. It is the innermost: an interval explains its time if at
 * least half of it is in no interval within it that does.
 */
#ifndef QPROF_ANALYZE_EXPLAINED_H
#define QPROF_ANALYZE_EXPLAINED_H

#include "base/table.h"
#include "trace/trace.h"

/* The explained time within an interval that has not ended yet. */
struct explained_part {
	uint32_t depth;
	uint64_t ns;
};

struct explained_thread {
	struct explained_part *parts; /* by depth */
	uint32_t n, capacity;
};

/* All zeroes is empty. */
struct explained {
	TABLE(struct explained_thread) threads; /* by process << 32 | tid */
};

/*
 * Take the next interval of a thread; they come in the order of their ends, and short ones may be
 * left out, with all that is within them. `ns` is its duration. Whether it explains it; always true
 * if `may` is, and memory runs out; never if `may` is false.
 */
bool explained__take(struct explained *e, const struct trace_span *span, uint64_t ns, bool may);

void explained__clear(struct explained *e);

#endif /* QPROF_ANALYZE_EXPLAINED_H */
