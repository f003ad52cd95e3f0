/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_VIEW_TREND_VIEW_H
#define QPROF_VIEW_TREND_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "history/trend.h"

struct trend_look {
	bool full;    /* a line for each build; else long stretches without a change are one */
	bool blocks;  /* the locale has those of a sparkline (view/sparkline.h) */
	size_t width; /* columns; 0: unlimited */
};

/*
 * A sparkline, a table of builds, what was left out, and a sentence for each change, last, where a
 * terminal shows them. 0 or a negative errno.
 */
int trend_text(FILE *out, const struct trend *t, const struct trend_look *look);
/* Schema qprof-trend/1. */
int trend_json(FILE *out, const struct trend *t);
int trend_schema(FILE *out);

#endif /* QPROF_VIEW_TREND_VIEW_H */
