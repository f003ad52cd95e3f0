// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/query_sets.h"

#include "test.h"

/* Bodies 0 and 3 belong to one group. */
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

	assert_int_equal(query_sets_find(&plan, set_of), 3);
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

	assert_int_equal(query_sets_find(&plan, &none), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_that_share_a_group_are_one_set),
		cmocka_unit_test(a_plan_of_nothing_has_no_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
