// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/sites.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/check.h"

struct chooser {
	const struct elf_image *img;
	struct code_decoder *decoder;
	struct plan *plan;
	const struct mined_body *mined; /* parallel to plan->bodies */
};

int sites_add(const struct elf_image *img, struct plan *plan, struct plan_site site)
{
	site.key_reg = WIRE_REG_NONE;
	site.key_slot = PLAN_NO_SLOT;
	if (!elf_image__offset(img, site.addr, &site.offset))
		return -EFAULT;
	return array__add(&plan->sites, &plan->n_sites, &plan->sites_capacity, &site);
}

/* A site that is in the plan already is not added again. */
static int add_site(struct chooser *c, struct plan_site site)
{
	struct plan *plan = c->plan;

	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (plan->sites[i].addr == site.addr && plan->sites[i].role == site.role)
			return 0;
	site.guard = PLAN_NONE;
	return sites_add(c->img, plan, site);
}

static uint8_t class_of(bool emulated)
{
	return emulated ? PLAN_EMULATED : PLAN_STEPPED;
}

static int add_entry(struct chooser *c, uint64_t entry, enum wire_role role, uint32_t query,
		     uint32_t body, int32_t above)
{
	struct mined_entry at;
	int err = mine_entry(c->decoder, entry, &at);

	if (err)
		return err;
	return add_site(c, (struct plan_site){
				   .addr = at.addr,
				   .query = query,
				   .body = body,
				   .role = role,
				   .cls = class_of(at.emulated),
				   .reg = WIRE_REG_NONE,
				   .slot = PLAN_NO_SLOT,
				   .sp_delta = at.pushed + above,
			   });
}

static int add_masks_of(struct chooser *c, uint32_t body, enum wire_role role, uint32_t query,
			uint32_t *n)
{
	int err = 0;

	for (size_t k = 0; k < c->mined[body].n_masks && !err; k++, ++*n) {
		const struct mined_site *mask = &c->mined[body].masks[k];
		struct plan_site site = {
			.addr = mask->addr,
			.query = query,
			.body = body,
			.role = role,
			.cls = class_of(mask->emulated),
			.reg = WIRE_REG_NONE,
			.slot = PLAN_NO_SLOT,
		};

		if (role == WIRE_ROLE_IDENTIFY) {
			site.reg = mask->vtable.reg;
			site.slot = mask->vtable.slot;
			site.vtable_offset = mask->vtable.offset;
		}
		err = add_site(c, site);
	}
	return err;
}

/* In the body, and in what it calls to execute. */
static int add_masks(struct chooser *c, uint32_t body, enum wire_role role, uint32_t query,
		     uint32_t *n)
{
	uint32_t outlined = plan__outlined(c->plan, body);
	int err = add_masks_of(c, body, role, query, n);

	return err || outlined == PLAN_NONE ? err : add_masks_of(c, outlined, role, query, n);
}

/* All mask sites of a body are known. */
static bool has_masks(const struct chooser *c, uint32_t body)
{
	return body != PLAN_NONE && c->mined[body].n_masks && c->mined[body].masks_exact;
}

/* All mask sites are known, and the operands of each are within the limits of IDENTIFY sites. */
static bool can_identify(const struct chooser *c, uint32_t body)
{
	if (!has_masks(c, body))
		return false;
	for (size_t k = 0; k < c->mined[body].n_masks; k++) {
		const struct mined_vtable *vt = &c->mined[body].masks[k].vtable;

		if (vt->offset < 0 || vt->offset > PLAN_VTABLE_MAX || vt->slot > PLAN_SLOT_MAX)
			return false;
	}
	return true;
}

/* In the body, and in what it calls to execute. */
static bool can_identify_all(const struct chooser *c, uint32_t body)
{
	uint32_t outlined = plan__outlined(c->plan, body);

	return can_identify(c, body) && (outlined == PLAN_NONE || can_identify(c, outlined));
}

/* Neither the body nor what it calls to execute runs another query: the mask sites name it. */
static bool owns_body(const struct chooser *c, uint32_t body)
{
	uint32_t outlined = plan__outlined(c->plan, body);

	return has_masks(c, body) && c->plan->bodies[body].n_queries == 1 &&
	       (outlined == PLAN_NONE ||
		(has_masks(c, outlined) && c->plan->bodies[outlined].n_queries == 1));
}

/* If a provider or a wrapper was folded with another query's, it does not identify either query. */
static bool is_own_provider(const struct plan *plan, const struct plan_query *q)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (&plan->queries[i] != q && plan->queries[i].provider == q->provider)
			return false;
	return q->provider;
}

static bool is_own_wrapper(const struct plan *plan, const struct plan_query *q, uint64_t wrapper)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (&plan->queries[i] != q && (plan->queries[i].wrapper_non_incr == wrapper ||
					       plan->queries[i].wrapper_incr == wrapper))
			return false;
	return wrapper;
}

/* If the body of some query is unknown, any body may be that query's, too. */
static bool all_have_bodies(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (plan->queries[i].body_incr == PLAN_NONE)
			return false;
	return true;
}

/*
 * One body serves both modes. A function that executes for it may execute for other bodies, too. It
 * has the number of the query all the same.
 */
static enum wire_role choose_numbered(const struct chooser *c, const struct plan_query *q)
{
	uint32_t outlined = plan__outlined(c->plan, q->body_incr);

	if (!has_masks(c, q->body_incr) || (outlined != PLAN_NONE && !can_identify(c, outlined)))
		return 0;
	if (c->plan->bodies[q->body_incr].n_queries == 1 && all_have_bodies(c->plan))
		return WIRE_ROLE_START_BODY;
	return can_identify(c, q->body_incr) ? WIRE_ROLE_IDENTIFY : 0;
}

/*
 * The ways to see a query's start, best first:
 * 1. a body of its own: the mask site, where self-profile starts its interval too; but if the key
 *    is in memory, 2, because few bodies keep its address up to there;
 * 2. the provider's entry, if its straight-line code has an emulated instruction;
 * 3. else (the provider is a bare indirect tail call) the non-incremental wrapper, which runs only
 *    to execute the query. With incremental compilation, wrappers also run to find it unchanged,
 *    and a query may be executed without its wrapper, so there the mask site reads the query;
 * 4. the mask sites, if the query's vtable has a number by which they tell it from others;
 * 5. else none: no breakpoint is written on an instruction that the kernel does not emulate.
 */
static enum wire_role choose_start(struct chooser *c, const struct plan_query *q)
{
	struct mined_entry at = {0};
	bool has_entry;

	if (q->number)
		return choose_numbered(c, q);
	has_entry = is_own_provider(c->plan, q) && !mine_entry(c->decoder, q->provider, &at);
	if (owns_body(c, q->body_non_incr) && owns_body(c, q->body_incr) &&
	    !(q->key == WIRE_KEY_MEMORY && has_entry && at.emulated))
		return WIRE_ROLE_START_BODY;
	if (!has_entry)
		return 0;
	if (at.emulated)
		return WIRE_ROLE_START;
	if (!mine_entry(c->decoder, q->wrapper_non_incr, &at) && at.emulated &&
	    is_own_wrapper(c->plan, q, q->wrapper_non_incr) && can_identify_all(c, q->body_incr))
		return WIRE_ROLE_WRAPPER;
	return 0;
}

static bool is_group_seen(const struct plan *plan, uint32_t group)
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];
		uint32_t body = q->body_non_incr != PLAN_NONE ? q->body_non_incr : q->body_incr;

		if (!q->start_role && body != PLAN_NONE && plan->bodies[body].group == group)
			return false;
	}
	return true;
}

/*
 * Only the group identifies the end of a query that starts at its wrapper. If some starts of the
 * group are not seen, this end could belong to a nested query: then this start is given up too.
 */
static void choose_starts(struct chooser *c)
{
	struct plan *plan = c->plan;

	for (uint32_t i = 0; i < plan->n_queries; i++)
		plan->queries[i].start_role = choose_start(c, &plan->queries[i]);
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		struct plan_query *q = &plan->queries[i];

		if (q->start_role == WIRE_ROLE_WRAPPER &&
		    !is_group_seen(plan, plan->bodies[q->body_incr].group))
			q->start_role = 0;
	}
}

static int add_starts(struct chooser *c, uint32_t i)
{
	struct plan_query *q = &c->plan->queries[i];
	uint32_t body = q->body_non_incr != PLAN_NONE ? q->body_non_incr : q->body_incr;
	uint32_t outlined;
	int err;

	q->start_exact = q->start_role != 0;
	if (q->start_role && q->number) {
		outlined = plan__outlined(c->plan, q->body_incr);
		err = add_masks_of(c, q->body_incr, q->start_role,
				   q->start_role == WIRE_ROLE_START_BODY ? i : PLAN_NONE,
				   &q->n_start);
		if (!err && outlined != PLAN_NONE)
			err = add_masks_of(c, outlined, WIRE_ROLE_IDENTIFY, PLAN_NONE, &q->n_start);
		return err;
	}
	switch (q->start_role) {
	case WIRE_ROLE_START_BODY:
		return add_masks(c, q->body_non_incr, WIRE_ROLE_START_BODY, i, &q->n_start)
			       ?: add_masks(c, q->body_incr, WIRE_ROLE_START_BODY, i, &q->n_start);
	case WIRE_ROLE_WRAPPER:
		q->n_start = 1;
		return add_entry(c, q->wrapper_non_incr, WIRE_ROLE_WRAPPER, i, body, 0)
			       ?: add_masks(c, q->body_incr, WIRE_ROLE_IDENTIFY, PLAN_NONE,
					    &q->n_start);
	case WIRE_ROLE_START:
		q->n_start = 1;
		/* At the provider's entry only its return address lies below its body's sp. */
		return add_entry(c, q->provider, WIRE_ROLE_START, i, body, 8);
	default:
		return 0;
	}
}

/*
 * The distance from a wrapper's caller's sp down to the body's sp: two frames and their return
 * addresses. Negative if the frames are unknown.
 */
static int reach_of(struct chooser *c, uint64_t wrapper, uint32_t body)
{
	int outer, inner;

	if (body == PLAN_NONE)
		return -ENOENT;
	outer = mine_frame(c->decoder, wrapper);
	inner = mine_frame(c->decoder, c->plan->bodies[body].addr);
	if (outer < 0 || inner < 0)
		return -ENOTSUP;
	return 8 + outer + 8 + inner;
}

/*
 * The return address on the stack at a wrapper's entry is the caller of its query. Three kinds of
 * wrapper are left out, and their callers stay unknown: folded wrappers, which name no query;
 * wrappers that only single-stepping could see; and wrappers whose distance to their body is
 * unknown. Where a query starts at its wrapper, that site is both the start and the request.
 */
static int add_request(struct chooser *c, uint32_t i, uint64_t wrapper, uint32_t body)
{
	struct plan_query *q = &c->plan->queries[i];
	bool is_start = q->start_role == WIRE_ROLE_WRAPPER && wrapper == q->wrapper_non_incr;
	struct plan_site site = {
		.query = i,
		.body = body,
		.role = WIRE_ROLE_REQUEST,
		.cls = PLAN_EMULATED,
		.reg = WIRE_REG_NONE,
	};
	struct mined_entry at;
	int reach, err;

	if (!is_own_wrapper(c->plan, q, wrapper) || mine_entry(c->decoder, wrapper, &at) ||
	    !at.emulated)
		return 0;
	if (is_start) {
		q->n_request++;
		return 0;
	}
	reach = reach_of(c, wrapper, body);
	if (reach < 0)
		return 0;
	site.addr = at.addr;
	site.slot = at.pushed;
	site.sp_delta = at.pushed + 8 - reach;
	if (plan_site_excess(&site))
		return 0;
	err = add_site(c, site);
	q->n_request += !err;
	return err;
}

static void judge_ends_in(const struct mined_body *m, struct plan_query *q)
{
	q->n_end += (uint32_t)m->n_ends;
	if (m->problem)
		q->end_exact = false;
	for (size_t e = 0; e < m->n_ends; e++)
		if (m->ends[e].id.reg == WIRE_REG_NONE && m->ends[e].id.slot == MINE_NO_SLOT)
			q->has_id = false;
}

static void judge_ends(const struct chooser *c, struct plan_query *q)
{
	uint32_t bodies[] = {q->body_non_incr, q->body_incr};

	q->end_exact = q->has_id = true;
	for (size_t k = 0; k < 2; k++) {
		uint32_t outlined = plan__outlined(c->plan, bodies[k]);

		if (bodies[k] == PLAN_NONE) {
			q->end_exact = q->has_id = false;
			continue;
		}
		judge_ends_in(&c->mined[bodies[k]], q);
		if (outlined != PLAN_NONE)
			judge_ends_in(&c->mined[outlined], q);
	}
}

static int by_role_and_addr(const void *a, const void *b)
{
	const struct plan_site *x = a, *y = b;

	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void sites_sort(struct plan *plan)
{
	if (plan->n_sites)
		qsort(plan->sites, plan->n_sites, sizeof(*plan->sites), by_role_and_addr);
}

int sites_choose(const struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		 const struct mined_body *mined, uint64_t panic_cleanup)
{
	struct chooser c = {img, decoder, plan, mined};
	int err = 0;

	for (uint32_t i = 0; i < plan->n_bodies; i++)
		for (size_t k = 0; k < mined[i].n_ends && !err; k++) {
			const struct mined_site *end = &mined[i].ends[k];
			struct plan_site site = {
				.addr = end->addr,
				.query = PLAN_NONE,
				.body = i,
				.role = WIRE_ROLE_END,
				.cls = class_of(end->emulated),
				.reg = end->id.reg,
				.slot = end->id.slot,
			};

			err = add_site(&c, site);
		}
	choose_starts(&c);
	for (uint32_t i = 0; i < plan->n_queries && !err; i++) {
		struct plan_query *q = &plan->queries[i];

		err = add_starts(&c, i) ?: add_request(&c, i, q->wrapper_non_incr, q->body_non_incr)
			      ?: add_request(&c, i, q->wrapper_incr, q->body_incr);
		judge_ends(&c, q);
	}
	if (!err && panic_cleanup)
		err = add_entry(&c, panic_cleanup, WIRE_ROLE_CAUGHT, PLAN_NONE, PLAN_NONE, 0);
	sites_sort(plan);
	return err;
}
