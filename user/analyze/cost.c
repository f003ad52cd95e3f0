// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/cost.h"

#include "base/part.h"

/* With what recording added. */
static bool sum_up(const struct build *b, const struct samples *samples, uint64_t *ns)
{
	uint32_t n;
	const struct build_process *all = build__processes(b, &n);
	bool known = false;
	uint64_t one;

	*ns = 0;
	for (uint32_t i = 0; i < n; i++) {
		known |= build__cpu_ns(b, samples, &all[i], &one);
		*ns += one;
	}
	return known;
}

static void cut_to(uint64_t *ns, uint64_t part, uint64_t whole)
{
	if (part < whole)
		*ns = part_of(*ns, part, whole);
}

static void take_share(struct cost *c, const struct model *m, uint64_t recorded)
{
	/* Each interval has two. */
	uint64_t hits = 2 * summary__spans(m->summary), n = summary__n_processes(m->summary);

	c->is_part = true;
	if (!c->whole || c->ns[COST_SAMPLES]) {
		*c = (struct cost){.is_part = true, .hits = hits};
		return;
	}
	cut_to(&c->ns[COST_PROBES], hits, c->hits);
	cut_to(&c->ns[COST_OWN], hits, c->hits);
	cut_to(&c->ns[COST_BREAKPOINTS], n, recorded);
	cut_to(&c->ns[COST_NAMES], n, recorded);
	/* Which of them waited is unknown, so these may have. */
	cut_to(&c->waited_ns, n, c->n_waited);
	if (n < c->n_waited)
		c->n_waited = n;
}

struct cost cost_of(const struct model *m, uint64_t recorded)
{
	const uint64_t *of = m->overhead.of;
	uint64_t least = 2 * summary__spans(m->summary);
	struct cost c = {
		.hits = m->has_losses ? m->losses.count[TRACE_COUNT_HITS] : 0,
		.whole = m->has_overhead,
		.ns[COST_PROBES] = of[TRACE_OVERHEAD_PROBES],
		.ns[COST_BREAKPOINTS] = of[TRACE_OVERHEAD_BREAKPOINTS],
		.ns[COST_SAMPLES] = of[TRACE_OVERHEAD_SAMPLES],
		.ns[COST_NAMES] = of[TRACE_OVERHEAD_NAMES],
		.ns[COST_OWN] = of[TRACE_OVERHEAD_OWN],
		.read_ns = of[TRACE_OVERHEAD_READ],
		.breakpoints = of[TRACE_OVERHEAD_N_BREAKPOINTS],
		.waited_ns = of[TRACE_OVERHEAD_WAITED],
		.n_waited = of[TRACE_OVERHEAD_N_WAITED],
		.n_beside = of[TRACE_OVERHEAD_N_BESIDE],
		.unseen_ns = of[TRACE_OVERHEAD_UNSEEN],
	};

	c.set_up_ns = of[TRACE_OVERHEAD_SET_UP] < c.ns[COST_OWN] ? of[TRACE_OVERHEAD_SET_UP]
								 : c.ns[COST_OWN];
	/* The kernel half reports hits when threads end, so a cut trace may lack them. */
	if (c.hits < least && m->has_costs)
		c.hits = least;
	if (!c.whole && m->has_costs)
		c.ns[COST_PROBES] =
			(uint64_t)((long double)c.hits * m->costs.ps[TRACE_COST_EMULATED] / 1000);
	if (summary__n_processes(m->summary) < recorded)
		take_share(&c, m, recorded);
	for (int i = 0; i < COST_PARTS; i++)
		c.added_ns += c.ns[i];
	if (c.whole)
		c.in_compilers_ns = c.added_ns - c.ns[COST_OWN];
	if (m->build)
		sum_up(m->build, m->samples, &c.spent_ns);
	else
		for (uint32_t i = 0; i < summary__n_processes(m->summary); i++)
			c.spent_ns += summary__process_at(m->summary, i)->cpu_ns;
	c.compilers_ns = less(c.spent_ns, c.in_compilers_ns);
	return c;
}

uint64_t cost__share_ppm(const struct cost *c)
{
	return part_of(c->added_ns, 1000000, c->compilers_ns);
}

uint64_t cost__of_compiler(const struct cost *c, enum cost_part part, const struct build *b,
			   const struct samples *samples, const struct build_process *p)
{
	uint64_t cpu_ns;
	uint32_t n;

	if (part == COST_PROBES)
		return part_of(c->ns[part], p->intervals, build__totals(b)->intervals);
	if (part == COST_SAMPLES) {
		build__cpu_ns(b, samples, p, &cpu_ns);
		return part_of(c->ns[part], cpu_ns, c->spent_ns);
	}
	build__processes(b, &n);
	return part_of(c->ns[part], 1, n);
}

bool cost__cpu_ns(const struct cost *c, const struct build *b, const struct samples *samples,
		  const struct build_process *p, uint64_t *ns)
{
	bool known = p ? build__cpu_ns(b, samples, p, ns) : sum_up(b, samples, ns);
	uint64_t added_ns = 0;

	if (!c || !c->whole)
		return known;
	for (int part = 0; part < COST_OWN && p; part++)
		added_ns += cost__of_compiler(c, part, b, samples, p);
	*ns = less(*ns, p ? added_ns : c->in_compilers_ns);
	return known;
}
