/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sampled stacks merged by function: a tree from the start of threads to the code that ran, with
 * queries and other intervals as nodes of their own; the same from the inside out; and sums by
 * function and by part of the compiler. Made at the end of a trace. Knows no output format.
 *
 * Memory: 48 bytes of each node, and what analyze/code_name.h needs.
 */
#ifndef QPROF_ANALYZE_CALL_TREE_H
#define QPROF_ANALYZE_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/code_name.h"
#include "analyze/samples.h"

#define CALL_NONE UINT32_MAX

struct call_node {
	uint32_t parent; /* smaller than its own number, or CALL_NONE */
	uint32_t function;
	struct sample_sum self;
	struct sample_sum total; /* with everything below it */
};

/* A table by parent << 32 | function. All zeroes is empty. */
struct call_nodes {
	struct call_node *at;
	uint32_t n;
	uint32_t capacity;
	struct table_index index;
};

/* A function or interval, or a part of the compiler. */
struct call_row {
	uint32_t number; /* of the function, or of the part */
	struct sample_sum self;
	struct sample_sum total; /* each sample once, however often it is in the stack */
	/*
	 * Of its own code and of general code (analyze/code_name.h) that it called, directly or
	 * by other general code. General code has only what no other code called.
	 */
	struct sample_sum charged;
};

struct call_tree {
	struct code_functions functions;
	struct call_nodes down;
	struct call_row *rows;	/* of functions, by number */
	struct call_row *parts; /* by number */
	struct sample_sum all;	/* of the samples in it, with or without a stack */
};

struct call_tree_options {
	struct trace_texts texts;
	/*
	 * NULL: all samples. Else those in a query or other interval whose name is wanted: the tree
	 * begins with the outermost such one.
	 */
	bool (*wants)(const void *ctx, const char *label);
	const void *ctx;
	/* Of these, only those in no query that the wanted ones called. */
	bool own;
};

/* The texts and the source of `sums` must outlive the tree. Destroy it in any case. 0 or -ENOMEM.
 */
int call_tree__make(struct call_tree *t, const struct stack_sums *sums,
		    const struct call_tree_options *options);

/*
 * The tree from the inside out: the functions whose `self` value is at least `least`, and below
 * each its callers, down to CALL_CALLERS_MOST of them. `self` of a node is that of the stacks that
 * begin there. 0 or -ENOMEM; -EOVERFLOW beyond CALL_NODES_MOST nodes, as
 * no recording has.
 */
#define CALL_CALLERS_MOST 64
#define CALL_NODES_MOST	  (1u << 22)
int call_tree__callers(const struct call_tree *t, uint64_t least, struct call_nodes *up);

/*
 * Nodes so that the children of one lie together, the largest total first, then by name:
 * children of node i are `at[first[i]]` up to, without, `at[first[i + 1]]`; those without a parent
 * are those of i = n.
 */
struct call_order {
	uint32_t *at;
	uint32_t *first; /* n + 2 */
};

int call_order__make(struct call_order *o, const struct call_nodes *nodes,
		     const struct code_functions *functions);
void call_order__destroy(struct call_order *o);
#define _call_order_ __cleanup(call_order__destroy)

void call_nodes__destroy(struct call_nodes *n);
#define _call_nodes_ __cleanup(call_nodes__destroy)

void call_tree__destroy(struct call_tree *t);
#define _call_tree_ __cleanup(call_tree__destroy)

#endif /* QPROF_ANALYZE_CALL_TREE_H */
