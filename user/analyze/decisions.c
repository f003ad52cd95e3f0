// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/decisions.h"

#include <errno.h>

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
	struct decided *row =
		table__get(&all->rows, (uint64_t)d->kind << 32 | d->label, .label = d->label,
			   .kind = d->kind, .since_ns = d->time_ns);

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

	for (uint32_t i = 0; i < all->rows.n; i++) {
		const struct decided *row = &all->rows.at[i];

		if (row->kind != kind)
			continue;
		if (row->watch != TRACE_WATCH_FULL)
			return UINT64_MAX;
		from = row->last_ns > from ? row->last_ns : from;
	}
	return from;
}

bool decisions__is_off(const struct decisions *all, uint32_t label)
{
	/* A look-up changes only what the table remembers of the last one. */
	const struct decided *row = table__find(&((struct decisions *)all)->rows,
						(uint64_t)TRACE_KIND_QUERY << 32 | label);

	return row && row->watch == TRACE_WATCH_OFF;
}

bool decisions__any_off(const struct decisions *all)
{
	for (uint32_t i = 0; i < all->rows.n; i++)
		if (all->rows.at[i].kind == TRACE_KIND_QUERY &&
		    all->rows.at[i].watch == TRACE_WATCH_OFF)
			return true;
	return false;
}

uint32_t decisions__queries(const struct decisions *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->rows.n; i++)
		n += all->rows.at[i].kind == TRACE_KIND_QUERY;
	return n;
}

void decisions__end(struct decisions *all, uint64_t ns)
{
	for (uint32_t i = 0; i < all->rows.n; i++)
		go_on(&all->rows.at[i], ns);
}

void decisions__destroy(struct decisions *all)
{
	table__destroy(&all->rows);
	*all = (struct decisions){0};
}
