// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/guard_groups.h"

#include "test.h"
#include "../fixtures/random.h"

#define N 8

static struct plan_guard blocked(uint32_t scope, uint8_t number)
{
	return (struct plan_guard){.kind = WIRE_KIND_BLOCKED, .scope = scope, .number = number};
}

static struct plan_guard activity(const char *label, uint32_t scope, uint8_t number)
{
	return (struct plan_guard){
		.kind = WIRE_KIND_ACTIVITY,
		.label = (char *)label,
		.scope = scope,
		.number = number,
	};
}

static void kinds_and_labels_are_groups(void **state)
{
	struct plan_guard guards[N] = {
		activity("a", 1, 1), blocked(1, 2),	   activity("b", 2, 1),
		activity("a", 2, 2), blocked(3, 1),	   activity(NULL, 3, 2),
		blocked(4, 1),	     activity(NULL, 5, 1),
	};
	const uint32_t expected[N] = {0, 1, 2, 0, 1, 3, 1, 3};
	const struct plan plan = {.guards = guards, .n_guards = N};
	uint32_t group_of[N];

	guards[4].label = (char *)"some query";
	assert_int_equal(guard_groups_find(&plan, group_of), 4);
	for (int i = 0; i < N; i++)
		assert_int_equal(group_of[i], expected[i]);
}

/* The probe at their end would be attached for both or for none. */
static void guards_that_share_an_end_form_one_group(void **state)
{
	struct plan_guard guards[] = {
		activity("a", 1, 1), activity("b", 2, 1), activity("c", 3, 1),
		activity("d", 2, 1), activity("d", 1, 1),
	};
	const struct plan plan = {.guards = guards, .n_guards = 5};
	uint32_t group_of[5];

	assert_int_equal(guard_groups_find(&plan, group_of), 2);
	for (int i = 0; i < 5; i++)
		assert_int_equal(group_of[i], i == 2);
}

static void a_plan_of_nothing_has_no_groups(void **state)
{
	const struct plan plan = {0};

	assert_int_equal(guard_groups_find(&plan, NULL), 0);
}

/* Related guards have one group, and the numbers of groups have no gaps. */
static void groups_are_numbered_by_their_first(void **state)
{
	static const char *const labels[] = {"a", "b", "c", "d", "e", NULL};
	struct rng rng = rng_new();

	for (int round = 0; round < 1000; round++) {
		struct plan_guard guards[N];
		const struct plan plan = {.guards = guards, .n_guards = N};
		uint32_t group_of[N], n, next = 0;

		for (int i = 0; i < N; i++)
			guards[i] = activity(labels[rng_below(&rng, 6)],
					     (uint32_t)rng_below(&rng, 6), 1);
		n = guard_groups_find(&plan, group_of);
		for (int i = 0; i < N; i++) {
			assert_true(group_of[i] <= next);
			next += group_of[i] == next;
			for (int j = 0; j < i; j++)
				if (guards_are_alike(&guards[i], &guards[j]) ||
				    guards[i].scope == guards[j].scope)
					assert_int_equal(group_of[i], group_of[j]);
		}
		assert_int_equal(n, next);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_and_labels_are_groups),
		cmocka_unit_test(guards_that_share_an_end_form_one_group),
		cmocka_unit_test(a_plan_of_nothing_has_no_groups),
		cmocka_unit_test(groups_are_numbered_by_their_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
