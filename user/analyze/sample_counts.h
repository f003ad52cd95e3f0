/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Samples of the CPU by query, while they are recorded: the rows of a live table. Knows only what
 * stacks show; analyze/samples.h, which also knows what probes saw, reads a trace.
 */
#ifndef QPROF_ANALYZE_SAMPLE_COUNTS_H
#define QPROF_ANALYZE_SAMPLE_COUNTS_H

#include "analyze/sampled.h"
#include "base/table.h"

struct sample_count {
	uint32_t label;		 /* TRACE_NO_STRING: in no query or other interval that is known */
	uint8_t kind;		 /* enum trace_kind */
	struct sample_sum self;	 /* it was the innermost */
	struct sample_sum total; /* it was in the stack, however often */
};

/* Of one sample, the intervals beyond are not counted. */
#define SAMPLE_COUNTS_DEEPEST 512

/* All zeroes is empty. */
struct sample_counts {
	TABLE(struct sample_count) rows; /* by label */
	struct sample_sum all;
	/* Of the stack to come: the outermost first. */
	uint32_t n_labels;
	uint32_t labels[SAMPLE_COUNTS_DEEPEST];
	uint8_t kinds[SAMPLE_COUNTS_DEEPEST];
};

/* An entry of the stack of the sample to come, the outermost first. */
void sample_counts__entry(struct sample_counts *c, const struct trace_stack *entry);

/* The sample of these entries. Samples of other causes are not counted. 0 or -ENOMEM. */
int sample_counts__sample(struct sample_counts *c, const struct trace_sample *sample);

void sample_counts__destroy(struct sample_counts *c);

#endif /* QPROF_ANALYZE_SAMPLE_COUNTS_H */
