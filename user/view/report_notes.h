/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a report says, below its table, of what was not recorded and of what was not executed. */
#ifndef QPROF_VIEW_REPORT_NOTES_H
#define QPROF_VIEW_REPORT_NOTES_H

#include "view/callers_text.h"
#include "view/format.h"
#include "view/report_rows.h"

/* Marks numbers that include an estimate. */
#define REPORT_ESTIMATE "~"

/* What compilers took over from their last run: a line for each that loaded anything. */
int report_notes__reuse(FILE *out, const struct summary *s, const struct report_options *opt);

/*
 * Which queries were watched less: of those that are wanted ten, the longest off first; all if no
 * number of rows is given. And what else was not watched. Nothing if no decision was made.
 */
int report_notes__budget(FILE *out, const struct report_rows *queries,
			 const struct view_names *names, const struct report_options *opt);

/* After `head`, what else than queries was not watched, or not all the time; if there is such. */
void report_notes__unwatched(FILE *out, const char *head, const struct decisions *d);

/* What intervals without a true end are; the same words and numbers wherever they are told. */
#define REPORT_UNFINISHED   CALLERS_TEXT_MARK
#define REPORT_UNWOUND_TEXT "executions left by unwinding or never ended"
#define REPORT_LEFT_TEXT    "intervals left unseen, the end is an upper bound"
void report_notes__unfinished(FILE *out, uint64_t unwound, const struct summary *s);

/* What REPORT_ESTIMATE means, if any of the rows of queries has one. */
void report_notes__unrecorded(FILE *out, const struct report_rows *queries,
			      const struct report_options *opt);

/* How many compilers ran before the capture, if any did. */
void report_notes__late(FILE *out, const struct summary *s);

/* What was lost, by cause; with `all` also what was only counted. `losses` may be NULL. */
void report_notes__losses(FILE *out, const struct trace_losses *losses, bool all);

/* An exit status as wait(2) reports it: "1", "SIGKILL", "unknown". In `buf`, or static. */
const char *report_notes__exit(char buf[FORMAT_MAX], int32_t status);

#endif /* QPROF_VIEW_REPORT_NOTES_H */
