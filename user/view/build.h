/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What people and programs see of a build (analyze/build.h): as text, Markdown and JSON. */
#ifndef QPROF_VIEW_BUILD_H
#define QPROF_VIEW_BUILD_H

#include "analyze/build.h"
#include "view/view.h"

struct build_view {
	const struct build *build; /* at its end */
	const struct summary *summary;
	const struct trace_losses *losses; /* NULL: the trace does not say */
	const struct view_names *names;
	const struct trace_costs *costs;   /* likewise */
	bool raw;			   /* they are not taken off */
	const struct decisions *decisions; /* NULL: there was no budget */
	const char *problem; /* what is wrong with the trace (trace_reader__problem()), or NULL */
	size_t top;	     /* rows in each table; 0: as many as fit */
	bool full;	     /* every row, and what else there is to say */
	bool wide;	     /* every column and whole names; of the text */
};

/* Fits a screen of 80 columns, unless it is `wide`; and of 40 lines, unless it is `full`. */
int build_text(FILE *out, const struct build_view *v);

/* The same for the summary of a CI, which has more room. */
int build_markdown(FILE *out, const struct build_view *v);

/* The object "build" of report_json(), without a newline; docs/report.md has its fields. */
int build_json(FILE *out, const struct build_view *v);

#endif /* QPROF_VIEW_BUILD_H */
