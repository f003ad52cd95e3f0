/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The notes below the table of a report: what was not recorded, and what was not executed. */
#ifndef QPROF_VIEW_REPORT_NOTES_H
#define QPROF_VIEW_REPORT_NOTES_H

#include "base/format.h"
#include "view/report_rows.h"

/* Print reused results: a line for each compiler that loaded anything. */
int report_notes__reuse(FILE *out, const struct summary *s, const struct report_options *opt);

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

/* Below tables whose times are by samples. */
#define REPORT_SAMPLED_TEXT \
	"times of queries and items are by samples, on the CPU; --exact records each execution"
#define REPORT_OUTSIDE_TEXT \
	"times are by looks from outside; stacks, waits and passes of LLVM take privileges: sudo"

/* Print which of these holds, of times by samples. */
void report_notes__sampled(FILE *out, const struct summary *s);

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
