// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/decisions.h"

#include <errno.h>

#include "base/array.h"

static struct decided *row_of(struct decisions *all, const struct trace_decision *d)
{
	uint64_t key = (uint64_t)d->kind << 32 | d->label;
	uint32_t i = u64_map__get(&all->row_of, key);

	if (i != U64_MAP_NONE)
		return &all->rows[i];
	if (array__reserve_one(&all->rows, all->n, &all->capacity, sizeof(*all->rows)) ||
	    u64_map__put(&all->row_of, key, all->n))
		return NULL;
	all->rows[all->n] = (struct decided){
		.label = d->label,
		.kind = d->kind,
		.since_ns = d->time_ns,
	};
	return &all->rows[all->n++];
}

/* Times in a trace are not trusted: they may go backwards. */
static void go_on(struct decided *row, uint64_t ns)
{
	if (ns <= row->since_ns)
		return;
	row->ns[row->watch] += ns - row->since_ns;
	row->since_ns = ns;
}

int decisions__add(struct decisions *all, const struct trace_decision *d)
{
	struct decided *row = row_of(all, d);

	if (!row)
		return -ENOMEM;
	go_on(row, d->time_ns);
	row->watch = d->watch;
	row->last_ns = d->time_ns;
	row->decisions++;
	all->total++;
	all->ppm = d->budget_ppm;
	all->last_cost_ppm = d->cost_ppm;
	if (d->cost_ppm > all->most_cost_ppm)
		all->most_cost_ppm = d->cost_ppm;
	return 0;
}

uint64_t decisions__watched_from(const struct decisions *all, uint8_t kind)
{
	uint64_t from = 0;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct decided *row = &all->rows[i];

		if (row->kind != kind)
			continue;
		if (row->watch != TRACE_WATCH_FULL)
			return UINT64_MAX;
		from = row->last_ns > from ? row->last_ns : from;
	}
	return from;
}

void decisions__end(struct decisions *all, uint64_t ns)
{
	for (uint32_t i = 0; i < all->n; i++)
		go_on(&all->rows[i], ns);
}

void decisions__destroy(struct decisions *all)
{
	free(all->rows);
	u64_map__destroy(&all->row_of);
	*all = (struct decisions){0};
}
