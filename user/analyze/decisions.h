/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The decisions of a budget's governor, summed: what was watched less, and how long. */
#ifndef QPROF_ANALYZE_DECISIONS_H
#define QPROF_ANALYZE_DECISIONS_H

#include "base/cleanup.h"
#include "base/map.h"
#include "trace/trace.h"

/* Of one query, or of other intervals of one kind and label. */
struct decided {
	uint32_t label;
	uint32_t decisions;
	uint8_t kind;		      /* enum trace_kind */
	uint64_t ns[TRACE_WATCH_MAX]; /* since the first decision on it; on the clock */
	uint64_t since_ns;
	uint8_t watch;	  /* since then */
	uint64_t last_ns; /* of the last decision */
};

/* All zeroes is empty. */
struct decisions {
	struct decided *rows; /* in the order of the first decision on each */
	uint32_t n;
	uint32_t capacity;
	struct u64_map row_of; /* kind << 32 | label */
	uint64_t total;
	/* What probes took when decisions were made, in millionths: at the last, and at most. */
	uint64_t last_cost_ppm;
	uint64_t most_cost_ppm;
	uint64_t ppm; /* the budget, as the trace says, or the last decision; 0: there was none */
};

/* 0 or -ENOMEM. In the order of a trace. */
int decisions__add(struct decisions *all, const struct trace_decision *d);

/* Since when intervals of a kind are all watched; 0: ever, UINT64_MAX: not even at last. */
uint64_t decisions__watched_from(const struct decisions *all, uint8_t kind);

/* Count the time since the last decisions, up to `ns`. Once, at the end. */
void decisions__end(struct decisions *all, uint64_t ns);

void decisions__destroy(struct decisions *all);

#endif /* QPROF_ANALYZE_DECISIONS_H */
