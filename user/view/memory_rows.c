// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "view/memory.h"

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
