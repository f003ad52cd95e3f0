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
#include "analyze/compile_name.h"
#include "base/format.h"
#include "view/samples_text.h"

#define PATH_KEPT 40 /* as in the table of items */

/* The rows that are shown, in their order. */
struct memory_crate {
	char *name; /* of the compile */
	const struct trace_process *process;
	struct sample_sum sum;
};

struct memory_rows {
	struct memory_crate *crates;
	size_t n_crates;
	size_t crates_left_out;
	struct summary_row *queries;
	size_t n_queries;
	size_t queries_left_out;
	struct item_row *items;
	size_t n_items;
	size_t items_left_out;
};

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

static int memory_rows__init(struct memory_rows *r, const struct memory_view *v)
{
	*r = (struct memory_rows){};
	return add_crates(r, v) ?: add_queries(r, v) ?: add_items(r, v);
}

static void memory_rows__clear(struct memory_rows *r)
{
	for (size_t i = 0; i < r->n_crates; i++)
		free(r->crates[i].name);
	free(r->crates);
	free(r->queries);
	free(r->items);
	*r = (struct memory_rows){};
}

#define _memory_rows_ __cleanup(memory_rows__clear)

/* ---- Text ---------------------------------------------------------------------------------- */

static size_t shown(size_t n, const struct memory_view *v)
{
	return v->top && v->top < n ? v->top : n;
}

static void sum_columns(struct columns *c, const struct sample_sum *sum, const char *title,
			const char *share, const struct memory_view *v)
{
	const struct sample_sum *all = &samples__totals(v->samples)->of[TRACE_SAMPLE_FAULT];

	NUMBER(c, COUNT, "samples", NULL, sum->n, "page faults that were sampled");
	NUMBER(c, BYTES, "bytes", title, sum->value, "memory that these stand for");
	NUMBER(c, BYTES, "error_bytes", "+-", sample_sum__error(sum), "standard error of that");
	PERCENT(c, share, sum->value, all->value);
}

static void crate_columns(struct columns *c, const struct memory_crate *crate,
			  const struct memory_view *v)
{
	const struct trace_process *p = crate ? crate->process : NULL;

	NAME(c, "name", "crate", crate->name, "package, target and tool");
	sum_columns(c, crate ? &crate->sum : NULL, "touched", "%", v);
	KNOWN(c, BYTES, "peak_bytes", "peak", p->peak_bytes, p->peak_bytes,
	      "the most resident memory; null: unknown");
	NUMBER(c, ID, "pid", "pid", p->pid, "process");
}

static void query_columns(struct columns *c, const struct summary_row *row,
			  const struct memory_view *v)
{
	bool light = samples__totals(v->samples)->light;

	NAME(c, "name", "query", v->names->text(v->names->ctx, row->label),
	     "of the query or activity");
	TEXT(c, "kind", NULL, summary_row__kind(row), "as in reports of queries");
	sum_columns(c, row ? &row->samples.self[TRACE_SAMPLE_FAULT] : NULL, "self", "self %", v);
	KNOWN(c, BYTES, "total_bytes", light ? NULL : "total", !light,
	      row->samples.total[TRACE_SAMPLE_FAULT].value,
	      "with what it called; null: unknown, with --memory-light");
}

static void item_columns(struct columns *c, const struct item_row *row, bool places,
			 const struct memory_view *v)
{
	const struct trace_place *at = row ? trace_texts__place(v->names, row->item) : NULL;
	const char *name = row && row->item != TRACE_NO_STRING
				   ? v->names->text(v->names->ctx, row->item)
				   : NULL;

	TEXT(c, "name", NULL, name, "path; null: what no item is around");
	SOME_TEXT(c, "file", NULL, at, v->names->text(v->names->ctx, at->file),
		  "where it begins; missing: unknown");
	SOME(c, COUNT, "line", NULL, at, at->line, "line there, from 1");
	sum_columns(c, row ? &row->sampled[TRACE_SAMPLE_FAULT] : NULL, "charged", "%", v);
	OWNED(c, NULL, places ? "at" : NULL, place_text(v->names, row->item), NULL);
	NAME(c, NULL, "item", name ?: REPORT_NO_ITEM, NULL);
}

/* The allocator touches memory for its callers, so the parts have what they are charged. */
static void part_columns(struct columns *c, const struct call_row *row, const struct memory_view *v)
{
	NAME(c, "name", "part of the compiler", v->tree->functions.parts[row->number],
	     "part of the compiler");
	sum_columns(c, row ? &row->charged : NULL, "charged", "%", v);
	NUMBER(c, BYTES, "self_bytes", NULL, row->self.value, "in its own functions");
}

static struct columns table_of(FILE *out, const struct memory_view *v)
{
	return (struct columns){.out = out, .width = v->width};
}

static int print_crates(FILE *out, const struct memory_rows *r, const struct memory_view *v)
{
	struct columns c = table_of(out, v);
	size_t n = shown(r->n_crates, v);

	EACH_ROW (&c, i, n)
		crate_columns(&c, ROW(&c, &r->crates[i]), v);
	functions_more(out, r->n_crates - n + r->crates_left_out, "crate", "crates");
	return c.err;
}

static int print_queries(FILE *out, const struct memory_rows *r, const struct memory_view *v)
{
	struct columns c = table_of(out, v);
	size_t n = shown(r->n_queries, v);

	if (!r->n_queries)
		return 0;
	fputc('\n', out);
	EACH_ROW (&c, i, n)
		query_columns(&c, ROW(&c, &r->queries[i]), v);
	functions_more(out, r->n_queries - n + r->queries_left_out, "query", "queries");
	return c.err;
}

static int print_items(FILE *out, const struct memory_rows *r, const struct memory_view *v)
{
	struct columns c = table_of(out, v);
	size_t n = shown(r->n_items, v);
	bool places = false;

	if (!r->n_items)
		return 0;
	for (size_t i = 0; i < n; i++)
		places |= trace_texts__place(v->names, r->items[i].item) != NULL;
	c.name_last = true;
	c.keep_of_name = PATH_KEPT;
	fputc('\n', out);
	EACH_ROW (&c, i, n)
		item_columns(&c, ROW(&c, &r->items[i]), places, v);
	functions_more(out, r->n_items - n + r->items_left_out, "item", "items");
	return c.err;
}

static int print_parts(FILE *out, const struct memory_view *v)
{
	const struct functions_view parts = {.tree = v->tree, .least = v->least};
	struct columns c = table_of(out, v);
	_functions_rows_ struct functions_rows r = {};
	size_t charged = 0;

	if (functions_rows__parts(&r, &parts))
		return -ENOMEM;
	while (charged < r.n && r.at[charged]->charged.n &&
	       r.at[charged]->charged.value >= v->least)
		charged++;
	if (!charged)
		return 0;
	fputc('\n', out);
	EACH_ROW (&c, i, shown(charged, v))
		part_columns(&c, ROW(&c, r.at[i]), v);
	functions_more(out, charged - shown(charged, v), "part", "parts");
	return c.err;
}

int memory_text(FILE *out, const struct memory_view *v)
{
	const struct samples_totals *t = samples__totals(v->samples);
	const struct sample_sum *sum = &t->of[TRACE_SAMPLE_FAULT], *unknown = &t->unknown_query;
	const struct sample_sum *none = &t->no_query[TRACE_SAMPLE_FAULT];
	_memory_rows_ struct memory_rows r = {};
	int err = memory_rows__init(&r, v);
	char count[FORMAT_MAX], bytes[FORMAT_MAX], percent[FORMAT_MAX];

	if (err)
		return err;
	fprintf(out, "%s made resident, by %s samples of page faults, %s %% in queries and passes",
		format_bytes(bytes, sum->value), format_count(count, sum->n),
		format_percent(percent, sum->value - none->value - unknown->value, sum->value));
	if (unknown->n)
		fprintf(out, ", %s %% unknown",
			format_percent(percent, unknown->value, sum->value));
	fputs("\n\n", out);
	err = print_crates(out, &r, v) ?: print_queries(out, &r, v)
		      ?: print_items(out, &r, v) ?: print_parts(out, v);
	if (err)
		return err;
	fputs("\ntouched for the first time; memory that was freed again is in it\n", out);
	if (t->light)
		fputs("recorded without stacks: the part is that of the innermost function, which "
		      "may be\n  the allocator, for its callers\n",
		      out);
	if (v->problem)
		fprintf(out, "incomplete: %s\n", v->problem);
	return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

int memory_json(FILE *out, const struct memory_view *v)
{
	const struct functions_view parts = {.tree = v->tree, .least = v->least};
	_functions_rows_ struct functions_rows by_part = {};
	_memory_rows_ struct memory_rows r = {};
	struct columns c = {.to = COLUMNS_JSON, .out = out, .err = memory_rows__init(&r, v)};

	columns__begin(&c, "qprof-memory/1", "qprof-memory/1");
	TEXT(&c, "problem", NULL, v->problem, "why the trace is not whole; null: it is");
	samples_columns(&c, samples__totals(v->samples));
	if (LIST(&c, "crates", true, "compiles"))
		EACH_ROW (&c, i, r.n_crates)
			crate_columns(&c, &r.crates[i], v);
	if (LIST(&c, "queries", true, "queries and activities"))
		EACH_ROW (&c, i, r.n_queries)
			query_columns(&c, &r.queries[i], v);
	if (LIST(&c, "items", v->items, "missing: no item is known"))
		EACH_ROW (&c, i, r.n_items)
			item_columns(&c, &r.items[i], false, v);
	c.err = c.err ?: functions_rows__parts(&by_part, &parts);
	if (LIST(&c, "parts", true, "of the compiler, by what they are charged"))
		EACH_ROW (&c, i, by_part.n)
			part_columns(&c, by_part.at[i], v);
	return columns__end(&c);
}
