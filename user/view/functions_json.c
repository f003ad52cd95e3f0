// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

#include "analyze/sampled.h"
#include "view/functions.h"
#include "view/json.h"
#include "view/samples_text.h"

static void add_sum(struct json *j, const struct sample_sum *sum, const char *const names[3],
		    bool is_exact)
{
	json__number(j, names[0], sum->n);
	json__number(j, names[1], sum->value);
	if (names[2] && !is_exact)
		json__number(j, names[2], sample_sum__error(sum));
}

/* Times and bytes have names of their own. */
struct names {
	const char *self[3], *total[3], *charged[3];
};

static const struct names of_times = {
	{"self_samples", "self_ns", "self_error_ns"},
	{"total_samples", "total_ns", "total_error_ns"},
	{"charged_samples", "charged_ns", "charged_error_ns"},
};

static const struct names of_bytes = {
	{"self_samples", "self_bytes", "self_error_bytes"},
	{"total_samples", "total_bytes", "total_error_bytes"},
	{"charged_samples", "charged_bytes", "charged_error_bytes"},
};

static void add_row(struct json *j, const struct call_row *row, const struct functions_view *v)
{
	const struct names *names = v->cause == TRACE_SAMPLE_FAULT ? &of_bytes : &of_times;
	bool is_exact = v->cause == TRACE_SAMPLE_OFF_CPU;

	add_sum(j, &row->self, names->self, is_exact);
	add_sum(j, &row->total, names->total, is_exact);
	add_sum(j, &row->charged, names->charged, is_exact);
}

static void put_parts(struct json *j, const struct functions_view *v)
{
	_functions_rows_ struct functions_rows r = {};

	j->err = j->err ?: functions_rows__parts(&r, v);
	json__array(j, "parts");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		json__line(j, i);
		json__text(j, "name", v->tree->functions.parts[r.at[i]->number]);
		add_row(j, r.at[i], v);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_functions(struct json *j, const struct functions_view *v)
{
	_functions_rows_ struct functions_rows r = {};

	j->err = j->err ?: functions_rows__init(&r, v);
	json__array(j, "functions");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		const struct code_function *f = &v->tree->functions.at[r.at[i]->number];

		json__line(j, i);
		json__text(j, "name", f->name);
		json__text(j, "part", v->tree->functions.parts[f->part]);
		json__text(j, "file", f->file);
		add_row(j, r.at[i], v);
		json__put(j);
	}
	json__print(j, "]");
}

/* Numbers of the nodes that are shown: parents come first. */
struct numbers {
	uint32_t *of;
	uint32_t n;
};

static void put_node(struct json *j, const struct call_nodes *nodes, uint32_t i,
		     struct numbers *numbers, const struct functions_view *v)
{
	const struct names *names = v->cause == TRACE_SAMPLE_FAULT ? &of_bytes : &of_times;
	const struct call_node *node = &nodes->at[i];
	const struct code_function *f = &v->tree->functions.at[node->function];

	json__line(j, numbers->n);
	json__known(j, "parent", node->parent != CALL_NONE,
		    node->parent == CALL_NONE ? 0 : numbers->of[node->parent]);
	json__text(j, "name", f->name);
	json__text(j, "kind", f->part == CODE_NO_PART ? trace_kind_text(f->kind) : "function");
	json__text(j, "part", f->part == CODE_NO_PART ? NULL : v->tree->functions.parts[f->part]);
	add_sum(j, &node->self, (const char *const[]){names->self[0], names->self[1], NULL}, true);
	add_sum(j, &node->total, (const char *const[]){names->total[0], names->total[1], NULL},
		true);
	json__put(j);
	numbers->of[i] = numbers->n++;
}

/* A node is not shown unless its parent is, as no total exceeds its parent's. */
static void put_tree(struct json *j, const char *key, const struct call_nodes *nodes,
		     const struct functions_view *v)
{
	_free_ uint32_t *of = calloc(nodes->n + 1UL, sizeof(*of));
	struct numbers numbers = {.of = of};

	if (!of)
		j->err = j->err ?: -ENOMEM;
	json__array(j, key);
	for (uint32_t i = 0; i < nodes->n && !j->err; i++)
		if (nodes->at[i].total.value && nodes->at[i].total.value >= v->least)
			put_node(j, nodes, i, &numbers, v);
	json__print(j, "]");
}

int functions_json(FILE *out, const struct functions_view *v)
{
	_call_nodes_ struct call_nodes up = {};
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", "qprof-functions/1");
	json__text(&j, "problem", v->problem);
	json__text(&j, "cause", sample_cause_name(v->cause));
	json__number(&j, "n", v->tree->all.n);
	json__number(&j, v->cause == TRACE_SAMPLE_FAULT ? "bytes" : "ns", v->tree->all.value);
	json__put_open(&j);
	samples_json(&j, v->totals);
	put_parts(&j, v);
	put_functions(&j, v);
	if (v->direction == FUNCTIONS_DOWN)
		put_tree(&j, "down", &v->tree->down, v);
	if (v->direction == FUNCTIONS_UP) {
		j.err = j.err ?: call_tree__callers(v->tree, v->least, &up);
		put_tree(&j, "up", &up, v);
	}
	json__print(&j, "}\n");
	return j.err;
}
