// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "view/functions.h"
#include "view/memory.h"
#include "view/place_text.h"
#include "view/report_rows.h"
#include "view/table.h"

#define WIDER	  "report --wide"
#define PATH_KEPT 40 /* as in the table of items */

static void print_head(FILE *out, const struct samples_totals *t)
{
	const struct sample_sum *sum = &t->of[TRACE_SAMPLE_FAULT];
	const struct sample_sum *none = &t->no_query[TRACE_SAMPLE_FAULT];
	const struct sample_sum *unknown = &t->unknown_query;
	char count[FORMAT_MAX], bytes[FORMAT_MAX], percent[FORMAT_MAX];

	fprintf(out, "%s made resident, by %s samples of page faults, %s %% in queries and passes",
		format_bytes(bytes, sum->value), format_count(count, sum->n),
		format_percent(percent, sum->value - none->value - unknown->value, sum->value));
	if (unknown->n)
		fprintf(out, ", %s %% unknown",
			format_percent(percent, unknown->value, sum->value));
	fputs("\n\n", out);
}

static size_t shown(size_t n, const struct memory_view *v)
{
	return v->top && v->top < n ? v->top : n;
}

static void print_more(FILE *out, size_t n, const char *one, const char *many)
{
	char count[FORMAT_MAX];

	if (n)
		fprintf(out, "  and %s more %s\n", format_count(count, n), n == 1 ? one : many);
}

static void add_sum(struct table *t, const struct sample_sum *sum, const struct memory_view *v)
{
	const struct sample_sum *all = &samples__totals(v->samples)->of[TRACE_SAMPLE_FAULT];
	char buf[FORMAT_MAX];

	table__cell(t, format_bytes(buf, sum->value));
	table__cell(t, format_bytes(buf, sample_sum__error(sum)));
	table__cell(t, format_percent(buf, sum->value, all->value));
}

static int print_crates(FILE *out, const struct memory_rows *r, const struct memory_view *v)
{
	static const struct table_column columns[] = {
		{"crate", 0}, {"touched", 0}, {"+-", 0}, {"%", 0}, {"peak", 0}, {"pid", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	size_t n = shown(r->n_crates, v);
	char buf[FORMAT_MAX];
	int err;

	for (size_t i = 0; i < n; i++) {
		const struct memory_crate *crate = &r->crates[i];

		table__cell(t, crate->name);
		add_sum(t, &crate->sum, v);
		table__cell(t, crate->process->peak_bytes
				       ? format_bytes(buf, crate->process->peak_bytes)
				       : "-");
		table__cellf(t, "%" PRIu32, crate->process->pid);
	}
	err = table__print_within(t, out, v->width, WIDER);
	print_more(out, r->n_crates - n + r->crates_left_out, "crate", "crates");
	return err;
}

static int print_queries(FILE *out, const struct memory_rows *r, const struct memory_view *v)
{
	static const struct table_column columns[] = {
		{"query", 0}, {"self", 0}, {"+-", 0}, {"self %", 0}, {"total", 0},
	};
	bool light = samples__totals(v->samples)->light;
	_table_ struct table *t = table__new(columns, N_OF(columns) - light);
	size_t n = shown(r->n_queries, v);
	char buf[FORMAT_MAX];
	int err;

	if (!r->n_queries)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct summary_row *row = &r->queries[i];

		table__cell(t, v->names->text(v->names->ctx, row->label));
		add_sum(t, &row->samples.self[TRACE_SAMPLE_FAULT], v);
		if (!light)
			table__cell(
				t, format_bytes(buf, row->samples.total[TRACE_SAMPLE_FAULT].value));
	}
	fputc('\n', out);
	err = table__print_within(t, out, v->width, WIDER);
	print_more(out, r->n_queries - n + r->queries_left_out, "query", "queries");
	return err;
}

static bool any_place(const struct memory_rows *r, size_t n, const struct trace_texts *names)
{
	while (n && !trace_texts__place(names, r->items[n - 1].item))
		n--;
	return n;
}

static int add_item(struct table *t, const struct item_row *row, bool places,
		    const struct memory_view *v)
{
	_free_ char *place = NULL;

	if (place_text(v->names, row->item, &place))
		return -ENOMEM;
	add_sum(t, &row->sampled[TRACE_SAMPLE_FAULT], v);
	if (places)
		table__cell(t, place);
	table__cell(t, row->item == TRACE_NO_STRING ? REPORT_NO_ITEM
						    : v->names->text(v->names->ctx, row->item));
	return 0;
}

static int print_items(FILE *out, const struct memory_rows *r, const struct memory_view *v)
{
	size_t n = shown(r->n_items, v), n_columns = 3;
	bool places = any_place(r, n, v->names);
	struct table_column columns[5] = {{"charged", 0}, {"+-", 0}, {"%", 0}};
	_table_ struct table *t = NULL;
	int err;

	if (!r->n_items)
		return 0;
	if (places)
		columns[n_columns++].title = "at";
	columns[n_columns++].title = "item";
	t = table__new(columns, n_columns);
	table__name_last(t);
	table__keep_of_name(t, PATH_KEPT);
	for (size_t i = 0; i < n; i++)
		if (add_item(t, &r->items[i], places, v))
			return -ENOMEM;
	fputc('\n', out);
	err = table__print_within(t, out, v->width, WIDER);
	print_more(out, r->n_items - n + r->items_left_out, "item", "items");
	return err;
}

/* The allocator touches memory for its callers, so the parts have what they are charged. */
static int print_parts(FILE *out, const struct memory_view *v)
{
	static const struct table_column columns[] = {
		{"part of the compiler", 0}, {"charged", 0}, {"+-", 0}, {"%", 0}};
	const struct functions_view parts = {.tree = v->tree, .least = v->least};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	_functions_rows_ struct functions_rows r = {};
	size_t n = 0, charged = 0;
	int err;

	if (functions_rows__parts(&r, &parts))
		return -ENOMEM;
	while (charged < r.n && r.at[charged]->charged.n &&
	       r.at[charged]->charged.value >= v->least)
		charged++;
	for (; n < shown(charged, v); n++) {
		table__cell(t, v->tree->functions.parts[r.at[n]->number]);
		add_sum(t, &r.at[n]->charged, v);
	}
	if (!n)
		return 0;
	fputc('\n', out);
	err = table__print_within(t, out, v->width, WIDER);
	print_more(out, charged - n, "part", "parts");
	return err;
}

int memory_text(FILE *out, const struct memory_view *v)
{
	_memory_rows_ struct memory_rows r = {};
	int err = memory_rows__init(&r, v);

	if (err)
		return err;
	print_head(out, samples__totals(v->samples));
	err = print_crates(out, &r, v) ?: print_queries(out, &r, v)
		      ?: print_items(out, &r, v) ?: print_parts(out, v);
	if (err)
		return err;
	fputs("\ntouched for the first time; memory that was freed again is in it\n", out);
	if (samples__totals(v->samples)->light)
		fputs("recorded without stacks: the part is that of the innermost function, which "
		      "may be\n  the allocator, for its callers\n",
		      out);
	if (v->problem)
		fprintf(out, "incomplete: %s\n", v->problem);
	return 0;
}
