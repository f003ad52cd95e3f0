/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The names of queries, items and files in a comparison, numbered alike for all traces. */
#ifndef QPROF_ANALYZE_COMPARE_LABELS_H
#define QPROF_ANALYZE_COMPARE_LABELS_H

#include "analyze/summary.h"
#include "trace/interner.h"

/* All zeroes: none. */
struct compare_labels {
	struct interner ids;
	char **texts; /* by number */
	uint32_t n, capacity;
};

/* 0; -ENOMEM; -E2BIG if the texts are more, or longer, than one trace may hold. */
int compare_labels__id(struct compare_labels *l, const char *text, uint32_t *id);

/* The same for the name of a row: a query and an activity of one name have two numbers. */
int compare_labels__of_row(struct compare_labels *l, const struct summary_row *row,
			   const struct trace_texts *names, uint32_t *id);

void compare_labels__clear(struct compare_labels *l);

#endif /* QPROF_ANALYZE_COMPARE_LABELS_H */
