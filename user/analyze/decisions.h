/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The decisions of a budget: which queries and other intervals have no probes.
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
	uint8_t kind; /* enum trace_kind */
};

/* All zeroes is empty. */
struct decisions {
	TABLE(struct decided) rows; /* by kind << 32 | label */
	uint64_t total;
	/* The share of CPU time that recording was expected to take, by the last, in millionths. */
	uint64_t last_cost_ppm;
	uint64_t ppm; /* the budget, from the trace or the last decision; 0: no budget */
};

/* Add a decision; call in the order of the trace. 0 or -ENOMEM. */
int decisions__add(struct decisions *all, const struct trace_decision *d);

/* Whether a query has no probes, and how many have none. */
bool decisions__is_off(const struct decisions *all, uint32_t label);
uint32_t decisions__queries(const struct decisions *all);

void decisions__destroy(struct decisions *all);

#endif /* QPROF_ANALYZE_DECISIONS_H */
