/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Samples of one cause by their stacks: what analyze/call_tree.h and the like are made of. Memory:
 * 16 bytes for each entry of stacks.
 */
#ifndef QPROF_ANALYZE_STACK_SUMS_H
#define QPROF_ANALYZE_STACK_SUMS_H

#include "analyze/sampled.h"

/* All zeroes but for the cause and the source is empty. */
struct stack_sums {
	uint8_t cause; /* enum trace_sample_cause; other samples are ignored */
	struct stack_source source;
	struct sample_sum *at; /* by the number of a stack's innermost entry */
	uint32_t n;	       /* numbers from 0 on */
	struct sample_sum all; /* of the cause, in a stack or without one */
};

/* 0 or -ENOMEM. A stack that the source does not have counts as none. */
int stack_sums__add(struct stack_sums *s, const struct trace_sample *sample);

void stack_sums__destroy(struct stack_sums *s);

#endif /* QPROF_ANALYZE_STACK_SUMS_H */
