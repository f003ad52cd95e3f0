/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The notes below the table of a report: what was not recorded, and what was not executed. */
#ifndef QPROF_VIEW_REPORT_NOTES_H
#define QPROF_VIEW_REPORT_NOTES_H

#include "view/callers_text.h"
#include "base/format.h"
#include "view/report_rows.h"

/* Print reused results: a line for each compiler that loaded anything. */
int report_notes__reuse(FILE *out, const struct summary *s, const struct report_options *opt);

/*
 * Print the budget, how many queries have no probes, which other intervals have none, and the names
 * of all if the number of rows is unlimited. Nothing if there was no budget.
 */
int report_notes__budget(FILE *out, const struct report_rows *queries,
			 const struct trace_texts *names, const struct report_options *opt);

/* Print the budget, how many queries have no probes and how to see their names, and the kinds of
 * other intervals without probes. */
void report_notes__kept_budget(FILE *out, const struct decisions *d, const char *how_to_name);

/* The note on intervals without an exact end; every view uses the same words and numbers. */
#define REPORT_UNFINISHED   CALLERS_TEXT_MARK
#define REPORT_UNWOUND_TEXT "executions left by unwinding or never ended"
#define REPORT_LEFT_TEXT    "that may be shown too long, as their end was noticed late"

/* The queries and activities that began before the recording; all zeroes: none yet. */
struct begun_note {
	size_t named;
	size_t more;
};
void begun_note__add(struct begun_note *note, FILE *out, const char *name);
void begun_note__end(const struct begun_note *note, FILE *out);

void report_notes__unfinished(FILE *out, uint64_t unwound, const struct summary *s);

/* The part of queries without probes in the rows of items, groups and callers. All zeroes: no rows.
 */
struct divided_note {
	bool any;
	bool by_item;
	bool marked;
	uint64_t others_ns; /* of items: about one of them, but in no row */
};
void divided_note__add(struct divided_note *note, const struct report_rows *r);
/* Explain the rows, if the budget of `d` left out queries; NULL: there was none. */
void divided_note__print(const struct divided_note *note, FILE *out, const struct decisions *d);

/* Explain the marks of self times in a report of a build. */
#define REPORT_MARKS_TEXT "~ what samples show to be its own; < at most this"

/* Print how many compilers ran before the capture, if any did. */
void report_notes__late(FILE *out, const struct summary *s);

/* Print losses by cause; with `all`, also counts that are no losses. `losses` may be NULL. */
void report_notes__losses(FILE *out, const struct trace_losses *losses, bool all);

/*
 * How a process ended: "1" (its exit status), "SIGKILL", "no memory" (for want of which the kernel
 * killed it), "unknown". In `buf`, or static.
 */
const char *report_notes__exit(char buf[FORMAT_MAX], const struct trace_process *p);

#endif /* QPROF_VIEW_REPORT_NOTES_H */
