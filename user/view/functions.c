// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code_name.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "analyze/sampled.h"
#include "view/samples_text.h"

#define NAME_KEPT 28 /* minimum columns of a function's name, so that its crate fits */

/* Time or bytes. */
static char *format_value(char buf[FORMAT_MAX], uint8_t cause, uint64_t value)
{
	return cause == TRACE_SAMPLE_FAULT ? format_bytes(buf, value) : format_duration(buf, value);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static uint64_t key_of(const struct call_row *row, const struct functions_view *v)
{
	return v->by_total ? row->total.value : row->self.value;
}

static int compare_functions(const void *a, const void *b, void *ctx)
{
	const struct call_row *x = *(const struct call_row *const *)a;
	const struct call_row *y = *(const struct call_row *const *)b;
	const struct functions_view *v = ctx;
	const struct code_function *f = v->tree->functions.at;

	if (key_of(x, v) != key_of(y, v))
		return key_of(x, v) < key_of(y, v) ? 1 : -1;
	if (x->total.value != y->total.value)
		return x->total.value < y->total.value ? 1 : -1;
	return strcmp(f[x->number].name, f[y->number].name);
}

/* The functions of the view, without intervals. */
static int functions_rows__init(struct functions_rows *r, const struct functions_view *v)
{
	const struct call_tree *t = v->tree;

	*r = (struct functions_rows){};
	r->at = calloc(t->functions.n + 1UL, sizeof(struct call_row *));
	if (!r->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->functions.n; i++) {
		const struct call_row *row = &t->rows[i];

		if (t->functions.at[i].part == CODE_NO_PART || !row->total.n)
			continue;
		if (key_of(row, v) && key_of(row, v) >= v->least)
			r->at[r->n++] = row;
		else
			r->left_out++;
	}
	qsort_r(r->at, r->n, sizeof(struct call_row *), compare_functions, (void *)v);
	return 0;
}

static int compare_parts(const void *a, const void *b, void *ctx)
{
	const struct call_row *x = *(const struct call_row *const *)a;
	const struct call_row *y = *(const struct call_row *const *)b;
	const struct call_tree *t = ctx;

	if (x->charged.value != y->charged.value)
		return x->charged.value < y->charged.value ? 1 : -1;
	if (x->self.value != y->self.value)
		return x->self.value < y->self.value ? 1 : -1;
	return strcmp(t->functions.parts[x->number], t->functions.parts[y->number]);
}

int functions_rows__parts(struct functions_rows *r, const struct functions_view *v)
{
	const struct call_tree *t = v->tree;

	*r = (struct functions_rows){};
	r->at = calloc(t->functions.n_parts + 1UL, sizeof(struct call_row *));
	if (!r->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->functions.n_parts; i++) {
		const struct call_row *row = &t->parts[i];

		if (!row->self.n && !row->charged.n)
			continue;
		if (row->self.value >= v->least || row->charged.value >= v->least)
			r->at[r->n++] = row;
		else
			r->left_out++;
	}
	qsort_r(r->at, r->n, sizeof(struct call_row *), compare_parts, (void *)t);
	return 0;
}

void functions_rows__clear(struct functions_rows *r)
{
	free(r->at);
	*r = (struct functions_rows){};
}

/* ---- Text ---------------------------------------------------------------------------------- */

/* What a row has of one sum: keys of times and bytes differ. */
struct sum_keys {
	const char *samples, *ns, *error_ns, *bytes, *error_bytes;
};

#define SUM_KEYS(of)                                                                    \
	{                                                                               \
		of "_samples", of "_ns", of "_error_ns", of "_bytes", of "_error_bytes" \
	}

static const struct sum_keys of_self = SUM_KEYS("self"), of_total = SUM_KEYS("total"),
			     of_charged = SUM_KEYS("charged");

/* In a table the value only, with its error and its share if these have titles. */
static void sum_columns(struct columns *c, const struct sample_sum *sum,
			const struct sum_keys *keys, const char *title, const char *share,
			const char *help, const struct functions_view *v)
{
	bool bytes = v->cause == TRACE_SAMPLE_FAULT;
	/* Waits are no estimates. */
	const char *error = v->cause == TRACE_SAMPLE_OFF_CPU ? NULL : share ? "+-" : NULL;
	const char *error_key = bytes ? keys->error_bytes : keys->error_ns;
	enum column_unit unit = bytes ? UNIT_BYTES : UNIT_NS;

	NUMBER(c, COUNT, keys->samples, NULL, sum->n, "samples");
	if (columns__wants(c, unit, bytes ? keys->bytes : keys->ns, title, help))
		(c->to == COLUMNS_TEXT && !sum->n) ? columns__none(c)
						   : columns__number(c, sum->value);
	if (columns__wants(c, unit, v->cause == TRACE_SAMPLE_OFF_CPU ? NULL : error_key, error,
			   "its standard error"))
		(c->to == COLUMNS_TEXT && !sum->n) ? columns__text(c, "")
						   : columns__number(c, sample_sum__error(sum));
	PERCENT(c, share, sum->value, v->tree->all.value);
}

static void part_columns(struct columns *c, const struct call_row *row,
			 const struct functions_view *v)
{
	TEXT(c, "name", NULL, v->tree->functions.parts[row->number], "part of the compiler");
	sum_columns(c, row ? &row->self : NULL, &of_self, "self", "self %", "in it", v);
	sum_columns(c, row ? &row->total : NULL, &of_total, NULL, NULL, "with it in the stack", v);
	sum_columns(c, row ? &row->charged : NULL, &of_charged, "charged", NULL,
		    "with general code that it called", v);
	PERCENT(c, "charged %", row->charged.value, v->tree->all.value);
	NAME(c, NULL, "part", v->tree->functions.parts[row->number], NULL);
}

static void function_columns(struct columns *c, const struct call_row *row,
			     const struct functions_view *v)
{
	const struct code_function *f = row ? &v->tree->functions.at[row->number] : NULL;

	TEXT(c, "name", NULL, f->name, "whole, without arguments");
	TEXT(c, "part", NULL, v->tree->functions.parts[f->part], "its part of the compiler");
	TEXT(c, "file", NULL, f->file, "of code; null: unknown");
	sum_columns(c, row ? &row->self : NULL, &of_self, "self", "self %", "in it", v);
	sum_columns(c, row ? &row->total : NULL, &of_total, "total", NULL, "with it in the stack",
		    v);
	sum_columns(c, row ? &row->charged : NULL, &of_charged, NULL, NULL,
		    "with general code that it called", v);
	TEXT(c, NULL, "in", v->tree->functions.parts[f->part], NULL);
	OWNED_NAME(c, NULL, "function", v->width ? code_name_short(f->name) : strdup(f->name),
		   NULL);
}

void functions_more(FILE *out, size_t n, const char *one, const char *many)
{
	char count[FORMAT_MAX];

	if (n)
		fprintf(out, "  and %s more %s\n", format_count(count, n), n == 1 ? one : many);
}

static int print_tables(FILE *out, const struct functions_view *v)
{
	static const char *const spare[] = {"+-", NULL};
	struct columns c = {.out = out, .width = v->width, .name_last = true};
	_functions_rows_ struct functions_rows parts = {}, functions = {};
	size_t shown;

	if (functions_rows__parts(&parts, v) || functions_rows__init(&functions, v))
		return -ENOMEM;
	EACH_ROW (&c, i, parts.n)
		part_columns(&c, ROW(&c, parts.at[i]), v);
	functions_more(out, parts.left_out, "part", "parts");
	fputc('\n', out);

	c.keep_of_name = NAME_KEPT;
	c.spare = spare;
	shown = v->top && v->top < functions.n ? v->top : functions.n;
	EACH_ROW (&c, i, shown)
		function_columns(&c, ROW(&c, functions.at[i]), v);
	functions_more(out, functions.n - shown + functions.left_out, "function", "functions");
	return c.err;
}

int functions_text(FILE *out, const struct functions_view *v)
{
	static const char *const of[TRACE_SAMPLE_CAUSES] = {
		[TRACE_SAMPLE_CPU] = "on the CPU",
		[TRACE_SAMPLE_OFF_CPU] = "of waiting",
		[TRACE_SAMPLE_FAULT] = "that page faults made resident",
	};
	const struct sample_sum *all = &v->tree->all, *whole = &v->totals->of[v->cause];
	char n[FORMAT_MAX], value[FORMAT_MAX], percent[FORMAT_MAX];
	int err;

	fprintf(out, "%s samples, %s %s", format_count(n, all->n),
		format_value(value, v->cause, all->value), of[v->cause]);
	if (all->n != whole->n)
		fprintf(out, ": %s %% of the recording",
			format_percent(percent, all->value, whole->value));
	fputs("\n\n", out);
	if (!all->n)
		return 0;
	err = v->direction != FUNCTIONS_NO_TREE ? call_tree_text(out, v) : print_tables(out, v);
	if (!err && v->problem)
		fprintf(out, "\nincomplete: %s\n", v->problem);
	return err;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Numbers of the nodes that are shown: parents come first. */
struct numbers {
	uint32_t *of;
	uint32_t n;
};

static void node_columns(struct columns *c, const struct call_node *node,
			 const struct numbers *numbers, const struct functions_view *v)
{
	const struct sum_keys self = {of_self.samples, of_self.ns, NULL, of_self.bytes, NULL};
	const struct sum_keys total = {of_total.samples, of_total.ns, NULL, of_total.bytes, NULL};
	const struct code_function *f = &v->tree->functions.at[node->function];
	bool is_function = f->part != CODE_NO_PART;

	KNOWN(c, ID, "parent", NULL, node->parent != CALL_NONE, numbers->of[node->parent],
	      "index of an earlier one");
	TEXT(c, "name", NULL, f->name, "of the function, or of an interval");
	TEXT(c, "kind", NULL, is_function ? "function" : trace_kind_text(f->kind),
	     "function, or that of an interval");
	TEXT(c, "part", NULL, is_function ? v->tree->functions.parts[f->part] : NULL,
	     "null: an interval");
	sum_columns(c, &node->self, &self, NULL, NULL, "in it", v);
	sum_columns(c, &node->total, &total, NULL, NULL, "with it in the stack", v);
}

/* A node is not shown unless its parent is, as no total exceeds its parent's. */
static void put_tree(struct columns *c, const char *key, const struct call_nodes *nodes,
		     const struct functions_view *v)
{
	_free_ uint32_t *shown = calloc(nodes->n + 1UL, sizeof(*shown));
	_free_ uint32_t *of = calloc(nodes->n + 1UL, sizeof(*of));
	struct numbers numbers = {.of = of};

	if (!of || !shown)
		c->err = c->err ?: -ENOMEM;
	for (uint32_t i = 0; i < nodes->n && !c->err; i++) {
		if (!nodes->at[i].total.value || nodes->at[i].total.value < v->least)
			continue;
		shown[numbers.n] = i;
		of[i] = numbers.n++;
	}
	if (LIST(c, key, true, "nodes"))
		EACH_ROW (c, i, numbers.n)
			node_columns(c, &nodes->at[shown[i]], &numbers, v);
}

static void put_rows(struct columns *c, const char *key,
		     int (*init)(struct functions_rows *r, const struct functions_view *v),
		     void (*columns)(struct columns *c, const struct call_row *row,
				     const struct functions_view *v),
		     const struct functions_view *v)
{
	_functions_rows_ struct functions_rows r = {};

	c->err = c->err ?: init(&r, v);
	if (LIST(c, key, true, "rows"))
		EACH_ROW (c, i, r.n)
			columns(c, r.at[i], v);
}

int functions_json(FILE *out, const struct functions_view *v)
{
	struct columns c = {.to = COLUMNS_JSON, .out = out};
	_call_nodes_ struct call_nodes up = {};

	columns__begin(&c, "qprof-functions/1", "qprof-functions/1");
	TEXT(&c, "problem", NULL, v->problem, "why the trace is not whole; null: it is");
	TEXT(&c, "cause", NULL, sample_cause_name(v->cause), "cpu, off_cpu or faults");
	NUMBER(&c, COUNT, "n", NULL, v->tree->all.n, "samples");
	NUMBER(&c, NS, v->cause == TRACE_SAMPLE_FAULT ? "bytes" : "ns", NULL, v->tree->all.value,
	       "that these stand for");
	samples_columns(&c, v->totals);
	put_rows(&c, "parts", functions_rows__parts, part_columns, v);
	put_rows(&c, "functions", functions_rows__init, function_columns, v);
	if (v->direction == FUNCTIONS_DOWN)
		put_tree(&c, "down", &v->tree->down, v);
	if (v->direction == FUNCTIONS_UP) {
		c.err = c.err ?: call_tree__callers(v->tree, v->least, &up);
		put_tree(&c, "up", &up, v);
	}
	return columns__end(&c);
}

/* ---- The tree -------------------------------------------------------------------------------- */

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

/*
 * Add the name of a node to the line, whose names so far only lead on if *only_leads. The code that
 * ran has its name in any case: it is the first of a line from the inside out, and has a time of
 * its own in one from the outside in. Queries and other intervals stand in brackets.
 */
static int add_node(struct printing *p, uint32_t node, bool *only_leads)
{
	const struct code_function *f = &p->v->tree->functions.at[p->nodes->at[node].function];
	bool up = p->v->direction == FUNCTIONS_UP;
	bool ran = up ? !p->n_names : p->nodes->at[node].self.value >= p->v->least;
	bool leads = p->v->width && !ran && leads_on(p, f);
	_free_ char *text = NULL, *name = NULL;

	if (leads && p->n_names && !*only_leads)
		return 0;
	if (f->part == CODE_NO_PART) {
		if (asprintf(&text, "[%s]", f->name) < 0)
			text = NULL;
	} else {
		text = p->v->width ? code_name_short(f->name) : strdup(f->name);
	}
	name = text ? format_clean(text) : NULL;
	if (name && p->n_names && *only_leads)
		free(p->names[--p->n_names]);
	if (!name || array__add(&p->names, &p->n_names, &p->names_capacity, &name))
		return -ENOMEM;
	take_ptr(name);
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

/* The first name, and as many of the last as there is room for behind `used` columns. */
static void print_names(const struct printing *p, size_t used)
{
	size_t room = p->v->width > used ? p->v->width - used : 0;
	size_t width = format_width(p->names[0]) + strlen(JOINT CUT);
	uint32_t from = p->v->width ? p->n_names : 1;
	_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	while (from > 1) {
		width += strlen(JOINT) + format_width(p->names[from - 1]);
		if (width > room && from < p->n_names)
			break;
		from--;
	}
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
		sum->n ? format_value(buf, p->v->cause, sum->value) : "");
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
