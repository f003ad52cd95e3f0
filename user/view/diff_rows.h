/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What text and Markdown show of a comparison: which rows, and the words in them. */
#ifndef QPROF_VIEW_DIFF_ROWS_H
#define QPROF_VIEW_DIFF_ROWS_H

#include "view/diff.h"
#include "view/format.h"

#define DIFF_CELL_MAX 80

struct diff_rows {
	/* Significant rows of crates that both sides have, and crates that only one has; the
	   largest change first. */
	const struct compare_row **rows;
	size_t n;
	size_t n_shown;	   /* of them, by diff_view.top */
	size_t within;	   /* rows that changed, but not significantly */
	size_t uncompared; /* of which the metric is not known on both sides */
	size_t recount;	   /* rows of which the number of executions changed */
};

/* 0 or -ENOMEM. */
int diff_rows__init(struct diff_rows *r, const struct diff_view *v);
void diff_rows__clear(struct diff_rows *r);
#define _diff_rows_ __cleanup(diff_rows__clear)

/* Whether a row (not one of a gate) is in only one of the sides. */
static inline bool diff_is_one_sided(const struct compare_row *row)
{
	return row->in[COMPARE_BASE] != row->in[COMPARE_NEW];
}

/* "self time", "total time", "executions" */
const char *diff_metric_text(enum compare_metric metric);

/* These fill `buf` and return it. */

/* A median of the metric: "1.23 ms", or "1,234". */
char *diff_value(char buf[DIFF_CELL_MAX], const struct spread *s, enum compare_metric metric);
/* "+1.23 ms", "-1,234", "0 ns" */
char *diff_change(char buf[DIFF_CELL_MAX], const struct compare_row *row,
		  enum compare_metric metric);
/* "+12.3", "x21.1k" from tenfold on, "new" if it was 0, "gone" if it is. */
char *diff_percent(char buf[DIFF_CELL_MAX], const struct compare_row *row,
		   enum compare_metric metric);
/* "1,234", or "1,234 -> 1,235" if it changed. */
char *diff_count(char buf[DIFF_CELL_MAX], const struct compare_row *row);
/* The wider range of either side. */
char *diff_width(char buf[DIFF_CELL_MAX], const struct compare_row *row,
		 enum compare_metric metric);

/* "regex/typeck"; "regex (only in new)". To be freed; NULL when out of memory. */
char *diff_name(const struct compare_row *row);

/*
 * "1.23 s -> 1.84 s, +611 ms (+49.7 %)", and that it is within noise where that is so, which only
 * the metric of the rules can be.
 */
void diff_print_change(FILE *out, const struct compare_row *row, enum compare_metric metric,
		       const struct compare_rules *rules);

/* "FAILED", "passed", or "NOT COMPARED", which is not to pass. */
const char *diff_verdict(const struct diff_gate *gate);

/* How many rows are not compared, and why; nothing if all are. */
void diff_print_uncompared(FILE *out, const struct diff_rows *rows, enum compare_metric metric);

/* One sentence on what noise is taken to be; nothing if it is measured, or there is none. */
void diff_print_noise(FILE *out, const struct compare_result *r);

#endif /* QPROF_VIEW_DIFF_ROWS_H */
