// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/probes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../fixtures/random.h"

/* Offsets at the ends of what a cookie can hold, in bytes. */
#define SP_DELTA_LEAST (-8 * 2048)
#define SP_DELTA_MOST  (8 * 2047)
#define VTABLE_MOST    (8 * 4095)
#define ID_SLOT_MOST   (4 * 65534)
#define VT_SLOT_MOST   (8 * 65534)

static struct plan_body bodies[] = {{.group = 7}, {.group = 0}, {.group = 0xfffe}};
static struct plan_query queries[] = {
	{.provider = 0x5000, .start_role = WIRE_ROLE_WRAPPER, .body_non_incr = 0, .body_incr = 1},
	{.provider = 0x100, .start_role = WIRE_ROLE_WRAPPER, .body_non_incr = 2, .body_incr = 1},
	{.provider = 0x7000, .start_role = WIRE_ROLE_START, .body_non_incr = 0, .body_incr = 1},
};
static struct plan_site sites[4];
static const struct plan plan = {
	.bodies = bodies,
	.n_bodies = 3,
	.queries = queries,
	.n_queries = 3,
	.sites = sites,
	.n_sites = 4,
};

static uint64_t cookie_of(struct plan_site site, uint32_t at, uint8_t lib)
{
	sites[at] = site;
	return probes_cookie(&plan, &sites[at], lib, false);
}

static void every_field_comes_back(void **state)
{
	static const uint8_t roles[] = {WIRE_ROLE_START, WIRE_ROLE_START_BODY, WIRE_ROLE_WRAPPER};
	static const int deltas[] = {0, 8, -8, 16, 400, SP_DELTA_LEAST, SP_DELTA_MOST};

	(void)state;
	for (size_t r = 0; r < sizeof(roles); r++)
		for (size_t d = 0; d < sizeof(deltas) / sizeof(*deltas); d++) {
			uint64_t c = cookie_of((struct plan_site){.role = roles[r],
								  .query = 0xfffe,
								  .body = 2,
								  .reg = WIRE_REG_NONE,
								  .slot = PLAN_NO_SLOT,
								  .sp_delta = deltas[d]},
					       1, 254);

			assert_int_equal(wire_cookie_role(c), roles[r]);
			assert_int_equal(wire_cookie_lib(c), 254);
			assert_int_equal(wire_cookie_query(c), 0xfffe);
			assert_int_equal(wire_cookie_group(c), 0xfffe);
			assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
			assert_int_equal(wire_cookie_sp_delta(c), deltas[d]);
		}
}

static void the_fields_do_not_touch(void **state)
{
	struct rng rng = rng_new();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint32_t role = rng_below(&rng, 16), lib = rng_below(&rng, 256);
		uint32_t query = rng_below(&rng, 65536), group = rng_below(&rng, 65536);
		uint32_t reg = rng_below(&rng, 256);
		int delta = 8 * ((int)rng_below(&rng, 4096) - 2048);
		uint64_t c = wire_cookie(role, lib, query, group, reg, delta);

		assert_int_equal(wire_cookie_role(c), role);
		assert_int_equal(wire_cookie_lib(c), lib);
		assert_int_equal(wire_cookie_query(c), query);
		assert_int_equal(wire_cookie_group(c), group);
		assert_int_equal(wire_cookie_reg(c), reg);
		assert_int_equal(wire_cookie_sp_delta(c), delta);
	}
}

static void a_request_says_where_it_is_and_where_its_caller_is(void **state)
{
	struct plan_site request = {.role = WIRE_ROLE_REQUEST,
				    .query = 0xfffe,
				    .addr = 0xfedcba98,
				    .body = PLAN_NONE,
				    .slot = 8 * 15};
	struct plan_site wrapper = {.role = WIRE_ROLE_WRAPPER,
				    .query = 0xfffe,
				    .addr = 0xfedcba98,
				    .slot = PLAN_NO_SLOT,
				    .sp_delta = 8 * 15};
	uint64_t c = cookie_of(request, 1, 254);

	(void)state;
	assert_int_equal(wire_cookie_role(c), WIRE_ROLE_REQUEST);
	assert_int_equal(wire_cookie_lib(c), 254);
	assert_int_equal(wire_cookie_query(c), 0xfffe);
	assert_int_equal(wire_cookie_request_addr(c), 0xfedcba98);
	assert_int_equal(wire_cookie_request_slot(c), 15);
	/* The start at a wrapper becomes one with callers, and only then. */
	sites[2] = wrapper;
	assert_true(probes_cookie(&plan, &sites[2], 254, true) == c);
	assert_int_equal(wire_cookie_sp_delta(probes_cookie(&plan, &sites[2], 254, false)), 8 * 15);
}

/* The frames of both modes, and the group only where a query starts at its wrapper. */
static void the_wrappers_of_a_query_tell_how_far_its_bodies_are(void **state)
{
	struct wire_wrappers w;

	(void)state;
	memset(sites, 0, sizeof(sites));
	sites[0] = (struct plan_site){.role = WIRE_ROLE_WRAPPER, .query = 1, .body = 0};
	sites[1] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 1, .body = 1, .slot = 16, .sp_delta = -400};
	sites[2] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 2, .body = 0, .slot = 0, .sp_delta = -600};
	sites[3] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 2, .body = 1, .slot = 0, .sp_delta = -800};
	assert_true(probes_wrappers(&plan, 1, &w));
	assert_int_equal(w.group, 7);
	assert_int_equal(w.reach[0], 424);
	assert_int_equal(w.reach[1], 0);
	assert_true(probes_wrappers(&plan, 2, &w));
	assert_int_equal(w.group, WIRE_NO_GROUP);
	assert_int_equal(w.reach[0], 608);
	assert_int_equal(w.reach[1], 808);
	assert_false(probes_wrappers(&plan, 0, &w));
}

static void a_site_of_no_query_and_no_body_says_so(void **state)
{
	uint64_t c = cookie_of((struct plan_site){.role = WIRE_ROLE_CAUGHT,
						  .query = PLAN_NONE,
						  .body = PLAN_NONE,
						  .reg = WIRE_REG_NONE,
						  .slot = PLAN_NO_SLOT},
			       0, 0);

	(void)state;
	assert_int_equal(wire_cookie_role(c), WIRE_ROLE_CAUGHT);
	assert_int_equal(wire_cookie_query(c), WIRE_NO_QUERY);
	assert_int_equal(wire_cookie_group(c), WIRE_NO_GROUP);
	assert_int_equal(wire_cookie_sp_delta(c), 0);
}

static uint64_t end_cookie(uint8_t reg, int32_t slot)
{
	return cookie_of((struct plan_site){.role = WIRE_ROLE_END,
					    .query = PLAN_NONE,
					    .body = 0,
					    .reg = reg,
					    .slot = slot},
			 3, 9);
}

static void an_end_says_where_the_invocation_id_is(void **state)
{
	uint64_t c = end_cookie(WIRE_REG_R14, PLAN_NO_SLOT);

	(void)state;
	assert_int_equal(wire_cookie_role(c), WIRE_ROLE_END);
	assert_int_equal(wire_cookie_group(c), 7);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_R14);
	assert_int_equal(wire_cookie_query(c), WIRE_NO_SLOT);
	c = end_cookie(WIRE_REG_NONE, 0);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
	assert_int_equal(4 * wire_cookie_query(c), 0);
	assert_int_equal(4 * wire_cookie_query(end_cookie(WIRE_REG_NONE, 0x54)), 0x54);
	assert_int_equal(4 * wire_cookie_query(end_cookie(WIRE_REG_NONE, ID_SLOT_MOST)),
			 ID_SLOT_MOST);
	c = end_cookie(WIRE_REG_NONE, PLAN_NO_SLOT);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
	assert_int_equal(wire_cookie_query(c), WIRE_NO_SLOT);
}

static uint64_t identify_cookie(uint8_t reg, int32_t slot, int32_t vtable_offset)
{
	return cookie_of((struct plan_site){.role = WIRE_ROLE_IDENTIFY,
					    .query = PLAN_NONE,
					    .body = 1,
					    .reg = reg,
					    .slot = slot,
					    .vtable_offset = vtable_offset},
			 2, 255);
}

static void identify_says_where_the_vtable_is_and_what_is_in_it(void **state)
{
	static const int offsets[] = {0, 8, 0x18, 8 * 2047, 8 * 2048, VTABLE_MOST};
	uint64_t c;

	(void)state;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		c = identify_cookie(WIRE_REG_R12, PLAN_NO_SLOT, offsets[i]);
		assert_int_equal(wire_cookie_role(c), WIRE_ROLE_IDENTIFY);
		assert_int_equal(wire_cookie_lib(c), 255);
		assert_int_equal(wire_cookie_query(c), 2); /* the site's number */
		assert_int_equal(wire_cookie_reg(c), WIRE_REG_R12);
		assert_int_equal(wire_cookie_vtable_offset(c), offsets[i]);
		c = identify_cookie(WIRE_REG_NONE, VT_SLOT_MOST, offsets[i]);
		assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
		assert_int_equal(8 * wire_cookie_group(c), VT_SLOT_MOST);
		assert_int_equal(wire_cookie_vtable_offset(c), offsets[i]);
	}
	c = identify_cookie(WIRE_REG_NONE, 0, 8);
	assert_int_equal(wire_cookie_group(c), 0);
}

static void providers_are_found_by_their_distance(void **state)
{
	struct wire_provider_key key;
	struct wire_provider value;

	(void)state;
	sites[2] = (struct plan_site){.role = WIRE_ROLE_IDENTIFY, .body = 1, .addr = 0x4ff0};
	assert_true(probes_provider(&plan, &sites[2], 0, 3, &key, &value));
	assert_int_equal(key.distance, 0x10);
	assert_int_equal(key.site, 2);
	assert_int_equal(key.lib, 3);
	assert_int_equal(value.query, 0);
	assert_int_equal(value.group, 0);
	/* A provider below the site: the distance wraps, as the kernel half's does. */
	assert_true(probes_provider(&plan, &sites[2], 1, 3, &key, &value));
	assert_int_equal(key.distance, (uint32_t)(0x100 - 0x4ff0));
	assert_int_equal(value.query, 1);
	/* One that is seen to start by itself is known, and not started again. */
	assert_true(probes_provider(&plan, &sites[2], 2, 3, &key, &value));
	assert_int_equal(key.distance, 0x7000 - 0x4ff0);
	assert_int_equal(value.query, WIRE_NO_QUERY);
}

static void a_body_serves_its_own_queries_only(void **state)
{
	struct wire_provider_key key;
	struct wire_provider value;

	(void)state;
	sites[1] = (struct plan_site){.role = WIRE_ROLE_IDENTIFY, .body = 2, .addr = 0x10};
	assert_false(probes_provider(&plan, &sites[1], 0, 0, &key, &value));
	assert_true(probes_provider(&plan, &sites[1], 1, 0, &key, &value));
	assert_int_equal(value.group, 0xfffe);
	assert_false(probes_provider(&plan, &sites[1], 2, 0, &key, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_comes_back),
		cmocka_unit_test(the_fields_do_not_touch),
		cmocka_unit_test(a_request_says_where_it_is_and_where_its_caller_is),
		cmocka_unit_test(the_wrappers_of_a_query_tell_how_far_its_bodies_are),
		cmocka_unit_test(a_site_of_no_query_and_no_body_says_so),
		cmocka_unit_test(an_end_says_where_the_invocation_id_is),
		cmocka_unit_test(identify_says_where_the_vtable_is_and_what_is_in_it),
		cmocka_unit_test(providers_are_found_by_their_distance),
		cmocka_unit_test(a_body_serves_its_own_queries_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
