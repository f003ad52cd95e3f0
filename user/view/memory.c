// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "view/functions.h"
#include "view/place_text.h"
#include "view/report_rows.h"
#include "view/table.h"
#include "analyze/compile_name.h"
#include "base/format.h"
#include "view/json.h"
#include "view/samples_text.h"

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

/* ---- Rows ------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const struct summary_row *row)
{
	return row->samples.self[TRACE_SAMPLE_FAULT].value;
}

static int compare_crates(const void *a, const void *b)
{
	const struct memory_crate *x = a, *y = b;

	if (x->sum.value != y->sum.value)
		return x->sum.value < y->sum.value ? 1 : -1;
	return (x->process->index > y->process->index) - (x->process->index < y->process->index);
}

static int add_crates(struct memory_rows *r, const struct memory_view *v)
{
	uint32_t n = summary__n_processes(v->summary);

	r->crates = calloc(n + 1UL, sizeof(*r->crates));
	if (!r->crates)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct memory_crate *crate = &r->crates[r->n_crates];
		_free_ char *name = NULL;

		*crate = (struct memory_crate){
			.process = summary__process_at(v->summary, i),
			.sum = samples__process(v->samples, i)[TRACE_SAMPLE_FAULT],
		};
		if (!crate->sum.n || crate->sum.value < v->least) {
			r->crates_left_out += crate->sum.n != 0;
			continue;
		}
		name = compile_name(crate->process);
		crate->name = name ? format_clean(name) : NULL;
		if (!crate->name)
			return -ENOMEM;
		r->n_crates++;
	}
	qsort(r->crates, r->n_crates, sizeof(*r->crates), compare_crates);
	return 0;
}

static int compare_queries(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	if (bytes_of(x) != bytes_of(y))
		return bytes_of(x) < bytes_of(y) ? 1 : -1;
	return (x->label > y->label) - (x->label < y->label);
}

static int add_queries(struct memory_rows *r, const struct memory_view *v)
{
	size_t n, used = 0;

	if (summary__rows(v->summary, SUMMARY_ALL, &r->queries, &n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct summary_row *row = &r->queries[i];

		if (bytes_of(row) && bytes_of(row) >= v->least)
			r->queries[used++] = *row;
		else
			r->queries_left_out += row->samples.total[TRACE_SAMPLE_FAULT].n != 0;
	}
	r->n_queries = used;
	qsort(r->queries, used, sizeof(*r->queries), compare_queries);
	return 0;
}

static int compare_items(const void *a, const void *b)
{
	const struct item_row *x = a, *y = b;
	uint64_t of_x = x->sampled[TRACE_SAMPLE_FAULT].value;
	uint64_t of_y = y->sampled[TRACE_SAMPLE_FAULT].value;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return (x->item > y->item) - (x->item < y->item);
}

static int add_items(struct memory_rows *r, const struct memory_view *v)
{
	size_t n, used = 0;

	if (!v->items)
		return 0;
	if (items__rows(v->items, &r->items, &n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct sample_sum *sum = &r->items[i].sampled[TRACE_SAMPLE_FAULT];

		if (sum->n && sum->value >= v->least)
			r->items[used++] = r->items[i];
		else
			r->items_left_out += sum->n != 0;
	}
	r->n_items = used;
	qsort(r->items, used, sizeof(*r->items), compare_items);
	return 0;
}

int memory_rows__init(struct memory_rows *r, const struct memory_view *v)
{
	*r = (struct memory_rows){};
	return add_crates(r, v) ?: add_queries(r, v) ?: add_items(r, v);
}

void memory_rows__clear(struct memory_rows *r)
{
	for (size_t i = 0; i < r->n_crates; i++)
		free(r->crates[i].name);
	free(r->crates);
	free(r->queries);
	free(r->items);
	*r = (struct memory_rows){};
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void memory_json_add_sum(struct json *j, const struct sample_sum *sum)
{
	json__number(j, "samples", sum->n);
	json__number(j, "bytes", sum->value);
	json__number(j, "error_bytes", sample_sum__error(sum));
}

static void put_crates(struct json *j, const struct memory_rows *r)
{
	json__array(j, "crates");
	for (size_t i = 0; i < r->n_crates && !j->err; i++) {
		const struct trace_process *p = r->crates[i].process;

		json__line(j, i);
		json__text(j, "name", r->crates[i].name);
		json__number(j, "pid", p->pid);
		memory_json_add_sum(j, &r->crates[i].sum);
		json__known(j, "peak_bytes", p->peak_bytes, p->peak_bytes);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_queries(struct json *j, const struct memory_rows *r, const struct memory_view *v)
{
	json__array(j, "queries");
	for (size_t i = 0; i < r->n_queries && !j->err; i++) {
		const struct summary_row *row = &r->queries[i];

		json__line(j, i);
		json__text(j, "name", v->names->text(v->names->ctx, row->label));
		json__text(j, "kind", summary_row__kind(row));
		memory_json_add_sum(j, &row->samples.self[TRACE_SAMPLE_FAULT]);
		json__known(j, "total_bytes", !samples__totals(v->samples)->light,
			    row->samples.total[TRACE_SAMPLE_FAULT].value);
		json__put(j);
	}
	json__print(j, "]");
}

/* Missing where no item is known. */
static void put_items(struct json *j, const struct memory_rows *r, const struct memory_view *v)
{
	if (!v->items)
		return;
	json__array(j, "items");
	for (size_t i = 0; i < r->n_items && !j->err; i++) {
		uint32_t item = r->items[i].item;
		const struct trace_place *place = trace_texts__place(v->names, item);

		json__line(j, i);
		json__text(j, "name",
			   item == TRACE_NO_STRING ? NULL : v->names->text(v->names->ctx, item));
		if (place) {
			json__text(j, "file", v->names->text(v->names->ctx, place->file));
			json__number(j, "line", place->line);
		}
		memory_json_add_sum(j, &r->items[i].sampled[TRACE_SAMPLE_FAULT]);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_parts(struct json *j, const struct memory_view *v)
{
	const struct functions_view parts = {.tree = v->tree, .least = v->least};
	_functions_rows_ struct functions_rows r = {};

	j->err = j->err ?: functions_rows__parts(&r, &parts);
	json__array(j, "parts");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		json__line(j, i);
		json__text(j, "name", v->tree->functions.parts[r.at[i]->number]);
		memory_json_add_sum(j, &r.at[i]->charged);
		json__number(j, "self_bytes", r.at[i]->self.value);
		json__put(j);
	}
	json__print(j, "]");
}

int memory_json(FILE *out, const struct memory_view *v)
{
	_memory_rows_ struct memory_rows r = {};
	struct json j = {.out = out, .err = memory_rows__init(&r, v)};

	json__begin(&j);
	json__text(&j, "schema", "qprof-memory/1");
	json__text(&j, "problem", v->problem);
	json__put_open(&j);
	samples_json(&j, samples__totals(v->samples));
	put_crates(&j, &r);
	put_queries(&j, &r, v);
	put_items(&j, &r, v);
	put_parts(&j, v);
	json__print(&j, "}\n");
	return j.err;
}
