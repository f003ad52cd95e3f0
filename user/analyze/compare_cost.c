// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_cost.h"

#include "analyze/cost.h"

/* The part of the hits that these intervals show, each with two. */
static uint64_t probes_of_part(const struct model *m, const struct cost *c)
{
	uint64_t shown = 2 * summary__spans(m->summary);

	if (!c->hits || shown >= c->hits)
		return c->ns[COST_PROBES];
	return (uint64_t)((long double)c->ns[COST_PROBES] * shown / c->hits);
}

struct compare_cost compare_cost_of(const struct model *m, bool is_part)
{
	struct cost c = cost_of(m);
	struct compare_cost cost = {.known = c.whole};

	if (!c.whole)
		return cost;
	cost.ns[COMPARE_COST_PROBES] = is_part ? probes_of_part(m, &c) : c.ns[COST_PROBES];
	if (is_part)
		return cost;
	cost.ns[COMPARE_COST_SAMPLES] = c.ns[COST_SAMPLES];
	if (!build__totals(m->build)->off_cpu_known)
		cost.ns[COMPARE_COST_BREAKPOINTS] = c.ns[COST_BREAKPOINTS];
	return cost;
}
