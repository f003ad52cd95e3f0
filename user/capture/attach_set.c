// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/attach_set.h"

#include <errno.h>
#include <stdlib.h>

static bool query_passes(const struct attach_set *set, enum filter_class class, uint32_t query)
{
	if (!set->filter)
		return true;
	return filter__passes(set->filter, class,
			      query == PLAN_NONE ? NULL : set->plan->queries[query].name);
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
		return g->label ? FILTER_ACTIVITY : FILTER_DYNAMIC;
	}
}

static bool wants_guard_site(const struct attach_set *set, const struct plan_site *site)
{
	const struct plan_guard *g = &set->plan->guards[site->guard];
	enum filter_class class = class_of(g);

	if (class == FILTER_ACTIVITY)
		return filter__passes(set->filter, class, g->label);
	/* All sites or none: only the kernel half knows the labels of these intervals. */
	if (class == FILTER_HASHING)
		return filter__passes(set->filter, class, NULL);
	if (class == FILTER_DYNAMIC || site->role == WIRE_ROLE_GUARD_QUERY ||
	    site->role == WIRE_ROLE_GUARD_CALLED)
		return filter__may_pass(set->filter, class);
	return query_passes(set, class, site->query);
}

/* Follow the queries of a body that serves a followed one. True if that added any. */
static bool follow_body(struct attach_set *set, uint32_t body)
{
	const struct plan *plan = set->plan;
	bool followed = false, added = false;

	for (uint32_t i = 0; i < plan->n_queries; i++)
		followed |= set->queries[i] && plan__serves(plan, &plan->queries[i], body);
	for (uint32_t i = 0; i < plan->n_queries && followed; i++) {
		if (set->queries[i] || !plan__serves(plan, &plan->queries[i], body))
			continue;
		set->queries[i] = added = true;
	}
	return added;
}

/*
 * An end of a body is that of any query that it serves, so these are followed together: an end
 * without a start would be paired with another's. An interval of hashing gets its label from the
 * query that it runs in, and a request of any query shows that older ones are over.
 */
static void follow_queries(struct attach_set *set)
{
	const struct plan *plan = set->plan;
	bool more = true;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		set->queries[i] = query_passes(set, FILTER_QUERY, i);
		set->any_query |= set->queries[i];
	}
	set->all_queries = filter__passes(set->filter, FILTER_HASHING, NULL) ||
			   (set->any_query && set->callers);
	while (more && set->any_query && !set->all_queries) {
		more = false;
		for (uint32_t i = 0; i < plan->n_bodies; i++)
			more |= follow_body(set, i);
	}
}

/* Of a query's start, or of a body's queries. A site that belongs to neither is everyone's. */
static bool wants_query_site(const struct attach_set *set, const struct plan_site *site)
{
	if (set->all_queries)
		return true;
	if (site->query != PLAN_NONE)
		return set->queries[site->query];
	if (site->body == PLAN_NONE)
		return set->any_query;
	for (uint32_t i = 0; i < set->plan->n_queries; i++)
		if (set->queries[i] && plan__serves(set->plan, &set->plan->queries[i], site->body))
			return true;
	return false;
}

static int compare_guards(const void *a, const void *b)
{
	const struct plan_guard *x = *(const struct plan_guard *const *)a,
				*y = *(const struct plan_guard *const *)b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	return x->number - y->number;
}

/* Guards that share end sites follow one another in `sorted`. Returns how many do from `first`. */
static uint32_t settle_guards(struct attach_set *set, const struct plan_guard **sorted,
			      uint32_t first)
{
	uint32_t n = 0;
	uint8_t part = (uint8_t)plan_guard__part(sorted[first]);
	bool ends = false;

	while (first + n < set->plan->n_guards &&
	       !compare_guards(&sorted[first], &sorted[first + n])) {
		const struct plan_guard *g = sorted[first + n++];

		ends |= set->guards[g - set->plan->guards];
		if (part != plan_guard__part(g))
			part = PLAN_PART_ALWAYS;
	}
	for (uint32_t i = first; i < first + n; i++) {
		set->ends[sorted[i] - set->plan->guards] = ends;
		set->end_parts[sorted[i] - set->plan->guards] = part;
	}
	return n;
}

static int settle_ends(struct attach_set *set)
{
	uint32_t n = set->plan->n_guards;
	_free_ const struct plan_guard **sorted = calloc(n + 1UL, sizeof(struct plan_guard *));

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = &set->plan->guards[i];
	qsort(sorted, n, sizeof(struct plan_guard *), compare_guards);
	for (uint32_t i = 0; i < n;)
		i += settle_guards(set, sorted, i);
	return 0;
}

void attach_set__find_guards(struct attach_set *set)
{
	for (uint32_t i = 0; i < set->plan->n_sites; i++) {
		const struct plan_site *site = &set->plan->sites[i];

		if (site->role == WIRE_ROLE_GUARD || site->role == WIRE_ROLE_GUARD_QUERY ||
		    site->role == WIRE_ROLE_GUARD_CALLED)
			set->guards[site->guard] |= wants_guard_site(set, site);
	}
}

int attach_set__init(struct attach_set *set, const struct plan *plan, const struct filter *filter,
		     uint8_t lib, bool callers)
{
	size_t n = plan->n_guards + 1UL; /* calloc(0) may be NULL */
	int err;

	*set = (struct attach_set){.plan = plan, .filter = filter, .lib = lib, .callers = callers};
	set->guards = calloc(n, sizeof(*set->guards));
	set->ends = calloc(n, sizeof(*set->ends));
	set->end_parts = calloc(n, sizeof(*set->end_parts));
	set->first_step = calloc(n, sizeof(*set->first_step));
	set->queries = calloc(plan->n_queries + 1UL, sizeof(*set->queries));
	set->numbers = calloc(plan->n_sites + 1UL, sizeof(*set->numbers));
	if (!set->guards || !set->ends || !set->end_parts || !set->first_step || !set->queries ||
	    !set->numbers) {
		attach_set__clear(set);
		return -ENOMEM;
	}
	for (uint32_t i = plan->n_steps; i--;)
		set->first_step[plan->steps[i].guard] = i;
	follow_queries(set);
	attach_set__find_guards(set);
	err = settle_ends(set);
	if (err)
		attach_set__clear(set);
	for (uint32_t i = 0; i < plan->n_sites && !err; i++)
		if (attach_set__wants(set, &plan->sites[i]))
			set->numbers[i] = set->n_sites++;
	return err;
}

bool attach_set__wants(const struct attach_set *set, const struct plan_site *site)
{
	switch (site->role) {
	case WIRE_ROLE_CAUGHT:
		return true;
	case WIRE_ROLE_DROP:
		return !filter__is_empty(set->filter);
	case WIRE_ROLE_REQUEST:
		return set->callers && wants_query_site(set, site);
	case WIRE_ROLE_GUARD:
	case WIRE_ROLE_GUARD_QUERY:
	case WIRE_ROLE_GUARD_CALLED:
		return wants_guard_site(set, site);
	case WIRE_ROLE_GUARD_END:
		return set->ends[site->guard];
	case WIRE_ROLE_TIMER:
	case WIRE_ROLE_TIMER_END:
		return filter__may_pass(set->filter, FILTER_TIMER);
	default:
		return wants_query_site(set, site);
	}
}

enum plan_part attach_set__part(const struct attach_set *set, const struct plan_site *site)
{
	switch (site->role) {
	case WIRE_ROLE_GUARD:
	case WIRE_ROLE_GUARD_QUERY:
	case WIRE_ROLE_GUARD_CALLED:
		return plan_guard__part(&set->plan->guards[site->guard]);
	case WIRE_ROLE_GUARD_END:
		return set->end_parts[site->guard];
	default:
		return PLAN_PART_ALWAYS;
	}
}

uint32_t attach_set__cookie(const struct attach_set *set, const struct plan_site *site)
{
	return set->first + set->numbers[site - set->plan->sites];
}

/* ---- What the kernel half is told of a site -------------------------------------------------- */

/* Where a site finds the key of a query that starts there. */
static struct wire_key_place key_place(const struct attach_set *set, const struct plan_site *site,
				       uint32_t query)
{
	const struct plan_query *q =
		query < set->plan->n_queries ? &set->plan->queries[query] : NULL;
	/* A slot counts from the sp of the body. */
	bool in_body = site->role == WIRE_ROLE_IDENTIFY ||
		       (site->role == WIRE_ROLE_START_BODY && !site->sp_delta);
	struct wire_key_place place = {.key = WIRE_KEY_UNKNOWN, .reg = WIRE_REG_NONE};

	if (!q || q->key == WIRE_KEY_UNKNOWN)
		return place;
	if (site->key_reg != WIRE_REG_NONE)
		place.reg = site->key_reg;
	else if (in_body && site->key_slot >= 0)
		place.slot = (uint16_t)(site->key_slot / 4);
	else
		return place;
	place.key = q->key;
	if (site->role == WIRE_ROLE_START && q->key_by_address)
		place.key = WIRE_KEY_MEMORY;
	return place;
}

static void describe_guard_site(const struct attach_set *set, const struct plan_site *site,
				struct wire_site *out)
{
	const struct plan_guard *g = &set->plan->guards[site->guard];

	if (g->kind == WIRE_KIND_ACTIVITY)
		out->query = (uint16_t)site->guard;
	out->group = (uint16_t)g->scope;
	out->number = g->number;
	out->kind = g->kind;
	if (g->label_of_query && site->query == PLAN_NONE) {
		out->label = WIRE_LABEL_OF_QUERY;
	} else if (class_of(g) == FILTER_DYNAMIC && g->label_slot >= 0) {
		out->label = WIRE_LABEL_IN_MEMORY;
		out->slot = g->label_slot;
	} else if (g->source.text) {
		out->label = WIRE_LABEL_WITH_ARGUMENT;
	}
}

void attach_set__site(const struct attach_set *set, const struct plan_site *site,
		      struct wire_site *out)
{
	const struct plan_body *body =
		site->body == PLAN_NONE ? NULL : &set->plan->bodies[site->body];

	*out = (struct wire_site){
		.role = site->role,
		.lib = set->lib,
		.query = site->query == PLAN_NONE ? WIRE_NO_QUERY : (uint16_t)site->query,
		.group = body ? (uint16_t)body->group : WIRE_NO_GROUP,
		.reg = site->reg,
		.base = WIRE_REG_NONE,
		.slot = site->slot < 0 ? WIRE_NO_SLOT : site->slot,
		.offset = (uint32_t)site->vtable_offset,
		.addr = (uint32_t)site->addr,
		.key.reg = WIRE_REG_NONE,
	};
	switch (site->role) {
	case WIRE_ROLE_START:
	case WIRE_ROLE_START_BODY:
	case WIRE_ROLE_WRAPPER:
		out->hidden = !query_passes(set, FILTER_QUERY, site->query);
		out->sp_delta = site->sp_delta;
		if (!out->hidden)
			out->key = key_place(set, site, site->query);
		/* The bytes pushed since the return address lead to the wrapper's sp. */
		if (site->role == WIRE_ROLE_WRAPPER && set->callers)
			out->slot = site->sp_delta;
		return;
	case WIRE_ROLE_END:
		out->between = body ? body->between : 0;
		return;
	case WIRE_ROLE_IDENTIFY:
	case WIRE_ROLE_GUARD_QUERY:
		out->numbered = plan__has_numbers(set->plan, site->body);
		return;
	case WIRE_ROLE_GUARD:
	case WIRE_ROLE_GUARD_CALLED:
	case WIRE_ROLE_GUARD_END:
		return describe_guard_site(set, site, out);
	case WIRE_ROLE_DROP:
		if (plan_site__feeds(site)) {
			out->base = site->result_reg;
			out->shift = site->result_shift;
			return;
		}
		out->moment = site->addr == set->plan->layout.wire.drop ? WIRE_COUNTS_DROPPED
									: WIRE_COUNTS_FINISHED;
		return;
	default:
		out->sp_delta = site->sp_delta;
	}
}

void attach_set__hit(const struct attach_set *set, const struct plan_hit *hit,
		     struct wire_site *out)
{
	*out = (struct wire_site){
		.role = WIRE_ROLE_HIT,
		.lib = set->lib,
		.query = WIRE_NO_QUERY,
		.group = WIRE_NO_GROUP,
		.reg = hit->reg,
		.base = hit->base,
		.slot = (int32_t)hit->disp,
		.key.reg = WIRE_REG_NONE,
	};
}

static bool serves(const struct attach_set *set, const struct plan_site *site,
		   const struct plan_query *q)
{
	const struct plan *plan = set->plan;

	if (site->role != WIRE_ROLE_GUARD_CALLED)
		return plan__serves(plan, q, site->body);
	for (uint32_t i = set->first_step[site->guard];
	     i < plan->n_steps && plan->steps[i].guard == site->guard; i++)
		if (plan->steps[i].body != PLAN_NONE && plan->steps[i].body == q->body_incr)
			return true;
	return false;
}

bool attach_set__provider(const struct attach_set *set, const struct plan_site *site,
			  uint32_t query, struct wire_provider_key *key,
			  struct wire_provider *value)
{
	const struct plan_query *q = &set->plan->queries[query];

	if (!serves(set, site, q))
		return false;
	*key = (struct wire_provider_key){
		.distance = q->number
				    ? q->number
				    : (uint32_t)((q->provider_caller ?: q->provider) - site->addr),
		.site = attach_set__cookie(set, site),
	};
	*value = (struct wire_provider){.key.reg = WIRE_REG_NONE};
	if (site->role == WIRE_ROLE_IDENTIFY) {
		/* Those with a number have no start of their own where there is such a site. */
		bool own_start = !q->number && q->start_role != WIRE_ROLE_WRAPPER;

		value->query = own_start ? WIRE_NO_QUERY : (uint16_t)query;
		value->group = (uint16_t)set->plan->bodies[site->body].group;
		value->kind = WIRE_KIND_QUERY;
		value->key = key_place(set, site, query);
		value->hidden = !query_passes(set, FILTER_QUERY, query);
	} else {
		const struct plan_guard *g = &set->plan->guards[site->guard];

		value->query = (uint16_t)query;
		value->group = (uint16_t)g->scope;
		value->number = g->number;
		value->kind = g->kind;
		value->hidden = !query_passes(set, class_of(g), query);
	}
	return true;
}

bool attach_set__step(const struct attach_set *set, const struct plan_site *site, uint32_t i,
		      struct wire_provider_key *key, struct wire_step *value)
{
	const struct plan_step *step = &set->plan->steps[i];

	if (step->guard != site->guard)
		return false;
	*key = (struct wire_provider_key){
		.distance = (uint32_t)(step->addr - site->addr),
		.site = attach_set__cookie(set, site),
	};
	*value = (struct wire_step){
		.slot = step->slot < 0 ? 0 : (uint16_t)(step->slot / 8),
		.vtable_offset = (uint16_t)(step->vtable_offset / 8),
		.reg = step->reg,
		.next = step->body == PLAN_NONE,
	};
	return true;
}

bool attach_set__source(const struct attach_set *set, const struct plan_site *site, uint32_t *key,
			struct wire_source *value)
{
	const struct plan_guard *g =
		site->role == WIRE_ROLE_GUARD ? &set->plan->guards[site->guard] : NULL;

	if (!g || !g->source.text)
		return false;
	*key = wire_lib_key(set->lib, site->guard);
	*value = g->source;
	return true;
}

bool attach_set__wrappers(const struct attach_set *set, uint32_t query, struct wire_wrappers *out)
{
	int n = 0;

	*out = (struct wire_wrappers){0};
	for (uint32_t i = 0; i < set->plan->n_sites && n < 2; i++) {
		const struct plan_site *site = &set->plan->sites[i];

		if (site->query != query || site->role != WIRE_ROLE_REQUEST)
			continue;
		out->between[n] = (uint16_t)set->plan->bodies[site->body].between;
		out->reach[n++] = (uint16_t)(site->slot + 8 - site->sp_delta);
	}
	return n;
}

void attach_set__clear(struct attach_set *set)
{
	free(set->guards);
	free(set->ends);
	free(set->end_parts);
	free(set->first_step);
	free(set->queries);
	free(set->numbers);
	*set = (struct attach_set){0};
}
