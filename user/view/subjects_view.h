/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The table of `report --by macro` and `--by cgu`, and its JSON. */
#ifndef QPROF_VIEW_SUBJECTS_VIEW_H
#define QPROF_VIEW_SUBJECTS_VIEW_H

#include "view/json.h"
#include "view/view.h"
#include "view/report_rows.h"

/* The rows of opt->subjects, which opt->top, sort and min choose. 0 or a negative errno. */
int subjects_text(FILE *out, const struct report_options *opt);

/* The member "macros" or "units", if opt->subjects are these; without regard to opt->top. */
void subjects_columns(struct columns *c, enum subjects_of of, const struct report_options *opt);

/* The table of `qprof-bpf report --callers`. */

/* Print the first `n` rows of report_rows__callers(). 0 or -ENOMEM. */
int callers_text(FILE *out, const struct report_rows *r, size_t n);

#endif /* QPROF_VIEW_SUBJECTS_VIEW_H */
