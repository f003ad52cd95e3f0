// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/visits.h"

#include "test.h"

static void a_way_is_gone_so_often(void **state)
{
	struct visits v = {.n = 0};

	for (int i = 0; i < VISITS_MAX; i++)
		assert_true(visits__add(&v, 1, 2));
	assert_false(visits__add(&v, 1, 2));
	assert_true(visits__add(&v, 2, 1));
	assert_int_equal(v.n, 2);
}

static void there_are_so_many_ways(void **state)
{
	struct visits v = {.n = 0};

	for (uint64_t i = 0; i < VISITS_WAYS; i++)
		assert_true(visits__add(&v, i, 0));
	assert_false(visits__add(&v, VISITS_WAYS, 0));
	assert_true(visits__add(&v, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_way_is_gone_so_often),
		cmocka_unit_test(there_are_so_many_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
