/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which rows of a comparison text and Markdown show, and their words. */
#ifndef QPROF_VIEW_DIFF_ROWS_H
#define QPROF_VIEW_DIFF_ROWS_H

#include "view/diff.h"
#include "base/format.h"

#define DIFF_CELL_MAX 80

#define DIFF_UNCOMPARED_NAMED 3

struct diff_rows {
	/* Significant rows of crates on both sides, the largest change first. */
	const struct compare_row **rows;
	size_t n;
	size_t n_all;	   /* significant or not */
	size_t n_shown;	   /* rows to show, limited by diff_view.top */
	size_t within;	   /* rows with a change that is not significant */
	size_t uncompared; /* rows whose metric is unknown on a side, and the first of them */
	const struct compare_row *first_uncompared[DIFF_UNCOMPARED_NAMED];
	enum compare_of of;
	size_t recount; /* rows whose number of executions changed */
};

/* Of one kind. 0 or -ENOMEM. */
int diff_rows__init(struct diff_rows *r, const struct diff_view *v, enum compare_of of);
void diff_rows__clear(struct diff_rows *r);
#define _diff_rows_ __cleanup(diff_rows__clear)

/* Of all kinds, those that the view does not show are empty. */
struct diff_tables {
	struct diff_rows of[COMPARE_TABLES];
};

/* 0 or -ENOMEM; clear them in any case. */
int diff_tables__init(struct diff_tables *t, const struct diff_view *v);
void diff_tables__clear(struct diff_tables *t);
#define _diff_tables_ __cleanup(diff_tables__clear)

/* True if a row (not a gate's) is on one side only. */
static inline bool diff_is_one_sided(const struct compare_row *row)
{
	return row->in[COMPARE_BASE] != row->in[COMPARE_NEW];
}

/* "base", "new" */
extern const char *const diff_sides[COMPARE_N_SIDES];

/* Whether other recordings ran beside a trace of the side. */
bool diff_has_beside(const struct diff_view *v, enum compare_side side);

/* Whether the view has rows of a kind: not all metrics have these. */
bool diff_shows(const struct diff_view *v, enum compare_of of);

/* The title of the column of names. */
const char *diff_name_title(enum compare_of of);

/* Whether numbers of executions stand beside times: samples count none. */
static inline bool diff_has_counts(const struct compare_result *r)
{
	uint8_t by = r->build.by[COMPARE_BASE] | r->build.by[COMPARE_NEW];

	return compare_rules__of_queries(&r->rules) != COMPARE_COUNT && by != COMPARE_BY_SAMPLES;
}

/* "self time", "executions", "peak memory" */
const char *diff_metric_text(enum compare_metric metric);

/* These fill `buf` and return it. */

/* A median of the metric: "1.23 ms", "1,234" or "12.3 MiB". */
char *diff_value(char buf[DIFF_CELL_MAX], const struct spread *s, enum compare_metric metric);
/* "+1.23 ms", "-1,234", "0 ns" */
char *diff_change(char buf[DIFF_CELL_MAX], const struct compare_row *row,
		  enum compare_metric metric);
/* "+12.3", "x21.1k" from tenfold on, "new" if the base is 0, "gone" if the new value is 0. */
char *diff_percent(char buf[DIFF_CELL_MAX], const struct compare_row *row,
		   enum compare_metric metric);
/* "1,234", or "1,234 -> 1,235" if it changed; "-" if a trace does not count it. */
char *diff_count(char buf[DIFF_CELL_MAX], const struct compare_row *row);
/* The wider of both sides' ranges. */
char *diff_width(char buf[DIFF_CELL_MAX], const struct compare_row *row,
		 enum compare_metric metric);

/* "regex/typeck"; "regex (only in new)"; of an item its path. The caller frees it; NULL if out of
 * memory. */
char *diff_name(const struct compare_row *row);

/* Print a text of a trace without what a terminal, or a reader of Markdown, would act on. */
void diff_print_raw(FILE *out, const char *text, bool markdown);

/*
 * Print "1.23 s -> 1.84 s, +611 ms (+49.7 %)", and a note if the change is within noise or has no
 * verdict.
 */
void diff_print_change(FILE *out, const struct compare_row *row, enum compare_metric metric,
		       const struct compare_result *r);

/* Print "within noise, or too small to judge: 3 items, 1 query of a crate"; nothing of none. */
void diff_print_within(FILE *out, const struct diff_tables *tables);

/* Print how many rows are not compared, and why; nothing if all are. */
void diff_print_uncompared(FILE *out, const struct diff_rows *rows, const struct compare_result *r,
			   bool markdown);

/* Print one sentence on the errors of samples; nothing without samples. */
void diff_print_errors(FILE *out, const struct diff_tables *tables, const struct compare_result *r);

/* Print one sentence on the assumed noise; nothing if it is measured, or there is none. */
void diff_print_noise(FILE *out, const struct compare_result *r);

/* The first lines of a comparison: how the sides differ in kind, and what the builds took. */

/* Lines begin with `lead`: "", or that of a list in Markdown. */

/* Print what makes the sides hard to compare, if anything does. Returns whether anything does. */
bool diff_head__differences(FILE *out, const struct diff_view *v, const char *lead);

/*
 * Wall time, CPU time and peak memory of the build, the metric of the rows, and executions; and
 * what of the cost of recording is in no CPU time.
 */
void diff_head__costs(FILE *out, const struct diff_view *v, const char *lead);

/* The verdicts of the limits, and what the exit status says. */
void diff_head__status(FILE *out, const struct diff_view *v);

/* "FAILED", "passed", "NO VERDICT" */
const char *diff_verdict_text(enum diff_verdict verdict);

/* The first table of a comparison: the crates that changed. */

/* Crates that text and Markdown show; JSON has all. */
#define DIFF_CRATES_MOST 10

struct diff_crates {
	/* The metric of the rows: CPU time in place of self time, if it is known. */
	enum compare_metric metric;
	/* Crates that changed, and those on one side only; the largest change first. */
	const struct compare_row **rows;
	size_t n_shown;
	/* The crates that are not shown, and the sums of their medians. */
	size_t n_others;
	uint64_t others[COMPARE_N_SIDES];
	size_t n_changed; /* of all crates */
};

/* 0 or -ENOMEM. */
int diff_crates__init(struct diff_crates *c, const struct compare_result *r);
void diff_crates__clear(struct diff_crates *c);
#define _diff_crates_ __cleanup(diff_crates__clear)

/* Whether the table is worth printing: there are several crates, or not the same on both sides. */
bool diff_crates_any(const struct compare_result *r);

#endif /* QPROF_VIEW_DIFF_ROWS_H */
