/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sums of the decisions of a budget: which queries were watched less, and for how long.
 */
#ifndef QPROF_ANALYZE_DECISIONS_H
#define QPROF_ANALYZE_DECISIONS_H

#include "base/cleanup.h"
#include "base/table.h"
#include "trace/trace.h"

/* Decisions on one query, or on other intervals of one kind and label. */
struct decided {
	uint32_t label;
	uint32_t decisions;
	uint8_t kind;		      /* enum trace_kind */
	uint64_t ns[TRACE_WATCH_MAX]; /* wall time in each state, since the first decision on it */
	uint64_t since_ns;
	uint8_t watch;	  /* the state since the last decision */
	uint64_t last_ns; /* time of the last decision */
};

/* All zeroes is empty. */
struct decisions {
	TABLE(struct decided) rows; /* by kind << 32 | label */
	uint64_t total;
	/* Probe cost at the time of decisions, in millionths: at the last one, and the largest. */
	uint64_t last_cost_ppm;
	uint64_t most_cost_ppm;
	uint64_t ppm; /* the budget, from the trace or the last decision; 0: no budget */
};

/* Add a decision; call in the order of the trace. 0 or -ENOMEM. */
int decisions__add(struct decisions *all, const struct trace_decision *d);

/* The time from which all intervals of a kind are watched; 0: always, UINT64_MAX: never. */
uint64_t decisions__watched_from(const struct decisions *all, uint8_t kind);

/* Whether a query is not watched, after the last decision; whether any is; and how many queries
 * there are decisions on. */
bool decisions__is_off(const struct decisions *all, uint32_t label);
bool decisions__any_off(const struct decisions *all);
uint32_t decisions__queries(const struct decisions *all);

/* Count the time since the last decisions, up to `ns`. Once, at the end. */
void decisions__end(struct decisions *all, uint64_t ns);

void decisions__destroy(struct decisions *all);

#endif /* QPROF_ANALYZE_DECISIONS_H */
