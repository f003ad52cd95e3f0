// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/choice.h"

#include <errno.h>
#include <stdlib.h>

static bool passes(const struct choice *c, enum filter_class class, const char *label)
{
	return !c->filter || filter__passes(c->filter, class, label);
}

static bool may_pass(const struct choice *c, enum filter_class class)
{
	return !c->filter || filter__may_pass(c->filter, class);
}

static bool query_passes(const struct choice *c, enum filter_class class, uint32_t query)
{
	if (!c->filter)
		return true;
	return filter__passes(c->filter, class,
			      query == PLAN_NONE ? NULL : c->plan->queries[query].name);
}

static enum filter_class class_of(const struct plan_guard *g)
{
	switch (g->kind) {
	case WIRE_KIND_BLOCKED:
		return FILTER_BLOCKED;
	case WIRE_KIND_LOAD:
		return FILTER_LOAD;
	case WIRE_KIND_HASHING:
		return FILTER_HASHING;
	default:
		return g->label ? FILTER_ACTIVITY : FILTER_TOLD;
	}
}

static bool wants_guard_site(const struct choice *c, const struct plan_site *site)
{
	const struct plan_guard *g = &c->plan->guards[site->guard];
	enum filter_class class = class_of(g);

	if (class == FILTER_ACTIVITY)
		return passes(c, class, g->label);
	/* All or none: their labels are known in the kernel half only. */
	if (class == FILTER_HASHING)
		return passes(c, class, NULL);
	if (class == FILTER_TOLD || site->role == WIRE_ROLE_GUARD_QUERY ||
	    site->role == WIRE_ROLE_GUARD_CALLED)
		return may_pass(c, class);
	return query_passes(c, class, site->query);
}

/* The intervals of hashing have the label of the query that they run in. */
static bool wants_queries(const struct choice *c)
{
	if (passes(c, FILTER_HASHING, NULL))
		return true;
	for (uint32_t i = 0; i < c->plan->n_queries; i++)
		if (query_passes(c, FILTER_QUERY, i))
			return true;
	return false;
}

int choice__init(struct choice *c, const struct plan *plan, const struct filter *filter,
		 uint8_t lib, bool callers)
{
	*c = (struct choice){.plan = plan, .filter = filter, .lib = lib, .callers = callers};
	c->guards = calloc(plan->n_guards + 1UL, sizeof(*c->guards)); /* calloc(0) may be NULL */
	c->first_step = calloc(plan->n_guards + 1UL, sizeof(*c->first_step));
	if (!c->guards || !c->first_step) {
		choice__clear(c);
		return -ENOMEM;
	}
	for (uint32_t i = plan->n_steps; i--;)
		c->first_step[plan->steps[i].guard] = i;
	c->queries = wants_queries(c);
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *site = &plan->sites[i];

		if (site->role != WIRE_ROLE_GUARD && site->role != WIRE_ROLE_GUARD_QUERY &&
		    site->role != WIRE_ROLE_GUARD_CALLED)
			continue;
		c->guards[site->guard] |= wants_guard_site(c, site);
	}
	return 0;
}

/* Whether one of the guards that `site` may be the end of is watched. */
static bool ends_one(const struct choice *c, const struct plan_site *site)
{
	const struct plan_guard *g = &c->plan->guards[site->guard];

	for (uint32_t i = 0; i < c->plan->n_guards; i++) {
		const struct plan_guard *other = &c->plan->guards[i];

		if (other->scope == g->scope && other->number == g->number && c->guards[i])
			return true;
	}
	return false;
}

bool choice__wants(const struct choice *c, const struct plan_site *site)
{
	switch (site->role) {
	case WIRE_ROLE_CAUGHT:
		return true;
	case WIRE_ROLE_REQUEST:
		return c->queries && c->callers;
	case WIRE_ROLE_GUARD:
	case WIRE_ROLE_GUARD_QUERY:
	case WIRE_ROLE_GUARD_CALLED:
		return wants_guard_site(c, site);
	case WIRE_ROLE_GUARD_END:
		return ends_one(c, site);
	case WIRE_ROLE_TIMER:
	case WIRE_ROLE_TIMER_END:
		return may_pass(c, FILTER_TIMER);
	default:
		return c->queries;
	}
}

uint32_t choice__sites(const struct choice *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->plan->n_sites; i++)
		n += choice__wants(c, &c->plan->sites[i]);
	return n;
}

static uint64_t identify_cookie(const struct choice *c, const struct plan_site *site)
{
	uint32_t number = (uint32_t)(site - c->plan->sites);
	uint32_t slot = site->slot < 0 ? WIRE_NO_GROUP : (uint32_t)site->slot / 8;

	return wire_cookie(site->role, c->lib, number, slot, site->reg,
			   site->vtable_offset - 8 * WIRE_SP_BIAS);
}

static uint64_t request_cookie(const struct choice *c, const struct plan_site *site)
{
	/* At a start, what was pushed on the return address is the way to the wrapper's sp. */
	int32_t slot = site->role == WIRE_ROLE_WRAPPER ? site->sp_delta : site->slot;

	return wire_request_cookie(site->role, c->lib, site->query, (uint32_t)site->addr,
				   (uint32_t)slot / 8);
}

static uint64_t guard_cookie(const struct choice *c, const struct plan_site *site)
{
	const struct plan_guard *g = &c->plan->guards[site->guard];
	uint32_t query = site->query == PLAN_NONE ? WIRE_NO_QUERY : site->query;
	uint32_t label = WIRE_NO_LABEL;

	if (g->label_of_query && site->query == PLAN_NONE)
		label = WIRE_LABEL_OF_QUERY;
	else if (class_of(g) == FILTER_TOLD && g->label_slot >= 0)
		label = (uint32_t)g->label_slot / 8;
	return wire_guard_cookie(site->role, c->lib,
				 g->kind == WIRE_KIND_ACTIVITY ? site->guard : query, g->scope,
				 g->number, label, g->kind);
}

static uint64_t called_cookie(const struct choice *c, const struct plan_site *site)
{
	const struct plan_guard *g = &c->plan->guards[site->guard];

	return wire_guard_cookie(site->role, c->lib, (uint32_t)(site - c->plan->sites), g->scope,
				 g->number, (uint32_t)site->slot / 8, g->kind);
}

uint64_t choice__cookie(const struct choice *c, const struct plan_site *site)
{
	uint32_t query = site->query == PLAN_NONE ? WIRE_NO_QUERY : site->query;
	uint32_t group =
		site->body == PLAN_NONE ? WIRE_NO_GROUP : c->plan->bodies[site->body].group;
	uint32_t reg = site->reg;

	switch (site->role) {
	case WIRE_ROLE_IDENTIFY:
	case WIRE_ROLE_GUARD_QUERY:
		return identify_cookie(c, site);
	case WIRE_ROLE_GUARD_CALLED:
		return called_cookie(c, site);
	case WIRE_ROLE_REQUEST:
		return request_cookie(c, site);
	case WIRE_ROLE_GUARD:
	case WIRE_ROLE_GUARD_END:
		return guard_cookie(c, site);
	case WIRE_ROLE_END:
		query = site->slot < 0 ? WIRE_NO_SLOT : (uint32_t)site->slot / 4;
		break;
	case WIRE_ROLE_WRAPPER:
		if (c->callers)
			return request_cookie(c, site);
		/* fall through */
	case WIRE_ROLE_START:
	case WIRE_ROLE_START_BODY:
		if (!query_passes(c, FILTER_QUERY, site->query))
			reg = WIRE_HIDDEN;
		break;
	}
	return wire_cookie(site->role, c->lib, query, group, reg, site->sp_delta);
}

uint64_t choice__hit_cookie(const struct choice *c, const struct plan_hit *hit)
{
	return wire_cookie(WIRE_ROLE_HIT, c->lib, hit->disp / 4, hit->base, hit->reg, 0);
}

static void describe_query(const struct choice *c, const struct plan_site *site, uint32_t query,
			   struct wire_provider *value)
{
	bool own_start = c->plan->queries[query].start_role != WIRE_ROLE_WRAPPER;

	value->query = own_start ? WIRE_NO_QUERY : (uint16_t)query;
	value->group = (uint16_t)c->plan->bodies[site->body].group;
	value->kind = WIRE_KIND_QUERY;
	value->hidden = !query_passes(c, FILTER_QUERY, query);
}

static void describe_guard(const struct choice *c, const struct plan_site *site, uint32_t query,
			   struct wire_provider *value)
{
	const struct plan_guard *g = &c->plan->guards[site->guard];

	value->query = (uint16_t)query;
	value->group = (uint16_t)g->scope;
	value->number = g->number;
	value->kind = g->kind;
	value->hidden = !query_passes(c, class_of(g), query);
}

static bool serves(const struct choice *c, const struct plan_site *site, const struct plan_query *q)
{
	const struct plan *plan = c->plan;

	if (site->role != WIRE_ROLE_GUARD_CALLED)
		return q->body_incr == site->body || q->body_non_incr == site->body;
	for (uint32_t i = c->first_step[site->guard];
	     i < plan->n_steps && plan->steps[i].guard == site->guard; i++)
		if (plan->steps[i].body != PLAN_NONE && plan->steps[i].body == q->body_incr)
			return true;
	return false;
}

bool choice__provider(const struct choice *c, const struct plan_site *site, uint32_t query,
		      struct wire_provider_key *key, struct wire_provider *value)
{
	const struct plan_query *q = &c->plan->queries[query];

	if (!serves(c, site, q))
		return false;
	*key = (struct wire_provider_key){
		.distance = (uint32_t)(q->provider - site->addr),
		.site = (uint16_t)(site - c->plan->sites),
		.lib = c->lib,
	};
	*value = (struct wire_provider){0};
	if (site->role == WIRE_ROLE_IDENTIFY)
		describe_query(c, site, query, value);
	else
		describe_guard(c, site, query, value);
	return true;
}

bool choice__step(const struct choice *c, const struct plan_site *site, uint32_t i,
		  struct wire_provider_key *key, struct wire_step *value)
{
	const struct plan_step *step = &c->plan->steps[i];

	if (step->guard != site->guard)
		return false;
	*key = (struct wire_provider_key){
		.distance = (uint32_t)(step->addr - site->addr),
		.site = (uint16_t)(site - c->plan->sites),
		.lib = c->lib,
	};
	*value = (struct wire_step){
		.slot = step->slot < 0 ? 0 : (uint16_t)(step->slot / 8),
		.vtable_offset = (uint16_t)(step->vtable_offset / 8),
		.reg = step->reg,
		.next = step->body == PLAN_NONE,
	};
	return true;
}

bool choice__wrappers(const struct choice *c, uint32_t query, struct wire_wrappers *out)
{
	bool any = false;
	int n = 0;

	*out = (struct wire_wrappers){
		.group = WIRE_NO_GROUP,
		.hidden = !query_passes(c, FILTER_QUERY, query),
	};
	for (uint32_t i = 0; i < c->plan->n_sites; i++) {
		const struct plan_site *site = &c->plan->sites[i];

		if (site->query != query)
			continue;
		if (site->role == WIRE_ROLE_WRAPPER)
			out->group = (uint16_t)c->plan->bodies[site->body].group;
		else if (site->role == WIRE_ROLE_REQUEST && n < 2)
			out->reach[n++] = (uint32_t)(site->slot + 8 - site->sp_delta);
		else
			continue;
		any = true;
	}
	return any;
}

void choice__clear(struct choice *c)
{
	free(c->guards);
	free(c->first_step);
	*c = (struct choice){0};
}
