/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print a build (analyze/build.h) as text, Markdown and JSON. */
#ifndef QPROF_VIEW_BUILD_H
#define QPROF_VIEW_BUILD_H

#include "analyze/build.h"
#include "analyze/samples.h"
#include "view/view.h"

struct build_view {
	const struct build *build; /* after build__end() */
	const struct summary *summary;
	const struct trace_losses *losses; /* NULL: not in the trace */
	const struct trace_texts *names;
	struct items *items;		     /* of the user's own crates; NULL: none */
	const struct trace_costs *costs;     /* NULL: not in the trace */
	const struct cost *cost;	     /* NULL: not measured */
	bool raw;			     /* do not subtract probe time */
	const struct samples *samples;	     /* NULL: the trace has none */
	const struct stack_sums *stacks;     /* with samples: those of the CPU; or NULL */
	struct llvm *llvm;		     /* with samples; NULL: not looked for */
	const struct trace_rebuilt *rebuilt; /* what was compiled again */
	uint32_t n_rebuilt;
	const char *problem; /* damage of the trace (trace_reader__problem()), or NULL */
	size_t top;	     /* rows in each table; 0: as many as fit */
	bool full;	     /* print every row and all details */
	bool wide;	     /* print every column and whole names; text only */
};

/*
 * Print text for a screen of 80 columns, unless `wide` is set, and 40 lines, unless `full` is set.
 */
int build_text(FILE *out, const struct build_view *v);

/* Print the same for a CI summary, which has more space. */
int build_markdown(FILE *out, const struct build_view *v);

/* The member "build" of report_json(); missing if `v` is NULL. */
struct columns;
void build_columns(struct columns *c, const struct build_view *v);

#endif /* QPROF_VIEW_BUILD_H */
