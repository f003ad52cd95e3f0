// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/keys.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"

/* The small librustc_driver in tests/fixtures/keys.s. */
static struct plan *plan;

static int setup(void **state)
{
	return fixture_dir_setup(state) ?: built(fixture("keys.so"), &plan);
}

static int teardown(void **state)
{
	plan__free(plan);
	return fixture_dir_teardown(state);
}

static uint32_t query(const char *name)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (!strcmp(plan->queries[i].name, name))
			return i;
	fail_msg("no query %s", name);
	return PLAN_NONE;
}

static void assert_type(const char *name, enum wire_key key)
{
	assert_int_equal(plan->queries[query(name)].key, key);
}

/* All sites of the query that have this role. */
static void assert_place(const char *name, enum wire_role role, uint8_t reg, int32_t slot)
{
	uint32_t q = query(name), n = 0;

	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *s = &plan->sites[i];

		if (s->role != role ||
		    (role == WIRE_ROLE_IDENTIFY ? s->body != plan->queries[q].body_incr
						: s->query != q))
			continue;
		assert_int_equal(s->key_reg, reg);
		assert_int_equal(s->key_slot, slot);
		n++;
	}
	if (!n)
		fail_msg("%s has no site", name);
}

static void assert_register(const char *name, enum wire_role role, uint8_t reg)
{
	assert_place(name, role, reg, PLAN_NO_SLOT);
}

static void assert_unknown(const char *name, enum wire_role role)
{
	assert_register(name, role, WIRE_REG_NONE);
}

TEST_CASE(the_type_is_in_the_bodys_name)
{
	assert_type("good", WIRE_KEY_DEF);
	assert_type("large", WIRE_KEY_LOCAL);
	assert_type("own", WIRE_KEY_LOCAL);
	assert_type("forgetful", WIRE_KEY_CRATE);
	assert_type("unit", WIRE_KEY_UNIT);
	assert_type("other", WIRE_KEY_UNKNOWN);
}

TEST_CASE(a_key_that_names_nothing_has_no_place)
{
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *s = &plan->sites[i];

		if (!plan_site__is_start(s))
			assert_false(plan_site__has_key(s));
	}
	assert_int_equal(plan__key_sites(plan, query("unit")), 0);
	assert_int_equal(plan__key_sites(plan, query("other")), 0);
	assert_true(plan->queries[query("unit")].n_start);
}

TEST_CASE(a_provider_is_called_with_context_and_key)
{
	assert_register("good", WIRE_ROLE_START, WIRE_REG_SI);
	assert_register("large", WIRE_ROLE_START, WIRE_REG_DX);
	assert_int_equal(plan__key_sites(plan, query("good")), 1);
}

/* A definition at the address, index first. */
TEST_CASE(a_closure_is_given_the_key_s_address)
{
	const struct plan_query *q = &plan->queries[query("captured")];

	assert_int_equal(q->key, WIRE_KEY_DEF);
	assert_true(q->key_by_address);
	assert_int_equal(q->memory.offset, 0);
	assert_int_equal(q->memory.other, 0);
	assert_int_equal(q->memory.words[0], 0);
	assert_register("captured", WIRE_ROLE_START, WIRE_REG_SI);
	assert_unknown("captured_alone", WIRE_ROLE_START);
	assert_false(plan->queries[query("good")].key_by_address);
}

TEST_CASE(half_of_an_address_is_no_index)
{
	const struct plan_query *q = &plan->queries[query("captured_only")];

	assert_int_equal(q->key, WIRE_KEY_LOCAL);
	assert_false(q->key_by_address);
	assert_int_equal(q->start_role, WIRE_ROLE_START);
	assert_unknown("captured_only", WIRE_ROLE_START);
}

TEST_CASE(code_that_contradicts_is_not_believed)
{
	assert_unknown("contradicts", WIRE_ROLE_START);
	assert_unknown("large_too", WIRE_ROLE_START);
	assert_unknown("dereferences", WIRE_ROLE_START);
	assert_unknown("silent", WIRE_ROLE_START);
	assert_unknown("wrong_wrapper", WIRE_ROLE_WRAPPER);
	assert_unknown("wrong_body", WIRE_ROLE_START_BODY);
}

TEST_CASE(a_key_that_is_overwritten_before_the_site_is_unknown)
{
	assert_unknown("overwrites", WIRE_ROLE_START);
	assert_unknown("forgetful", WIRE_ROLE_START_BODY);
}

TEST_CASE(a_wrapper_is_called_with_a_span_too)
{
	assert_register("tail", WIRE_ROLE_WRAPPER, WIRE_REG_CX);
	assert_place("tail", WIRE_ROLE_IDENTIFY, WIRE_REG_NONE, 0x38);
	/* It does not show its context; the provider proves the size of the value. */
	assert_register("trusting", WIRE_ROLE_WRAPPER, WIRE_REG_CX);
	assert_int_equal(plan__key_sites(plan, query("tail")),
			 plan->queries[query("tail")].n_start);
}

TEST_CASE(a_body_keeps_the_key)
{
	assert_place("own", WIRE_ROLE_START_BODY, WIRE_REG_NONE, 0x30);
	assert_int_equal(plan__key_sites(plan, query("own")), 2);
}

TEST_CASE(twins_must_agree_on_the_type)
{
	assert_type("twins", WIRE_KEY_UNKNOWN);
	assert_unknown("twins", WIRE_ROLE_START);
	assert_unknown("twins_too", WIRE_ROLE_START);
}

TEST_CASE(if_twins_differ_in_size_the_code_decides)
{
	assert_type("small", WIRE_KEY_DEF);
	assert_register("small", WIRE_ROLE_START, WIRE_REG_SI);
	assert_register("wide", WIRE_ROLE_START, WIRE_REG_DX);
	/* The wrapper's does not; its result fits in a register if the body's does. */
	assert_register("unsaid", WIRE_ROLE_WRAPPER, WIRE_REG_DX);
}

TEST_MAIN(setup, teardown)
