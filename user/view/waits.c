// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/waits.h"

#include <errno.h>
#include <string.h>

#include "analyze/code_name.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "view/table.h"
#include "view/json.h"
#include "view/samples_text.h"

#define WIDER	  "report --wide"
#define NAME_KEPT 36

static int compare_kinds(const void *a, const void *b, void *ctx)
{
	const struct sample_waits *w = ctx;
	uint64_t x = w->of[*(const int *)a].value, y = w->of[*(const int *)b].value;

	return (x < y) - (x > y);
}

static void add_sum(struct table *t, const struct sample_sum *sum, const struct waits_view *v)
{
	char buf[FORMAT_MAX];

	table__cell(t, format_duration(buf, sum->value));
	table__cell(t, format_percent(buf, sum->value, v->waits->all.value));
	table__cell(t, format_count(buf, sum->n));
}

static int print_kinds(FILE *out, const struct waits_view *v)
{
	static const struct table_column columns[] = {
		{"waiting for", 0}, {"time", 0}, {"%", 0}, {"times", 0}};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	int order[SAMPLE_WAIT_KINDS];

	for (int i = 0; i < SAMPLE_WAIT_KINDS; i++)
		order[i] = i;
	qsort_r(order, SAMPLE_WAIT_KINDS, sizeof(*order), compare_kinds, (void *)v->waits);
	for (int i = 0; i < SAMPLE_WAIT_KINDS; i++) {
		if (!v->waits->of[order[i]].n)
			continue;
		table__cell(t, sample_wait_text(order[i]));
		add_sum(t, &v->waits->of[order[i]], v);
	}
	return table__print_within(t, out, v->width, WIDER);
}

static int add_row(struct table *t, const struct sample_wait_row *row, const struct waits_view *v)
{
	const struct code_function *f = v->waits->functions.at;
	const char *plain = row->function == CODE_NO_FUNCTION ? "-" : f[row->function].name;
	_free_ char *name = v->width ? code_name_short(plain) : strdup(plain);

	if (!name)
		return -ENOMEM;
	add_sum(t, &row->sum, v);
	table__cell(t, sample_wait_name(row->wait));
	table__cell(t, row->query == CODE_NO_FUNCTION ? "-" : f[row->query].name);
	table__cell(t, name);
	return 0;
}

static int print_rows(FILE *out, const struct waits_view *v)
{
	static const struct table_column columns[] = {
		{"time", 0}, {"%", 0}, {"times", 0}, {"for", 0}, {"query", 0}, {"function", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	size_t n = 0, most = v->top && v->top < v->waits->n_rows ? v->top : v->waits->n_rows;
	char count[FORMAT_MAX];
	int err;

	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	table__spare(t, "times");
	/* The largest come first. */
	for (; n < most && v->waits->rows[n].sum.value >= v->least; n++)
		if (add_row(t, &v->waits->rows[n], v))
			return -ENOMEM;
	err = table__print_within(t, out, v->width, WIDER);
	if (n < v->waits->n_rows)
		fprintf(out, "  and %s more\n", format_count(count, v->waits->n_rows - n));
	return err;
}

int waits_text(FILE *out, const struct waits_view *v)
{
	const struct sample_sum *all = &v->waits->all;
	char n[FORMAT_MAX], time[FORMAT_MAX];
	int err;

	fprintf(out, "threads waited %s times for %s together\n\n", format_count(n, all->n),
		format_duration(time, all->value));
	if (!all->n)
		return 0;
	err = print_kinds(out, v);
	if (err)
		return err;
	fputc('\n', out);
	err = print_rows(out, v);
	if (!err && v->problem)
		fprintf(out, "\nincomplete: %s\n", v->problem);
	return err;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void waits_json_add_sum(struct json *j, const struct sample_sum *sum)
{
	json__number(j, "n", sum->n);
	json__number(j, "ns", sum->value);
}

static void put_kinds(struct json *j, const struct sample_waits *w)
{
	size_t n = 0;

	json__array(j, "kinds");
	for (int i = 0; i < SAMPLE_WAIT_KINDS && !j->err; i++) {
		if (!w->of[i].n)
			continue;
		json__line(j, n++);
		json__text(j, "wait", sample_wait_name(i));
		waits_json_add_sum(j, &w->of[i]);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_row(struct json *j, const struct sample_wait_row *row, const struct sample_waits *w)
{
	const struct code_function *f = w->functions.at, *function = NULL;

	if (row->function != CODE_NO_FUNCTION)
		function = &f[row->function];
	json__text(j, "wait", sample_wait_name(row->wait));
	json__text(j, "query", row->query == CODE_NO_FUNCTION ? NULL : f[row->query].name);
	json__text(j, "function", function ? function->name : NULL);
	json__text(j, "part", function ? w->functions.parts[function->part] : NULL);
	waits_json_add_sum(j, &row->sum);
	json__put(j);
}

int waits_json(FILE *out, const struct waits_view *v)
{
	const struct sample_waits *w = v->waits;
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", "qprof-waits/1");
	json__text(&j, "problem", v->problem);
	waits_json_add_sum(&j, &w->all);
	json__put_open(&j);
	samples_json(&j, v->totals);
	put_kinds(&j, w);
	json__array(&j, "rows");
	for (uint32_t i = 0; i < w->n_rows && !j.err && w->rows[i].sum.value >= v->least; i++) {
		json__line(&j, i);
		put_row(&j, &w->rows[i], w);
	}
	json__print(&j, "]}\n");
	return j.err;
}
