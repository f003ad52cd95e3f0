// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/cost.h"

#include "base/part.h"

static const struct build_process *in_build(const struct model *m, uint32_t process)
{
	uint32_t n;
	const struct build_process *all = m->build ? build__processes(m->build, &n) : NULL;

	return all && process < n && build__totals(m->build)->off_cpu_known ? &all[process] : NULL;
}

/*
 * The kernel's figure, from the exit of a process. Of one that still runs, or had begun before the
 * recording did, the time that its threads spent on a CPU while they were recorded.
 */
static uint64_t cpu_ns(const struct model *m, uint32_t process)
{
	const struct trace_process *p = summary__process_at(m->summary, process);
	const struct build_process *b = in_build(m, process);

	return b && (p->attached_late || !p->cpu_ns) ? b->cpu_ns : p->cpu_ns;
}

static uint64_t hits_of(const struct model *m)
{
	uint64_t hits = m->has_losses ? m->losses.count[TRACE_COUNT_HITS] : 0;
	uint64_t least = 2 * summary__spans(m->summary);

	/* The kernel half reports hits when threads end, so a cut trace may lack them. */
	return hits < least && m->has_costs ? least : hits;
}

static void take_parts(struct cost *c, const struct model *m)
{
	const uint64_t *of = m->overhead.of;

	c->whole = m->has_overhead;
	c->ns[COST_PROBES] = of[TRACE_OVERHEAD_PROBES];
	c->ns[COST_BREAKPOINTS] = of[TRACE_OVERHEAD_BREAKPOINTS];
	c->ns[COST_SAMPLES] = of[TRACE_OVERHEAD_SAMPLES];
	c->ns[COST_NAMES] = of[TRACE_OVERHEAD_NAMES];
	c->ns[COST_OWN] = of[TRACE_OVERHEAD_OWN];
	c->set_up_ns = of[TRACE_OVERHEAD_SET_UP] < c->ns[COST_OWN] ? of[TRACE_OVERHEAD_SET_UP]
								   : c->ns[COST_OWN];
	c->breakpoints = of[TRACE_OVERHEAD_N_BREAKPOINTS];
	c->waited_ns = of[TRACE_OVERHEAD_WAITED];
	c->n_waited = of[TRACE_OVERHEAD_N_WAITED];
	if (!c->whole && m->has_costs)
		c->ns[COST_PROBES] =
			(uint64_t)((long double)c->hits * m->costs.ps[TRACE_COST_EMULATED] / 1000);
}

struct cost cost_of(const struct model *m)
{
	struct cost c = {.hits = hits_of(m), .budget_ppm = m->decisions.ppm};
	uint64_t all_ns = 0, in_compilers_ns;

	take_parts(&c, m);
	for (int i = 0; i < COST_PARTS; i++)
		c.added_ns += c.ns[i];
	for (uint32_t i = 0; i < summary__n_processes(m->summary); i++)
		all_ns += cpu_ns(m, i);
	in_compilers_ns = c.added_ns - c.ns[COST_OWN];
	c.compilers_ns = all_ns > in_compilers_ns ? all_ns - in_compilers_ns : 0;
	return c;
}

uint64_t cost__share_ppm(const struct cost *c)
{
	return part_of(c->added_ns, 1000000, c->compilers_ns);
}

uint64_t cost__fixed_ns(const struct cost *c)
{
	return c->ns[COST_BREAKPOINTS] + c->ns[COST_NAMES];
}

bool cost__fixed_exceeds_budget(const struct cost *c)
{
	return c->budget_ppm && c->compilers_ns &&
	       (long double)cost__fixed_ns(c) * 1000000 >
		       (long double)c->budget_ppm * c->compilers_ns;
}
