// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/decisions.h"

#include <errno.h>

#include "base/array.h"

static struct decided *row_of(struct decisions *all, const struct trace_decision *d)
{
	uint32_t i = u64_map__get(&all->row_of, d->label);

	if (i != U64_MAP_NONE)
		return &all->rows[i];
	if (array__reserve_one(&all->rows, all->n, &all->capacity, sizeof(*all->rows)) ||
	    u64_map__put(&all->row_of, d->label, all->n))
		return NULL;
	all->rows[all->n] = (struct decided){.label = d->label, .since_ns = d->time_ns};
	return &all->rows[all->n++];
}

/* Times of a trace are not to be trusted: they may go backwards. */
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
	row->decisions++;
	all->total++;
	all->ppm = d->budget_ppm;
	all->last_cost_ppm = d->cost_ppm;
	if (d->cost_ppm > all->most_cost_ppm)
		all->most_cost_ppm = d->cost_ppm;
	return 0;
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
