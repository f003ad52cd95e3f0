/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The table of `qprof-bpf report --callers`. */
#ifndef QPROF_VIEW_CALLERS_TEXT_H
#define QPROF_VIEW_CALLERS_TEXT_H

#include "view/report_rows.h"

/* Marks rows that include executions without an exact end. */
#define CALLERS_TEXT_MARK "*"

/* Print the first `n` rows of report_rows__callers(). 0 or -ENOMEM. */
int callers_text(FILE *out, const struct report_rows *r, size_t n);

#endif /* QPROF_VIEW_CALLERS_TEXT_H */
