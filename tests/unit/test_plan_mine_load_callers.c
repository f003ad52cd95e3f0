// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/load_callers.h"

#include "test.h"
#define LIBRARY "loads.so"
#include "../fixtures/image.h"

#define VTABLE_OFFSET 0x40

enum { ALPHA, BETA, N_QUERIES };
enum { BODY, BODY2, N_BODIES };
enum { AT_ALPHA, AT_OTHER, AT_SHARED, AT_JUMPED_TO, N_SITES };

static struct plan *new_plan(uint32_t body_of_beta)
{
	static const char *const starts[N_SITES] = {"alpha.start", "other.start", "shared.start",
						    "jumped_to.start"};
	struct plan *plan = calloc(1, sizeof(*plan));

	*plan = (struct plan){
		.queries = calloc(N_QUERIES, sizeof(*plan->queries)),
		.n_queries = N_QUERIES,
		.bodies = calloc(N_BODIES, sizeof(*plan->bodies)),
		.n_bodies = N_BODIES,
		.guards = calloc(N_SITES, sizeof(*plan->guards)),
		.n_guards = N_SITES,
		.sites = calloc(N_SITES, sizeof(*plan->sites)),
		.n_sites = N_SITES,
	};
	plan->queries[ALPHA] = (struct plan_query){.name = strdup("alpha"), .body_incr = BODY};
	plan->queries[BETA] =
		(struct plan_query){.name = strdup("beta"), .body_incr = body_of_beta};
	plan->bodies[BODY].addr = symbol(img, "body")->addr;
	plan->bodies[BODY2].addr = symbol(img, "body2")->addr;
	for (uint32_t i = 0; i < N_SITES; i++) {
		plan->guards[i] = (struct plan_guard){.kind = WIRE_KIND_LOAD, .exact = true};
		plan->guards[i].problem = strdup("nobody knows");
		plan->sites[i] = (struct plan_site){
			.addr = symbol(img, starts[i])->addr,
			.role = WIRE_ROLE_GUARD,
			.query = PLAN_NONE,
			.body = PLAN_NONE,
			.guard = i,
			.reg = WIRE_REG_NONE,
			.slot = PLAN_NO_SLOT,
		};
	}
	/* Only the function's name identifies the query. */
	plan->sites[AT_ALPHA].query = ALPHA;
	plan->guards[AT_ALPHA].label = strdup("alpha");
	return plan;
}

static struct plan *find(uint32_t body_of_beta)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	_owners_ struct owners owners = {NULL, 0};
	struct plan *plan = new_plan(body_of_beta);
	uint64_t addrs[N_SITES + N_BODIES];
	struct mined_body mined[N_BODIES] = {
		[BODY] = {.n_masks = 1,
			  .masks[0] = {.addr = symbol(img, "body.mask")->addr,
				       .vtable = {WIRE_REG_R14, VTABLE_NO_SLOT, VTABLE_OFFSET}}},
		[BODY2] = {.n_masks = 1,
			   .masks[0] = {.addr = symbol(img, "body2.mask")->addr,
					.vtable = {WIRE_REG_NONE, 0x18, VTABLE_OFFSET}}},
	};

	for (uint32_t i = 0; i < N_SITES; i++)
		addrs[i] = plan->sites[i].addr;
	for (uint32_t i = 0; i < N_BODIES; i++)
		addrs[N_SITES + i] = mined[i].masks[0].addr;
	assert_int_equal(code_decoder__new(img, &decoder), 0);
	assert_int_equal(owners__find(img, addrs, N_SITES + N_BODIES, &owners), 0);
	assert_int_equal(load_callers_find(img, decoder, plan, mined, &owners), 0);
	return plan;
}

static const struct plan_step *step(const struct plan *plan, uint32_t guard, const char *mark)
{
	for (uint32_t i = 0; i < plan->n_steps; i++)
		if (plan->steps[i].guard == guard && plan->steps[i].addr == symbol(img, mark)->addr)
			return &plan->steps[i];
	fail_msg("no step at %s", mark);
	return NULL;
}

static uint32_t steps_of(const struct plan *plan, uint32_t guard)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		n += plan->steps[i].guard == guard;
	return n;
}

static void assert_vtable(const struct plan_step *s, uint32_t body, uint8_t reg, int32_t slot)
{
	assert_int_equal(s->body, body);
	assert_int_equal(s->reg, reg);
	assert_int_equal(s->slot, slot);
	assert_int_equal(s->vtable_offset, VTABLE_OFFSET);
}

TEST_CASE(the_body_wins_over_a_name)
{
	_plan_ struct plan *plan = find(BODY);
	const struct plan_site *site = &plan->sites[AT_ALPHA];

	assert_int_equal(site->role, WIRE_ROLE_GUARD_CALLED);
	assert_int_equal(site->query, PLAN_NONE);
	assert_int_equal(site->slot, 0x30 + 2 * 8);
	assert_null(plan->guards[AT_ALPHA].label);
	assert_true(plan->guards[AT_ALPHA].label_of_query);
	assert_null(plan->guards[AT_ALPHA].problem);
	assert_int_equal(steps_of(plan, AT_ALPHA), 2);
	assert_vtable(step(plan, AT_ALPHA, "body.returned"), BODY, WIRE_REG_R14, PLAN_NO_SLOT);
	assert_vtable(step(plan, AT_ALPHA, "body.returned2"), BODY, WIRE_REG_R14, PLAN_NO_SLOT);
}

TEST_CASE(a_shared_function_is_two_steps_away)
{
	_plan_ struct plan *plan = find(BODY);
	const struct plan_site *site = &plan->sites[AT_SHARED];
	const struct plan_step *next = step(plan, AT_SHARED, "beta.returned");

	assert_int_equal(site->role, WIRE_ROLE_GUARD_CALLED);
	assert_int_equal(site->slot, 0x38 + 2 * 8);
	assert_int_equal(next->body, PLAN_NONE);
	/* Above the return address to beta and the register that beta has pushed. */
	assert_int_equal(next->slot, 0x38 + 2 * 8 + 8 + 8);
	assert_int_equal(steps_of(plan, AT_SHARED), 2);
	/* The function overwrites r14, so the value is in the slot where it was pushed. */
	assert_vtable(step(plan, AT_SHARED, "body.returned"), BODY, WIRE_REG_NONE, 0x38);
}

TEST_CASE(a_jump_leaves_no_step)
{
	_plan_ struct plan *plan = find(BODY);
	_plan_ struct plan *other = find(BODY2);

	assert_int_equal(plan->sites[AT_JUMPED_TO].role, WIRE_ROLE_GUARD_CALLED);
	assert_int_equal(plan->sites[AT_JUMPED_TO].slot, 0x20 + 8);
	assert_int_equal(steps_of(plan, AT_JUMPED_TO), 1);
	assert_vtable(step(plan, AT_JUMPED_TO, "body.returned"), BODY, WIRE_REG_R14, PLAN_NO_SLOT);
	assert_vtable(step(other, AT_JUMPED_TO, "body2.returned"), BODY2, WIRE_REG_NONE,
		      0x20 + 8 + 8 + 0x18);
}

TEST_CASE(a_slot_of_the_body_is_above_all_frames)
{
	_plan_ struct plan *plan = find(BODY2);

	assert_vtable(step(plan, AT_SHARED, "body2.returned"), BODY2, WIRE_REG_NONE,
		      0x38 + 2 * 8 + 8 + 8 + 8 + 0x18);
}

TEST_CASE(a_query_without_a_body_stays)
{
	_plan_ struct plan *plan = find(BODY);

	assert_int_equal(plan->sites[AT_OTHER].role, WIRE_ROLE_GUARD);
	assert_false(plan->guards[AT_OTHER].label_of_query);
	assert_non_null(plan->guards[AT_OTHER].problem);
	assert_int_equal(steps_of(plan, AT_OTHER), 0);
}

TEST_CASE(a_query_is_known_by_its_module)
{
	_plan_ struct plan *plan = new_plan(BODY);

	assert_int_equal(load_callers_named(plan, "rustc_query_impl::query_impl::beta::load"),
			 BETA);
	assert_int_equal(load_callers_named(plan, "rustc_query_impl::query_impl::betas::load"),
			 PLAN_NONE);
	assert_int_equal(load_callers_named(plan, "rustc_query_impl::plumbing::load"), PLAN_NONE);
}

TEST_MAIN(image_setup, image_teardown)
