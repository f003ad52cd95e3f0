// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_cost.h"

#include "analyze/cost.h"
#include "base/part.h"

static void cut_to(uint64_t *ns, uint64_t part, uint64_t whole)
{
	if (part < whole)
		*ns = part_of(*ns, part, whole);
}

/* The cost that all compilers pay alike is divided by their number, the rest by hits of probes. */
static void take_part(struct compare_cost *cost, const struct model *m, const struct cost *c,
		      uint64_t recorded)
{
	static const enum compare_cost_part by_hits[] = {COMPARE_COST_PROBES, COMPARE_COST_OWN},
					    by_number[] = {COMPARE_COST_BREAKPOINTS,
							   COMPARE_COST_NAMES};
	/* Each interval has two. */
	uint64_t hits = 2 * summary__spans(m->summary), n = summary__n_processes(m->summary);

	for (int i = 0; i < 2; i++) {
		cut_to(&cost->ns[by_hits[i]], hits, c->hits);
		cut_to(&cost->ns[by_number[i]], n, recorded);
	}
	/* Which of them waited is unknown, so these may have. */
	cut_to(&cost->ns[COMPARE_COST_WAITED], n, cost->n_waited);
	if (n < cost->n_waited)
		cost->n_waited = n;
}

struct compare_cost compare_cost_of(const struct model *m, uint64_t recorded)
{
	struct cost c = cost_of(m);
	bool is_part = summary__n_processes(m->summary) < recorded;
	struct compare_cost cost = {
		.known = c.whole && !(is_part && c.ns[COST_SAMPLES]),
		.ns = {[COMPARE_COST_PROBES] = c.ns[COST_PROBES],
		       [COMPARE_COST_SAMPLES] = c.ns[COST_SAMPLES],
		       [COMPARE_COST_BREAKPOINTS] = c.ns[COST_BREAKPOINTS],
		       [COMPARE_COST_NAMES] = c.ns[COST_NAMES],
		       [COMPARE_COST_WAITED] = c.waited_ns,
		       [COMPARE_COST_OWN] = c.ns[COST_OWN]},
		.in_cpu = 1 << COMPARE_COST_PROBES | 1 << COMPARE_COST_SAMPLES |
			  1 << COMPARE_COST_NAMES,
		.n_waited = c.n_waited,
	};

	if (!cost.known)
		return (struct compare_cost){};
	if (!build__totals(m->build)->off_cpu_known)
		cost.in_cpu |= 1 << COMPARE_COST_BREAKPOINTS;
	if (is_part)
		take_part(&cost, m, &c, recorded);
	return cost;
}
