/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Print what made memory resident, by sampled page faults: crates, queries, items, parts of the
 * compiler.
 */
#ifndef QPROF_VIEW_MEMORY_H
#define QPROF_VIEW_MEMORY_H

#include <stdio.h>

#include "analyze/call_tree.h"
#include "analyze/items.h"
#include "analyze/samples.h"
#include "analyze/summary.h"

struct memory_view {
	const struct samples *samples;
	const struct call_tree *tree; /* of TRACE_SAMPLE_FAULT */
	const struct summary *summary;
	struct items *items; /* NULL: none is known */
	const struct trace_texts *names;
	uint64_t least;	     /* bytes; rows with less are left out */
	size_t top;	     /* rows of each table; 0: all; text only */
	size_t width;	     /* columns of the text; 0: unlimited */
	const char *problem; /* damage of the trace, or NULL */
};

/* 0 or -ENOMEM. */
int memory_text(FILE *out, const struct memory_view *v);

/* Schema "qprof-memory/1": docs/report.md has the fields. 0 or a negative errno. */
int memory_json(FILE *out, const struct memory_view *v);

#endif /* QPROF_VIEW_MEMORY_H */
