/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A recording that was mostly lost, in words. */
#ifndef QPROF_VIEW_VERDICT_TEXT_H
#define QPROF_VIEW_VERDICT_TEXT_H

#include <stdio.h>

#include "analyze/verdict.h"

#define VERDICT_TEXT_MAX 192 /* bytes; enough for every text */

/* The lost share and its cause; "" if the recording is sound. In `buf`. */
const char *verdict_text(const struct verdict *v, char buf[VERDICT_TEXT_MAX]);

/* The advice for the user. */
const char *verdict_fix(const struct verdict *v);

/* Print the first line of a report and an empty line; nothing if the recording is sound. */
void verdict_lead(FILE *out, const struct verdict *v);

#endif /* QPROF_VIEW_VERDICT_TEXT_H */
