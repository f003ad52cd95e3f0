// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Which queries share ends. That probes come and go is tested in tests/bpf. */
#include "capture/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Bodies 0 and 3 are two places of one group. */
static struct plan_body bodies[] = {{.group = 5}, {.group = 1}, {.group = 2}, {.group = 5}};

static void queries_that_share_a_group_are_one_set(void **state)
{
	struct plan_query queries[] = {
		{.body_non_incr = 0, .body_incr = 1},
		{.body_non_incr = 2, .body_incr = PLAN_NONE},
		{.body_non_incr = 3, .body_incr = PLAN_NONE},
		{.body_non_incr = PLAN_NONE, .body_incr = PLAN_NONE},
		{.body_non_incr = PLAN_NONE, .body_incr = 1},
	};
	const struct plan plan = {
		.queries = queries, .n_queries = 5, .bodies = bodies, .n_bodies = 4};
	uint32_t set_of[5];

	(void)state;
	assert_int_equal(units_find_sets(&plan, set_of), 3);
	assert_int_equal(set_of[0], 0);
	assert_int_equal(set_of[1], 1);
	assert_int_equal(set_of[2], 0);
	assert_int_equal(set_of[3], 2);
	assert_int_equal(set_of[4], 0);
}

static void a_plan_of_nothing_has_no_sets(void **state)
{
	const struct plan plan = {0};
	uint32_t none;

	(void)state;
	assert_int_equal(units_find_sets(&plan, &none), 0);
}

static void what_tells_queries_apart_stays(void **state)
{
	struct plan_site site = {.query = 0, .body = 0};

	(void)state;
	site.role = WIRE_ROLE_START;
	assert_true(units_have(&site));
	site.role = WIRE_ROLE_END;
	assert_true(units_have(&site));
	site.role = WIRE_ROLE_IDENTIFY;
	assert_false(units_have(&site));
	site.role = WIRE_ROLE_CAUGHT;
	assert_false(units_have(&site));
	site.role = WIRE_ROLE_TIMER;
	assert_false(units_have(&site));
	site.role = WIRE_ROLE_TIMER_END;
	assert_false(units_have(&site));
}

static void guards_come_with_their_ends(void **state)
{
	static const enum wire_role roles[] = {WIRE_ROLE_GUARD, WIRE_ROLE_GUARD_QUERY,
					       WIRE_ROLE_GUARD_CALLED, WIRE_ROLE_GUARD_END};
	struct plan_site site = {.query = PLAN_NONE, .body = PLAN_NONE};

	(void)state;
	for (int i = 0; i < 4; i++) {
		site.role = roles[i];
		assert_true(units_have(&site));
	}
}

static void a_library_that_was_detached_has_nothing_to_attach(void **state)
{
	(void)state;
	assert_int_equal(units__attach(NULL, NULL, NULL, NULL), 0);
	assert_int_equal(units__set_starts(NULL, 0, true), 0);
	assert_int_equal(units__set_ends(NULL, 0, false), 0);
	assert_int_equal(units__add_group(NULL, 0), 0);
	assert_int_equal(units__sites(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_that_share_a_group_are_one_set),
		cmocka_unit_test(a_plan_of_nothing_has_no_sets),
		cmocka_unit_test(what_tells_queries_apart_stays),
		cmocka_unit_test(guards_come_with_their_ends),
		cmocka_unit_test(a_library_that_was_detached_has_nothing_to_attach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
