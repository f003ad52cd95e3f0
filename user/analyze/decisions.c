// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/decisions.h"

#include <errno.h>

int decisions__add(struct decisions *all, const struct trace_decision *d)
{
	struct decided *row = table__get(&all->rows, (uint64_t)d->kind << 32 | d->label,
					 .label = d->label, .kind = d->kind);

	if (!row)
		return -ENOMEM;
	row->decisions++;
	all->total++;
	all->ppm = d->budget_ppm;
	all->last_cost_ppm = d->cost_ppm;
	return 0;
}

bool decisions__is_off(const struct decisions *all, uint32_t label)
{
	/* A look-up changes only what the table remembers of the last one. */
	return table__find(&((struct decisions *)all)->rows,
			   (uint64_t)TRACE_KIND_QUERY << 32 | label);
}

uint32_t decisions__queries(const struct decisions *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->rows.n; i++)
		n += all->rows.at[i].kind == TRACE_KIND_QUERY;
	return n;
}

void decisions__destroy(struct decisions *all)
{
	table__destroy(&all->rows);
	*all = (struct decisions){0};
}
