/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Print the native functions of sampled stacks: sums by part of the compiler and by function, and
 * trees of calls.
 */
#ifndef QPROF_VIEW_FUNCTIONS_H
#define QPROF_VIEW_FUNCTIONS_H

#include <stdio.h>

#include "analyze/call_tree.h"
#include "analyze/samples.h"
#include "base/format.h"

enum functions_tree {
	FUNCTIONS_NO_TREE,
	FUNCTIONS_DOWN, /* from callers to callees */
	FUNCTIONS_UP,	/* from the code that ran to its callers */
};

struct functions_view {
	const struct call_tree *tree;
	const struct samples_totals *totals; /* of the whole recording */
	uint8_t cause;			     /* enum trace_sample_cause, of the tree */
	enum functions_tree direction;
	uint64_t least;	     /* value; rows and nodes with less are left out */
	bool by_total;	     /* the order of functions: by total, else by self */
	size_t top;	     /* functions to show; 0: all; text only */
	size_t width;	     /* columns of the text; 0: unlimited, and names are whole */
	const char *problem; /* damage of the trace, or NULL */
};

/* 0 or -ENOMEM. */
int functions_text(FILE *out, const struct functions_view *v);

/* Schema "qprof-functions/1": docs/report.md has the fields. 0 or a negative errno. */
int functions_json(FILE *out, const struct functions_view *v);

/* Below a table: how many rows it does not have; nothing if it has all. */
void functions_more(FILE *out, size_t n, const char *one, const char *many);

/* Rows that are shown, in their order. */
struct functions_rows {
	const struct call_row **at;
	size_t n;
	size_t left_out; /* others with a sample */
};

/* The parts of the compiler, by what they are charged. */
int functions_rows__parts(struct functions_rows *r, const struct functions_view *v);
void functions_rows__clear(struct functions_rows *r);
#define _functions_rows_ __cleanup(functions_rows__clear)

/*
 * Print the tree of the view, v->direction, a line for each node of v->least or more. Nodes that
 * only hand on to another one share its line: "a > b > c". 0 or -ENOMEM.
 */
int call_tree_text(FILE *out, const struct functions_view *v);

#endif /* QPROF_VIEW_FUNCTIONS_H */
