// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/budget.h"

#include <errno.h>

#include "base/array.h"

static struct budget_row *row_of(struct budget *b, const struct trace_decision *d)
{
	uint64_t key = (uint64_t)d->kind << 32 | d->label;
	uint32_t i = u64_map__get(&b->row_of, key);

	if (i != U64_MAP_NONE)
		return &b->rows[i];
	if (array__reserve_one(&b->rows, b->n, &b->capacity, sizeof(*b->rows)) ||
	    u64_map__put(&b->row_of, key, b->n))
		return NULL;
	b->rows[b->n] = (struct budget_row){
		.label = d->label,
		.kind = d->kind,
		.since_ns = d->time_ns,
	};
	return &b->rows[b->n++];
}

/* Times of a trace are not to be trusted: they may go backwards. */
static void go_on(struct budget_row *row, uint64_t ns)
{
	if (ns <= row->since_ns)
		return;
	row->ns[row->watch] += ns - row->since_ns;
	row->since_ns = ns;
}

int budget__decision(struct budget *b, const struct trace_decision *d)
{
	struct budget_row *row = row_of(b, d);

	if (!row)
		return -ENOMEM;
	go_on(row, d->time_ns);
	row->watch = d->watch;
	row->last_ns = d->time_ns;
	row->decisions++;
	b->decisions++;
	b->ppm = d->budget_ppm;
	b->last_cost_ppm = d->cost_ppm;
	if (d->cost_ppm > b->most_cost_ppm)
		b->most_cost_ppm = d->cost_ppm;
	return 0;
}

uint64_t budget__watched_from(const struct budget *b, uint8_t kind)
{
	uint64_t from = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct budget_row *row = &b->rows[i];

		if (row->kind != kind)
			continue;
		if (row->watch != TRACE_WATCH_FULL)
			return UINT64_MAX;
		from = row->last_ns > from ? row->last_ns : from;
	}
	return from;
}

void budget__end(struct budget *b, uint64_t ns)
{
	for (uint32_t i = 0; i < b->n; i++)
		go_on(&b->rows[i], ns);
}

void budget__destroy(struct budget *b)
{
	free(b->rows);
	u64_map__destroy(&b->row_of);
	*b = (struct budget){0};
}
