// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/waits.h"

#include <errno.h>
#include <string.h>

#include "analyze/code_name.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "view/samples_text.h"

#define NAME_KEPT 36

static int compare_kinds(const void *a, const void *b, void *ctx)
{
	const struct sample_waits *w = ctx;
	uint64_t x = w->of[*(const int *)a].value, y = w->of[*(const int *)b].value;

	return (x < y) - (x > y);
}

static void sum_columns(struct columns *c, const struct sample_sum *sum, const struct waits_view *v)
{
	NUMBER(c, NS, "ns", "time", sum->value, "how long");
	PERCENT(c, "%", sum->value, v->waits->all.value);
	NUMBER(c, COUNT, "n", "times", sum->n, "waits");
}

static void kind_columns(struct columns *c, const int *wait, const struct waits_view *v)
{
	TEXT(c, "wait", NULL, sample_wait_name(*wait), "what for");
	NAME(c, NULL, "waiting for", sample_wait_text(*wait), NULL);
	sum_columns(c, wait ? &v->waits->of[*wait] : NULL, v);
}

/* The kinds that there are; returns their number. */
static int kinds_of(const struct sample_waits *w, int kinds[SAMPLE_WAIT_KINDS])
{
	int n = 0;

	for (int i = 0; i < SAMPLE_WAIT_KINDS; i++)
		if (w->of[i].n)
			kinds[n++] = i;
	return n;
}

static const struct code_function *function_at(const struct waits_view *v, uint32_t function)
{
	return function == CODE_NO_FUNCTION ? NULL : &v->waits->functions.at[function];
}

static void row_columns(struct columns *c, const struct sample_wait_row *row,
			const struct waits_view *v)
{
	const struct code_function *query = row ? function_at(v, row->query) : NULL;
	const struct code_function *function = row ? function_at(v, row->function) : NULL;
	const char *name = function ? function->name : "-";

	sum_columns(c, row ? &row->sum : NULL, v);
	TEXT(c, "wait", "for", sample_wait_name(row->wait), "what for");
	TEXT(c, "query", "query", query ? query->name : NULL, "null: in none");
	TEXT(c, "function", NULL, function ? name : NULL, "that waits; null: unknown");
	TEXT(c, "part", NULL, function ? v->waits->functions.parts[function->part] : NULL,
	     "of the compiler");
	OWNED_NAME(c, NULL, "function", v->width ? code_name_short(name) : strdup(name), NULL);
}

/* The largest come first. */
static size_t n_shown(const struct waits_view *v, size_t most)
{
	size_t n = 0;

	while (n < most && v->waits->rows[n].sum.value >= v->least)
		n++;
	return n;
}

static int print_rows(FILE *out, const struct waits_view *v)
{
	static const char *const spare[] = {"times", NULL};
	struct columns c = {.out = out,
			    .width = v->width,
			    .name_last = true,
			    .keep_of_name = NAME_KEPT,
			    .spare = spare};
	size_t most = v->top && v->top < v->waits->n_rows ? v->top : v->waits->n_rows;
	size_t n = n_shown(v, most);
	char count[FORMAT_MAX];

	EACH_ROW (&c, i, n)
		row_columns(&c, ROW(&c, &v->waits->rows[i]), v);
	if (n < v->waits->n_rows)
		fprintf(out, "  and %s more\n", format_count(count, v->waits->n_rows - n));
	return c.err;
}

int waits_text(FILE *out, const struct waits_view *v)
{
	const struct sample_sum *all = &v->waits->all;
	struct columns c = {.out = out, .width = v->width};
	int order[SAMPLE_WAIT_KINDS], n_kinds = kinds_of(v->waits, order);
	char n[FORMAT_MAX], time[FORMAT_MAX];
	int err;

	fprintf(out, "threads waited %s times for %s together\n\n", format_count(n, all->n),
		format_duration(time, all->value));
	if (!all->n)
		return 0;
	qsort_r(order, (size_t)n_kinds, sizeof(*order), compare_kinds, (void *)v->waits);
	EACH_ROW (&c, i, (size_t)n_kinds)
		kind_columns(&c, ROW(&c, &order[i]), v);
	if (c.err)
		return c.err;
	fputc('\n', out);
	err = print_rows(out, v);
	if (!err && v->problem)
		fprintf(out, "\nincomplete: %s\n", v->problem);
	return err;
}

int waits_json(FILE *out, const struct waits_view *v)
{
	struct columns c = {.to = COLUMNS_JSON, .out = out};
	int kinds[SAMPLE_WAIT_KINDS], n = kinds_of(v->waits, kinds);

	columns__begin(&c, "qprof-waits/1", "qprof-waits/1");
	TEXT(&c, "problem", NULL, v->problem, "why the trace is not whole; null: it is");
	sum_columns(&c, &v->waits->all, v);
	samples_columns(&c, v->totals);
	if (LIST(&c, "kinds", true, "sums"))
		EACH_ROW (&c, i, (size_t)n)
			kind_columns(&c, &kinds[i], v);
	if (LIST(&c, "rows", true, "the largest first"))
		EACH_ROW (&c, i, n_shown(v, v->waits->n_rows))
			row_columns(&c, &v->waits->rows[i], v);
	return columns__end(&c);
}
