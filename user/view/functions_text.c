// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/code_name.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "view/call_tree_text.h"
#include "view/functions.h"
#include "view/table.h"

#define WIDER	  "report --wide"
#define NAME_KEPT 28 /* minimum columns of a function's name, so that its crate fits */

static void print_head(FILE *out, const struct functions_view *v)
{
	static const char *const of[TRACE_SAMPLE_CAUSES] = {
		[TRACE_SAMPLE_CPU] = "on the CPU",
		[TRACE_SAMPLE_OFF_CPU] = "of waiting",
		[TRACE_SAMPLE_FAULT] = "that page faults made resident",
	};
	const struct sample_sum *all = &v->tree->all, *whole = &v->totals->of[v->cause];
	char n[FORMAT_MAX], value[FORMAT_MAX], percent[FORMAT_MAX];

	fprintf(out, "%s samples, %s %s", format_count(n, all->n),
		functions_format(value, v->cause, all->value), of[v->cause]);
	if (all->n != whole->n)
		fprintf(out, ": %s %% of the recording",
			format_percent(percent, all->value, whole->value));
	fputs("\n\n", out);
}

static void print_more(FILE *out, size_t n, const char *one, const char *many)
{
	char count[FORMAT_MAX];

	if (n)
		fprintf(out, "  and %s more %s\n", format_count(count, n), n == 1 ? one : many);
}

static void add_value(struct table *t, const struct sample_sum *sum, uint8_t cause)
{
	char buf[FORMAT_MAX];

	table__cell(t, sum->n ? functions_format(buf, cause, sum->value) : "-");
}

static void add_self(struct table *t, const struct call_row *row, const struct functions_view *v)
{
	char buf[FORMAT_MAX];

	add_value(t, &row->self, v->cause);
	if (v->cause != TRACE_SAMPLE_OFF_CPU)
		table__cell(t, row->self.n ? functions_format(buf, v->cause,
							      sample_sum__error(&row->self))
					   : "");
	table__cell(t, format_percent(buf, row->self.value, v->tree->all.value));
}

/* Waits are no estimates: the column of errors is left out. */
static struct table *new_table(struct table_column *columns, size_t n, uint8_t cause)
{
	if (cause == TRACE_SAMPLE_OFF_CPU) {
		memmove(&columns[1], &columns[2], (n - 2) * sizeof(*columns));
		n--;
	}
	return table__new(columns, n);
}

static int print_parts(FILE *out, const struct functions_view *v)
{
	struct table_column columns[] = {
		{"self", 0},	{"+-", 0},	  {"self %", 0},
		{"charged", 0}, {"charged %", 0}, {"part", 0},
	};
	_table_ struct table *t = new_table(columns, N_OF(columns), v->cause);
	_functions_rows_ struct functions_rows r = {};
	char buf[FORMAT_MAX];
	int err;

	if (functions_rows__parts(&r, v))
		return -ENOMEM;
	table__name_last(t);
	for (size_t i = 0; i < r.n; i++) {
		add_self(t, r.at[i], v);
		add_value(t, &r.at[i]->charged, v->cause);
		table__cell(t, format_percent(buf, r.at[i]->charged.value, v->tree->all.value));
		table__cell(t, v->tree->functions.parts[r.at[i]->number]);
	}
	err = table__print_within(t, out, v->width, WIDER);
	print_more(out, r.left_out, "part", "parts");
	fputc('\n', out);
	return err;
}

static int add_function(struct table *t, const struct call_row *row, const struct functions_view *v)
{
	const struct code_function *f = &v->tree->functions.at[row->number];
	_free_ char *name = v->width ? code_name_short(f->name) : strdup(f->name);

	if (!name)
		return -ENOMEM;
	add_self(t, row, v);
	add_value(t, &row->total, v->cause);
	table__cell(t, v->tree->functions.parts[f->part]);
	table__cell(t, name);
	return 0;
}

static int print_functions(FILE *out, const struct functions_view *v)
{
	struct table_column columns[] = {
		{"self", 0}, {"+-", 0}, {"self %", 0}, {"total", 0}, {"in", 0}, {"function", 0},
	};
	_table_ struct table *t = new_table(columns, N_OF(columns), v->cause);
	_functions_rows_ struct functions_rows r = {};
	size_t shown;
	int err;

	if (functions_rows__init(&r, v))
		return -ENOMEM;
	shown = v->top && v->top < r.n ? v->top : r.n;
	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	table__spare(t, "+-");
	for (size_t i = 0; i < shown; i++)
		if (add_function(t, r.at[i], v))
			return -ENOMEM;
	err = table__print_within(t, out, v->width, WIDER);
	print_more(out, r.n - shown + r.left_out, "function", "functions");
	return err;
}

int functions_text(FILE *out, const struct functions_view *v)
{
	int err;

	print_head(out, v);
	if (!v->tree->all.n)
		return 0;
	if (v->direction != FUNCTIONS_NO_TREE)
		err = call_tree_text(out, v);
	else
		err = print_parts(out, v) ?: print_functions(out, v);
	if (!err && v->problem)
		fprintf(out, "\nincomplete: %s\n", v->problem);
	return err;
}
