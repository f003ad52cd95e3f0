// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/call_tree.h"
#include "analyze/tree_first.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* The child of a function; it is made if there is none. 0 or -ENOMEM. */
static int get_node(struct call_nodes *nodes, uint32_t parent, uint32_t function, uint32_t *out)
{
	const struct call_node *node = table__get(nodes, (uint64_t)parent << 32 | function,
						  .parent = parent, .function = function);

	if (!node)
		return -ENOMEM;
	*out = (uint32_t)(node - nodes->at);
	return 0;
}

/* ---- From the outside in --------------------------------------------------------------------- */

/* An entry of the stacks, as far as it is known. */
struct seen {
	uint32_t node;	/* CALL_NONE: in nothing that is wanted */
	bool is_wanted; /* the innermost interval is */
};

static int see_entry(struct call_tree *t, const struct call_tree_options *o,
		     const struct trace_stack *entry, struct seen *seen)
{
	bool is_interval = entry->kind != TRACE_STACK_LOCATION;
	const struct code_function *function;
	uint32_t number;

	if (code_functions__find(&t->functions, entry, &number))
		return -ENOMEM;
	function = &t->functions.at[number];
	if (o->wants && is_interval && !function->is_unknown)
		seen->is_wanted = o->wants(o->ctx, function->name);
	if (o->wants && seen->node == CALL_NONE && (!is_interval || !seen->is_wanted))
		return 0;
	return get_node(&t->down, seen->node, number, &seen->node);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Make the rows of functions, or those of parts; the last of these is that of intervals. */
static int sum_rows(struct call_tree *t, bool by_part, struct call_row **rows)
{
	uint32_t n = by_part ? t->functions.n_parts + 1 : t->functions.n;
	_free_ struct tree_node *nodes = calloc(t->down.n + 1UL, sizeof(*nodes));

	_Static_assert(CALL_NONE == TREE_NONE, "CALL_NONE");
	*rows = calloc(n + 1UL, sizeof(**rows));
	if (!nodes || !*rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->down.n; i++) {
		const struct call_node *node = &t->down.at[i];
		uint32_t part = t->functions.at[node->function].part;

		nodes[i].parent = node->parent;
		nodes[i].key = !by_part		      ? node->function
			       : part == CODE_NO_PART ? t->functions.n_parts
						      : part;
	}
	if (tree_first(nodes, t->down.n, n))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		(*rows)[i].number = i;
	for (uint32_t i = 0; i < t->down.n; i++) {
		struct call_row *row = &(*rows)[nodes[i].key];

		sample_sum__add(&row->self, &t->down.at[i].self);
		if (nodes[i].is_first)
			sample_sum__add(&row->total, &t->down.at[i].total);
	}
	return 0;
}

/* Whom the code of a node works for: the innermost function around it that is not general. */
static int sum_charges(struct call_tree *t)
{
	_free_ uint32_t *charged = calloc(t->down.n + 1UL, sizeof(*charged));

	if (!charged)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->down.n; i++) {
		const struct call_node *node = &t->down.at[i];
		const struct code_function *f = &t->functions.at[node->function];
		uint32_t to = node->parent == CALL_NONE ? CALL_NONE : charged[node->parent];

		if (f->part != CODE_NO_PART && !f->is_general)
			to = node->function;
		charged[i] = to;
		to = to == CALL_NONE ? node->function : to;
		sample_sum__add(&t->rows[to].charged, &node->self);
		to = t->functions.at[to].part;
		sample_sum__add(&t->parts[to == CODE_NO_PART ? t->functions.n_parts : to].charged,
				&node->self);
	}
	return 0;
}

int call_tree__make(struct call_tree *t, const struct stack_sums *sums,
		    const struct call_tree_options *o)
{
	_free_ struct seen *seen = calloc(sums->n + 1UL, sizeof(*seen));

	*t = (struct call_tree){
		.functions = {.source = sums->source, .texts = o->texts},
	};
	if (!seen)
		return -ENOMEM;
	/* The parents of an entry have smaller numbers, and so were seen before. */
	for (uint32_t id = 0; id < sums->n; id++) {
		struct seen *at = &seen[id];
		struct trace_stack entry;

		*at = (struct seen){.node = CALL_NONE, .is_wanted = !o->wants};
		if (stack_source__entry(&sums->source, id, &entry)) {
			if (entry.parent != TRACE_NO_STACK)
				*at = seen[entry.parent];
			if (entry.kind < TRACE_STACK_KINDS && see_entry(t, o, &entry, at))
				return -ENOMEM;
		}
		if (o->wants && (at->node == CALL_NONE || (o->own && !at->is_wanted)))
			continue;
		sample_sum__add(&t->all, &sums->at[id]);
		if (at->node != CALL_NONE)
			sample_sum__add(&t->down.at[at->node].self, &sums->at[id]);
	}
	/* Children have larger numbers than their parents. */
	for (uint32_t i = t->down.n; i-- > 0;) {
		struct call_node *node = &t->down.at[i];

		sample_sum__add(&node->total, &node->self);
		if (node->parent != CALL_NONE)
			sample_sum__add(&t->down.at[node->parent].total, &node->total);
	}
	return sum_rows(t, false, &t->rows) ?: sum_rows(t, true, &t->parts) ?: sum_charges(t);
}

/* ---- From the inside out --------------------------------------------------------------------- */

int call_tree__callers(const struct call_tree *t, uint64_t least, struct call_nodes *up)
{
	const struct call_node *down = t->down.at;

	*up = (struct call_nodes){};
	for (uint32_t i = 0; i < t->down.n; i++) {
		const struct sample_sum *self = &down[i].self;
		uint32_t node = CALL_NONE, at = i;

		if (!self->n || t->rows[down[i].function].self.value < least)
			continue;
		/* Those of the code that ran in this node. */
		for (int n = 0; at != CALL_NONE && n <= CALL_CALLERS_MOST; n++) {
			if (get_node(up, node, down[at].function, &node))
				return -ENOMEM;
			sample_sum__add(&up->at[node].total, self);
			at = down[at].parent;
		}
		sample_sum__add(&up->at[node].self, self);
		if (up->n > CALL_NODES_MOST)
			return -EOVERFLOW;
	}
	return 0;
}

/* ---- Order ----------------------------------------------------------------------------------- */

struct ordering {
	const struct call_nodes *nodes;
	const struct code_functions *functions;
};

static int compare_nodes(const void *a, const void *b, void *ctx)
{
	const struct ordering *o = ctx;
	const struct call_node *x = &o->nodes->at[*(const uint32_t *)a];
	const struct call_node *y = &o->nodes->at[*(const uint32_t *)b];

	/* CALL_NONE is the largest number. */
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total.value != y->total.value)
		return x->total.value < y->total.value ? 1 : -1;
	return strcmp(o->functions->at[x->function].name, o->functions->at[y->function].name)
		       ?: (x->function > y->function) - (x->function < y->function);
}

int call_order__make(struct call_order *o, const struct call_nodes *nodes,
		     const struct code_functions *functions)
{
	struct ordering ordering = {nodes, functions};
	uint32_t at = 0;

	o->at = calloc(nodes->n + 1UL, sizeof(*o->at));
	o->first = calloc(nodes->n + 2UL, sizeof(*o->first));
	if (!o->at || !o->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes->n; i++)
		o->at[i] = i;
	qsort_r(o->at, nodes->n, sizeof(*o->at), compare_nodes, &ordering);
	for (uint32_t i = 0; i <= nodes->n; i++) {
		uint32_t parent = i < nodes->n ? i : CALL_NONE;

		o->first[i] = at;
		while (at < nodes->n && nodes->at[o->at[at]].parent == parent)
			at++;
	}
	o->first[nodes->n + 1] = at;
	return 0;
}

void call_order__destroy(struct call_order *o)
{
	free(o->at);
	free(o->first);
	*o = (struct call_order){};
}

void call_nodes__destroy(struct call_nodes *n)
{
	table__destroy(n);
}

void call_tree__destroy(struct call_tree *t)
{
	code_functions__destroy(&t->functions);
	call_nodes__destroy(&t->down);
	free(t->rows);
	free(t->parts);
	*t = (struct call_tree){};
}
