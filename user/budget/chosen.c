// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/chosen.h"

#include <errno.h>
#include <string.h>

#include "budget/choice.h"
#include "budget/guard_groups.h"
#include "budget/query_sets.h"
#include "budget/usual.h"

/* A group of guards that was never met is tried again in one recording out of so many. */
#define TURNS 8
/* Compiles differ, so this part of the budget is planned for. */
#define PLANNED 0.8
/* A query that was never executed may be, in another crate: worth so much of one that is. */
#define WORTH_OF_NEVER 0.05

struct choosing {
	const struct chosen_input *in;
	struct chosen *chosen;
	double hit;   /* CPU time of a hit, in seconds */
	double usual; /* what a usual rate is multiplied by */
	double site;  /* of the breakpoint of a site, as a share of CPU time */
	uint32_t n_sets;
	uint32_t *set_of;	      /* by query */
	uint32_t *set_of_body;	      /* or PLAN_NONE */
	struct choice_query *queries; /* as in the plan */
	double *sets;		      /* the costs of a set's ends, without hits */
	bool *identifies;	      /* by set: sites name wrapped queries of incremental bodies */
	bool *starts, *ends, *whole;  /* by query; by set; by set */
	double others;		      /* the cost of what is not chosen by choice.h */
};

static void choosing__clear(struct choosing *c)
{
	free(c->set_of);
	free(c->set_of_body);
	free(c->queries);
	free(c->sets);
	free(c->identifies);
	free(c->starts);
	free(c->ends);
	free(c->whole);
}

static int choosing__init(struct choosing *c, const struct chosen_input *in, struct chosen *chosen)
{
	const struct plan *plan = in->plan;
	int n_sets;

	c->in = in;
	c->chosen = chosen;
	c->hit = (double)in->costs.hit_ps / 1e12;
	c->site = (double)costs_of_install(1) / 1e9 * rates__compilers(in->known);
	c->usual = rates__share_of_usual(in->known);
	c->set_of = calloc(plan->n_queries + 1UL, sizeof(*c->set_of));
	c->set_of_body = calloc(plan->n_bodies + 1UL, sizeof(*c->set_of_body));
	c->queries = calloc(plan->n_queries + 1UL, sizeof(*c->queries));
	c->starts = calloc(plan->n_queries + 1UL, sizeof(*c->starts));
	if (!c->set_of || !c->set_of_body || !c->queries || !c->starts)
		return -ENOMEM;
	n_sets = query_sets_find(plan, c->set_of);
	if (n_sets < 0)
		return n_sets;
	c->n_sets = (uint32_t)n_sets;
	c->sets = calloc(c->n_sets + 1UL, sizeof(*c->sets));
	c->identifies = calloc(c->n_sets + 1UL, sizeof(*c->identifies));
	c->ends = calloc(c->n_sets + 1UL, sizeof(*c->ends));
	c->whole = calloc(c->n_sets + 1UL, sizeof(*c->whole));
	if (!c->sets || !c->identifies || !c->ends || !c->whole)
		return -ENOMEM;
	memset(c->set_of_body, 0xff, plan->n_bodies * sizeof(*c->set_of_body));
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		if (q->body_incr != PLAN_NONE)
			c->set_of_body[q->body_incr] = c->set_of[i];
		if (q->body_non_incr != PLAN_NONE)
			c->set_of_body[q->body_non_incr] = c->set_of[i];
	}
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (plan->bodies[i].outlined)
			c->set_of_body[plan__outlined(plan, i)] = c->set_of_body[i];
	return 0;
}

/* ---- Sites ----------------------------------------------------------------------------------- */

enum site_of {
	OF_ALL,	    /* always there */
	OF_QUERY,   /* goes with the starts of a query */
	OF_SET,	    /* goes with the ends of a set */
	OF_WRAPPED, /* goes with the wrapped queries of a set */
	OF_GROUP,   /* goes with a group of guards */
};

static enum site_of site_of(const struct choosing *c, const struct plan_site *site, uint32_t *of)
{
	switch (site->role) {
	case WIRE_ROLE_START:
	case WIRE_ROLE_START_BODY:
	case WIRE_ROLE_WRAPPER:
	case WIRE_ROLE_REQUEST:
		*of = site->query;
		return site->query == PLAN_NONE ? OF_ALL : OF_QUERY;
	case WIRE_ROLE_END:
	case WIRE_ROLE_IDENTIFY:
		*of = site->body == PLAN_NONE ? PLAN_NONE : c->set_of_body[site->body];
		if (*of == PLAN_NONE)
			return OF_ALL;
		return site->role == WIRE_ROLE_END ? OF_SET : OF_WRAPPED;
	case WIRE_ROLE_GUARD:
	case WIRE_ROLE_GUARD_QUERY:
	case WIRE_ROLE_GUARD_CALLED:
	case WIRE_ROLE_GUARD_END:
		*of = c->chosen->group_of[site->guard];
		return OF_GROUP;
	default:
		return OF_ALL;
	}
}

/* The cost of breakpoints, whether they are hit or not. */
static void charge_site(struct choosing *c, const struct plan_site *site)
{
	uint32_t of = PLAN_NONE;

	switch (site_of(c, site, &of)) {
	case OF_QUERY:
		c->queries[of].starts += c->site;
		c->chosen->has_starts[of] |= site->role != WIRE_ROLE_REQUEST;
		return;
	case OF_SET:
		c->sets[of] += c->site;
		return;
	case OF_WRAPPED:
		c->sets[of] += c->site;
		c->identifies[of] = true;
		return;
	case OF_GROUP:
		/* Compilers that do not need a part have no breakpoints for it. */
		if (c->chosen->groups[of] &&
		    (plan_guard__part(&c->in->plan->guards[site->guard]) == PLAN_PART_ALWAYS ||
		     rates__of_group(c->in->known, of)))
			c->others += c->site;
		return;
	case OF_ALL:
		c->others += c->site;
	}
}

static bool is_chosen(const struct choosing *c, const struct plan_site *site)
{
	uint32_t of = PLAN_NONE;

	switch (site_of(c, site, &of)) {
	case OF_QUERY:
		return c->starts[of];
	case OF_SET:
		return c->ends[of];
	case OF_WRAPPED:
		return c->whole[of];
	case OF_GROUP:
		return c->chosen->groups[of];
	case OF_ALL:
		return true;
	}
	return true;
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static bool is_always_probed(const struct plan_guard *guard)
{
	return plan_guard__part(guard) == PLAN_PART_INCREMENTAL ||
	       (guard->kind == WIRE_KIND_ACTIVITY && !guard->label);
}

static bool is_usual(const struct plan_guard *guard)
{
	return guard->kind == WIRE_KIND_ACTIVITY && usual_has_activity(guard->label);
}

/* Whether a group is worth its breakpoints because of one of its guards. */
static bool is_worth_it(const struct chosen_input *in, const struct plan_guard *guard,
			uint32_t group)
{
	if (is_always_probed(guard) || (group + in->known->turn) % TURNS == 0)
		return true;
	if (rates__is_empty(in->known))
		return is_usual(guard);
	return !rates__never(in->known, group);
}

static void choose_groups(struct choosing *c)
{
	const struct chosen_input *in = c->in;
	bool governed = in->budget_ppm && in->costs.hit_ps && !in->only_queries;

	for (uint32_t i = 0; i < in->plan->n_guards; i++) {
		uint32_t group = c->chosen->group_of[i];

		c->chosen->groups[group] |=
			!governed || is_worth_it(in, &in->plan->guards[i], group);
	}
	for (uint32_t i = 0; i < c->chosen->n_groups; i++)
		if (c->chosen->groups[i])
			c->others += 2 * c->hit * rates__of_group(in->known, i);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static double worth_of(const struct choosing *c, uint32_t query, double rate)
{
	double per_compiler = rate / rates__compilers(c->in->known) + WORTH_OF_NEVER;

	if (!c->in->queries[query] || !c->chosen->has_starts[query])
		return 0;
	return per_compiler < 1 ? per_compiler : 1;
}

static void charge_query(struct choosing *c, uint32_t i)
{
	const struct plan_query *q = &c->in->plan->queries[i];
	double rate = rates__of(c->in->known, i, usual_rate(q->name) * c->usual);
	struct choice_query *to = &c->queries[i];

	to->set = c->set_of[i];
	to->wrapped = q->start_role == WIRE_ROLE_WRAPPER || q->number;
	c->chosen->has_starts[i] |= to->wrapped && c->identifies[to->set];
	to->worth = worth_of(c, i, rate);
	to->ends = rate * c->hit;
	if (c->chosen->has_starts[i])
		to->starts += rate * c->hit;
}

static int choose_queries(struct choosing *c)
{
	const struct chosen_input *in = c->in;
	struct choice choice = {
		.queries = c->queries,
		.n_queries = in->plan->n_queries,
		.sets = c->sets,
		.n_sets = c->n_sets,
		.room = (double)in->budget_ppm / 1e6 * PLANNED - (double)in->sampled_ppm / 1e6 -
			c->others,
		.starts = c->starts,
		.ends = c->ends,
	};
	int err;

	if (!in->budget_ppm || !in->costs.hit_ps)
		choice.room = 1e9;
	for (uint32_t i = 0; i < in->plan->n_queries; i++)
		charge_query(c, i);
	err = choice__make(&choice);
	c->chosen->cost_ppm = in->sampled_ppm + (uint64_t)((choice.cost + c->others) * 1e6);
	return err;
}

static void find_whole(struct choosing *c)
{
	for (uint32_t i = 0; i < c->n_sets; i++)
		c->whole[i] = c->ends[i];
	for (uint32_t i = 0; i < c->in->plan->n_queries; i++)
		c->whole[c->set_of[i]] &= c->starts[i];
}

static void fill(struct choosing *c)
{
	const struct plan *plan = c->in->plan;

	find_whole(c);
	for (uint32_t i = 0; i < plan->n_queries; i++)
		c->chosen->queries[i] = c->starts[i] && c->ends[c->set_of[i]];
	for (uint32_t i = 0; i < plan->n_sites; i++)
		c->chosen->sites[i] = c->in->sites[i] && is_chosen(c, &plan->sites[i]);
}

static int allocate(struct chosen *c, const struct plan *plan)
{
	c->sites = calloc(plan->n_sites + 1UL, sizeof(*c->sites));
	c->queries = calloc(plan->n_queries + 1UL, sizeof(*c->queries));
	c->has_starts = calloc(plan->n_queries + 1UL, sizeof(*c->has_starts));
	c->group_of = calloc(plan->n_guards + 1UL, sizeof(*c->group_of));
	if (!c->sites || !c->queries || !c->has_starts || !c->group_of)
		return -ENOMEM;
	c->n_groups = guard_groups_find(plan, c->group_of);
	c->groups = calloc(c->n_groups + 1UL, sizeof(*c->groups));
	return c->groups ? 0 : -ENOMEM;
}

int chosen__new(const struct chosen_input *in, struct chosen **out)
{
	__cleanup(choosing__clear) struct choosing c = {};
	_chosen_ struct chosen *chosen = calloc(1, sizeof(*chosen));
	int err = chosen ? allocate(chosen, in->plan) : -ENOMEM;

	err = err ?: choosing__init(&c, in, chosen);
	if (err)
		return err;
	choose_groups(&c);
	for (uint32_t i = 0; i < in->plan->n_sites; i++)
		if (in->sites[i])
			charge_site(&c, &in->plan->sites[i]);
	err = choose_queries(&c);
	if (err)
		return err;
	fill(&c);
	*out = take_ptr(chosen);
	return 0;
}

void chosen__free(struct chosen *c)
{
	if (!c)
		return;
	free(c->sites);
	free(c->queries);
	free(c->has_starts);
	free(c->groups);
	free(c->group_of);
	free(c);
}
