// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/guards.h"

#include "test.h"
#define LIBRARY "guards.so"
#include "../fixtures/image.h"

/* tests/fixtures/guards.s, assembled. Its symbols mark the sites. */
static struct plan *plan;

static int setup(void **state)
{
	_known_symbols_ struct known_symbols known = {NULL};
	struct code_decoder *decoder = NULL;
	struct frame_drafts frames = {0};
	int err;

	if (image_setup(state))
		return -1;
	plan = calloc(1, sizeof(*plan));
	if (!plan || code_decoder__new(img, &decoder))
		return -1;
	err = known_symbols__find(img, &known);
	err = err ?: guards_add(img, &known, decoder, plan, NULL, &frames);
	err = err ?: frames_place(plan, &frames);
	frame_drafts__clear(&frames);
	code_decoder__free(decoder);
	return err;
}

static int teardown(void **state)
{
	plan__free(plan);
	return image_teardown(state);
}

static uint64_t addr_of(const char *name, const char *mark)
{
	char full[64];

	snprintf(full, sizeof(full), "%s.%s", name, mark);
	return symbol(img, full)->addr;
}

static const struct plan_site *site_at(uint64_t addr, enum wire_role role)
{
	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (plan->sites[i].addr == addr && plan->sites[i].role == role)
			return &plan->sites[i];
	return NULL;
}

/* The guard that starts at the mark. */
static const struct plan_guard *guard(const char *name, const char *mark)
{
	const struct plan_site *site = site_at(addr_of(name, mark), WIRE_ROLE_GUARD);

	if (!site)
		fail_msg("%s: nothing starts at %s", name, mark);
	assert_in_range(site->guard, 0, plan->n_guards - 1);
	assert_int_equal(site->cls, PLAN_EMULATED);
	assert_string_equal(plan->guards[site->guard].function, name);
	return &plan->guards[site->guard];
}

/* An exact guard, whose only end is at the mark `end` and has its number. */
static const struct plan_guard *whole(const char *name, const char *mark, const char *end)
{
	const struct plan_guard *g = guard(name, mark), *other;
	const struct plan_site *site = site_at(addr_of(name, end), WIRE_ROLE_GUARD_END);

	/* A hashing may be of an unknown query's result. */
	if (g->problem && g->kind != WIRE_KIND_HASHING)
		fail_msg("%s: %s", name, g->problem);
	assert_true(g->exact);
	assert_int_equal(g->n_end, 1);
	assert_non_null(site);
	other = &plan->guards[site->guard];
	assert_int_equal(other->scope, g->scope);
	assert_int_equal(other->number, g->number);
	return g;
}

static void assert_label(const struct plan_guard *g, const char *label)
{
	assert_non_null(g->label);
	assert_string_equal(g->label, label);
	assert_int_equal(g->label_slot, PLAN_NO_SLOT);
	assert_int_equal(g->kind, WIRE_KIND_ACTIVITY);
}

static void assert_problem(const char *name, const char *problem)
{
	const struct plan_guard *g = guard(name, "start");

	assert_false(g->exact);
	assert_non_null(g->problem);
	if (!strstr(g->problem, problem))
		fail_msg("%s: %s", name, g->problem);
}

TEST_CASE(a_constant_label_is_read_from_the_file)
{
	assert_label(whole("constant", "start", "end"), "alpha");
	assert_label(whole("captured", "start", "end"), "beta");
	assert_label(whole("sunk", "start", "end"), "alpha");
}

TEST_CASE(a_computed_label_is_in_memory)
{
	const struct plan_guard *g = whole("computed", "start", "end");

	assert_null(g->label);
	assert_int_equal(g->label_slot, 0x30);
	g = whole("either", "start", "end");
	assert_null(g->label);
	assert_int_equal(g->label_slot, 0x30);
}

TEST_CASE(a_label_that_is_nowhere_is_said_so)
{
	const struct plan_guard *g = guard("nowhere", "start");

	assert_null(g->label);
	assert_int_equal(g->label_slot, PLAN_NO_SLOT);
	assert_string_equal(g->problem, "where its label is was not recognised");
	assert_true(g->exact);
}

TEST_CASE(a_label_that_is_not_text_is_ignored)
{
	assert_null(guard("unprintable", "start")->label);
	assert_null(guard("astray", "start")->label);
}

TEST_CASE(a_drop_is_an_end)
{
	assert_label(whole("dropped", "start", "end"), "alpha");
	assert_int_equal(site_at(addr_of("dropped", "end"), WIRE_ROLE_GUARD_END)->cls,
			 PLAN_EMULATED);
	assert_label(whole("distant", "start", "end"), "alpha");
	assert_int_equal(site_at(addr_of("distant", "end"), WIRE_ROLE_GUARD_END)->cls,
			 PLAN_STEPPED);
}

TEST_CASE(guards_may_nest)
{
	const struct plan_guard *outer = whole("nested", "start", "end");
	const struct plan_guard *inner = whole("nested", "start2", "end2");

	assert_label(outer, "alpha");
	assert_label(inner, "beta");
	assert_int_equal(outer->scope, inner->scope);
	assert_int_not_equal(outer->number, inner->number);
}

/* The guards that a mark lies within: "start", "start2" or both, of the function `name`. */
static void assert_within(const char *name, const char *mark, const char *want)
{
	uint64_t addr = addr_of(name, mark);
	char got[64] = "";

	for (uint32_t i = 0; i < plan->n_guard_frames; i++) {
		const struct plan_frame *f = &plan->guard_frames[i];

		if (addr < f->addr || addr - f->addr >= f->size)
			continue;
		strcat(got, *got ? " " : "");
		strcat(got, &plan->guards[f->of] == guard(name, "start") ? "start" : "start2");
	}
	assert_string_equal(got, want);
}

TEST_CASE(the_code_within_a_guard_is_known)
{
	assert_within("nested", "start", "");
	assert_within("nested", "start2", "start");
	assert_within("nested", "end2", "start start2");
	assert_within("nested", "end", "start");
	/* Two share an end, and behind where they meet it may be either. */
	assert_within("shared", "end", "");
	/* Some way leads past its end. */
	assert_false(guard("threaded", "start")->exact);
	for (uint32_t i = 0; i < plan->n_guard_frames; i++)
		assert_true(plan->guards[plan->guard_frames[i].of].exact);
	assert_true(plan->n_guard_frames);
}

TEST_CASE(guards_with_one_end_share_a_number)
{
	const struct plan_guard *a = whole("shared", "start", "end");
	const struct plan_guard *b = whole("shared", "start2", "end");

	assert_label(a, "alpha");
	assert_label(b, "beta");
	assert_int_equal(a->number, b->number);
}

TEST_CASE(functions_have_scopes_of_their_own)
{
	assert_int_not_equal(guard("constant", "start")->scope, guard("sunk", "start")->scope);
}

TEST_CASE(an_end_that_was_optimised_away_is_missed)
{
	assert_problem("threaded", "returns without");
	assert_string_equal(guard("threaded", "start")->label, "alpha");
}

TEST_CASE(a_call_that_does_not_return_leads_nowhere)
{
	assert_label(whole("after_panic", "start", "end"), "alpha");
}

TEST_CASE(other_kinds_are_known_by_their_callees)
{
	const struct plan_guard *g = whole("hashes", "start", "end");

	assert_int_equal(g->kind, WIRE_KIND_HASHING);
	/* Outside a body, the hashed result may be another query's. */
	assert_false(g->label_of_query);
	assert_non_null(strstr(g->problem, "the result may be another query's"));
	g = guard("waits", "start");
	assert_int_equal(g->kind, WIRE_KIND_BLOCKED);
	assert_false(g->label_of_query);
	assert_string_equal(g->problem, "it stands in a function that several queries share");
	assert_int_equal(plan->n_artifacts, 1);
}

static uint32_t problems_of(const char *function)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_guards; i++)
		if (!strcmp(plan->guards[i].function, function) && !plan->guards[i].exact &&
		    plan->guards[i].problem)
			n++;
	return n;
}

TEST_CASE(nonsense_is_a_problem)
{
	assert_problem("switched", "indirect jump");
	assert_problem("realigned", "where its guard is kept");
	assert_int_equal(problems_of("tail"), 1);
	assert_int_equal(problems_of("unasked"), 1);
	assert_int_equal(problems_of("endless"), 1);
}

TEST_CASE(sites_are_in_order)
{
	for (uint32_t i = 1; i < plan->n_sites; i++) {
		const struct plan_site *a = &plan->sites[i - 1], *b = a + 1;

		assert_true(a->role < b->role || (a->role == b->role && a->addr < b->addr));
	}
}

TEST_MAIN(setup, teardown)
