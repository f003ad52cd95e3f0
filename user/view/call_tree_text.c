// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/call_tree_text.h"

#include <errno.h>
#include <string.h>

#include "analyze/code_name.h"
#include "base/array.h"
#include "base/cleanup.h"

#define VALUE_COLUMNS 10
#define INDENT_MOST   40 /* deeper nodes are no further to the right */
#define JOINT	      " > "
#define CUT	      ".."
#define HANDED_ON     95 /* percent of a node's total that its only child has */

struct printing {
	FILE *out;
	const struct functions_view *v;
	const struct call_nodes *nodes;
	struct call_order order;
	/* Names of the nodes of a line. */
	char **names;
	uint32_t n_names;
	uint32_t names_capacity;
};

static void forget_names(struct printing *p)
{
	while (p->n_names)
		free(p->names[--p->n_names]);
}

static void printing__clear(struct printing *p)
{
	forget_names(p);
	free(p->names);
	call_order__destroy(&p->order);
}

/*
 * Functions that only lead on: those between a request of a query and its provider, and general
 * code. A line that has others has no names of these.
 */
static bool leads_on(const struct printing *p, const struct code_function *f)
{
	if (f->part == CODE_NO_PART)
		return false;
	return f->is_general || strstr(f->name, "__rust_begin_short_backtrace") ||
	       strstr(f->name, "__rust_end_short_backtrace") ||
	       !strcmp(p->v->tree->functions.parts[f->part], "rustc_query_impl");
}

/* Queries and other intervals stand in brackets. `replaces` the last name. */
static int add_name(struct printing *p, const struct code_function *f, bool replaces)
{
	_free_ char *text = NULL, *name = NULL;

	if (f->part == CODE_NO_PART) {
		if (asprintf(&text, "[%s]", f->name) < 0)
			text = NULL;
	} else {
		text = p->v->width ? code_name_short(f->name) : strdup(f->name);
	}
	name = text ? format_clean(text) : NULL;
	if (name && replaces)
		free(p->names[--p->n_names]);
	if (!name || array__add(&p->names, &p->n_names, &p->names_capacity, &name))
		return -ENOMEM;
	take_ptr(name);
	return 0;
}

/*
 * Add the name of a node to the line, whose names so far only lead on if *only_leads. The code that
 * ran has its name in any case: it is the first of a line from the inside out, and has a time of
 * its own in one from the outside in.
 */
static int add_node(struct printing *p, uint32_t node, bool *only_leads)
{
	const struct code_function *f = &p->v->tree->functions.at[p->nodes->at[node].function];
	bool up = p->v->direction == FUNCTIONS_UP;
	bool ran = up ? !p->n_names : p->nodes->at[node].self.value >= p->v->least;
	bool leads = p->v->width && !ran && leads_on(p, f);

	if (leads && p->n_names && !*only_leads)
		return 0;
	if (add_name(p, f, p->n_names && *only_leads))
		return -ENOMEM;
	*only_leads = leads;
	return 0;
}

/* The only child that is shown, if nearly all of the node's value is its; or CALL_NONE. */
static uint32_t handed_on(const struct printing *p, uint32_t node)
{
	const struct call_node *n = &p->nodes->at[node], *child;
	uint32_t first = p->order.first[node], end = p->order.first[node + 1];

	if (first == end || n->self.value >= p->v->least)
		return CALL_NONE;
	child = &p->nodes->at[p->order.at[first]];
	if (child->total.value < p->v->least ||
	    child->total.value / HANDED_ON < n->total.value / 100)
		return CALL_NONE;
	return p->order.at[first];
}

/* Names that fit in `room`: the first, and as many of the last as there is room for. */
static uint32_t last_names(const struct printing *p, size_t room)
{
	size_t used = format_width(p->names[0]) + strlen(JOINT CUT);
	uint32_t n = p->n_names;

	while (n > 1) {
		used += strlen(JOINT) + format_width(p->names[n - 1]);
		if (used > room && n < p->n_names)
			break;
		n--;
	}
	return n;
}

static void print_names(const struct printing *p, size_t used)
{
	size_t room = p->v->width > used ? p->v->width - used : 0;
	uint32_t from = p->v->width ? last_names(p, room) : 1;
	_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	fputs(p->names[0], to);
	if (from > 1)
		fputs(JOINT CUT, to);
	for (uint32_t i = from; i < p->n_names; i++)
		fprintf(to, JOINT "%s", p->names[i]);
	if (fclose(to))
		return;
	if (p->v->width && format_width(text) > room)
		fprintf(p->out, "%.*s" CUT "\n",
			(int)format_fit(text, room > strlen(CUT) ? room - strlen(CUT) : 0), text);
	else
		fprintf(p->out, "%s\n", text);
}

static void print_value(const struct printing *p, const struct sample_sum *sum)
{
	char buf[FORMAT_MAX];

	fprintf(p->out, "%*s  ", VALUE_COLUMNS,
		sum->n ? functions_format(buf, p->v->cause, sum->value) : "");
}

/* Print the line of a node and those that it hands on to; the last of these. */
static uint32_t print_line(struct printing *p, uint32_t node, uint32_t depth)
{
	const struct sample_sum *total = &p->nodes->at[node].total;
	uint32_t indent = depth < INDENT_MOST ? depth : INDENT_MOST, next;
	bool only_leads = false;
	char buf[FORMAT_MAX];

	forget_names(p);
	if (add_node(p, node, &only_leads))
		return CALL_NONE;
	while ((next = handed_on(p, node)) != CALL_NONE) {
		node = next;
		if (add_node(p, node, &only_leads))
			return CALL_NONE;
	}
	print_value(p, total);
	if (p->v->direction == FUNCTIONS_DOWN)
		print_value(p, &p->nodes->at[node].self);
	fprintf(p->out, "%5s  %*s", format_percent(buf, total->value, p->v->tree->all.value),
		(int)indent, "");
	print_names(p,
		    (VALUE_COLUMNS + 2) * (1 + (p->v->direction == FUNCTIONS_DOWN)) + 7 + indent);
	return node;
}

/*
 * The children of `node`. A tree is as deep as a stack at most (TRACE_STACK_DEPTH_MAX), so a
 * recursion does no harm.
 */
static int print_children(struct printing *p, uint32_t node, uint32_t depth)
{
	int err = 0;

	for (uint32_t i = p->order.first[node]; i < p->order.first[node + 1] && !err; i++) {
		uint32_t child = p->order.at[i];

		if (p->nodes->at[child].total.value < p->v->least)
			break;
		child = print_line(p, child, depth);
		err = child == CALL_NONE ? -ENOMEM : ferror(p->out) ? -EIO : 0;
		err = err ?: print_children(p, child, depth + 1);
	}
	return err;
}

int call_tree_text(FILE *out, const struct functions_view *v)
{
	__cleanup(printing__clear) struct printing p = {
		.out = out, .v = v, .nodes = &v->tree->down};
	_call_nodes_ struct call_nodes up = {};
	int err = 0;

	if (v->direction == FUNCTIONS_UP) {
		err = call_tree__callers(v->tree, v->least, &up);
		p.nodes = &up;
	}
	err = err ?: call_order__make(&p.order, p.nodes, &v->tree->functions);
	if (err)
		return err;
	if (v->direction == FUNCTIONS_UP)
		fprintf(out, "%*s  %5s  function, and below it its callers\n", VALUE_COLUMNS,
			"self", "%");
	else
		fprintf(out, "%*s  %*s  %5s  function, or [query]\n", VALUE_COLUMNS, "total",
			VALUE_COLUMNS, "self", "%");
	return print_children(&p, p.nodes->n, 0);
}
