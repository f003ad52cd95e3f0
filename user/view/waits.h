/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print what threads waited for, by the stacks with which they left the CPU. */
#ifndef QPROF_VIEW_WAITS_H
#define QPROF_VIEW_WAITS_H

#include <stdio.h>

#include "analyze/sample_waits.h"
#include "analyze/samples.h"

struct waits_view {
	const struct sample_waits *waits;
	const struct samples_totals *totals;
	uint64_t least;	     /* ns; rows with less are left out */
	size_t top;	     /* rows; 0: all; text only */
	size_t width;	     /* columns of the text; 0: unlimited, and names are whole */
	const char *problem; /* damage of the trace, or NULL */
};

/* 0 or -ENOMEM. */
int waits_text(FILE *out, const struct waits_view *v);

/* Schema "qprof-waits/1": docs/report.md has the fields. 0 or a negative errno. */
int waits_json(FILE *out, const struct waits_view *v);

#endif /* QPROF_VIEW_WAITS_H */
