// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/load_callers.h"

#include "test.h"
#define LIBRARY "loads.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"

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

/*
 * How a load finds its query: "called [slot]" with the steps at the marks that the callers return
 * to, each "mark vtable" in a body, or "mark next [slot]"; else why the query is not known.
 */
static void print_load(const struct plan *of, uint32_t at, char *text, size_t size)
{
	static const char *const marks[] = {"body.returned", "body.returned2", "body2.returned",
					    "beta.returned"};
	const struct plan_site *site = &of->sites[at];
	const struct plan_guard *g = &of->guards[at];
	size_t len = 0;

	if (site->role == WIRE_ROLE_GUARD) {
		assert_false(g->label_of_query);
		snprintf(text, size, "%s", g->problem);
		return;
	}
	assert_int_equal(site->role, WIRE_ROLE_GUARD_CALLED);
	assert_int_equal(site->query, PLAN_NONE);
	assert_true(g->label_of_query && !g->label && !g->problem);
	len = (size_t)snprintf(text, size, "called [%d]", site->slot);
	for (uint32_t i = 0; i < of->n_steps; i++) {
		const struct plan_step *step = &of->steps[i];
		const char *mark = "?";

		if (step->guard != at)
			continue;
		for (size_t k = 0; k < N_OF(marks); k++)
			if (symbol(img, marks[k])->addr == step->addr)
				mark = marks[k];
		len += (size_t)snprintf(text + len, size - len, ", %s", mark);
		if (step->body != PLAN_NONE) {
			assert_int_equal(step->vtable_offset, VTABLE_OFFSET);
			assert_int_equal(step->body, mark[4] == '2' ? BODY2 : BODY);
		}
		if (step->reg != WIRE_REG_NONE)
			len += (size_t)snprintf(text + len, size - len, " %s",
						plan_reg_name(step->reg));
		else
			len += (size_t)snprintf(text + len, size - len, "%s [%d]",
						step->body == PLAN_NONE ? " next" : "", step->slot);
	}
}

TEST_CASE(a_load_is_known_by_its_callers)
{
	static const struct {
		const char *name;
		uint32_t body_of_beta, at;
		const char *shown;
	} rows[] = {
		/* The body wins over a name. */
		{"alpha", BODY, AT_ALPHA, "called [64], body.returned r14, body.returned2 r14"},
		/*
		 * A shared function is two steps away: above the return address to beta and the
		 * register that beta has pushed. It overwrites r14, so the value is in the slot
		 * where it was pushed.
		 */
		{"shared", BODY, AT_SHARED,
		 "called [72], beta.returned next [88], body.returned [56]"},
		/* A slot of the body is above all frames. */
		{"shared by beta", BODY2, AT_SHARED,
		 "called [72], beta.returned next [88], body2.returned [120]"},
		/* A jump leaves no step. */
		{"jumped to", BODY, AT_JUMPED_TO, "called [40], body.returned r14"},
		{"jumped to by beta", BODY2, AT_JUMPED_TO, "called [40], body2.returned [72]"},
		/* A query without a body stays. */
		{"other", BODY, AT_OTHER, "nobody knows"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		_plan_ struct plan *plan = find(rows[i].body_of_beta);
		char text[256];

		print_load(plan, rows[i].at, text, sizeof(text));
		row_text(rows[i].name, text, rows[i].shown);
	}
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
