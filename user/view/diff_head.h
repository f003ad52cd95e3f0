/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The first lines of a comparison: how the sides differ in kind, and what the builds took. */
#ifndef QPROF_VIEW_DIFF_HEAD_H
#define QPROF_VIEW_DIFF_HEAD_H

#include "view/diff.h"

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

#endif /* QPROF_VIEW_DIFF_HEAD_H */
