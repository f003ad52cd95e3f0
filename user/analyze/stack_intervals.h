/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The intervals of sampled stacks, without the code between them. They form a tree too, which is
 * much smaller: few chains of queries are different. Each entry of the stacks is looked at once, so
 * the time does not depend on how deep they are.
 */
#ifndef QPROF_ANALYZE_STACK_INTERVALS_H
#define QPROF_ANALYZE_STACK_INTERVALS_H

#include "analyze/sampled.h"

#define STACK_INTERVAL_NONE UINT32_MAX

struct stack_interval {
	uint32_t outer; /* smaller than its own number, or STACK_INTERVAL_NONE */
	uint32_t label;
	uint8_t kind;	 /* enum trace_kind */
	bool is_unknown; /* an execution, of which query nobody knows; it has no label */
	uint32_t query;	 /* itself or the innermost execution around it; or NONE */
	uint32_t known; /* itself; if it is unknown, the innermost around it that is not, or NONE */
};

/* All zeroes but for the source is empty. */
struct stack_intervals {
	struct stack_source source;
	uint32_t *of; /* by number of an entry: its innermost interval */
	uint32_t n_of;
	uint32_t of_capacity;
	struct stack_interval *at;
	uint32_t n;
	uint32_t capacity;
};

/*
 * Set *interval to the innermost interval of a stack, or to STACK_INTERVAL_NONE. 0 or -ENOMEM. An
 * entry that the source does not have is no interval.
 */
int stack_intervals__find(struct stack_intervals *s, uint32_t stack, uint32_t *interval);

/*
 * Set is_first[i] of each interval: no outer one has its label. Those with is_hidden[i], and
 * unknown ones, count as not there. 0 or -ENOMEM.
 */
int stack_intervals__first(const struct stack_intervals *s, const bool *is_hidden, bool *is_first);

void stack_intervals__destroy(struct stack_intervals *s);

#endif /* QPROF_ANALYZE_STACK_INTERVALS_H */
