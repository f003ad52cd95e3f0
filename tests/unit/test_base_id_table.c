// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/id_table.h"

#include "test.h"
#include "../fixtures/random.h"

static void an_empty_table_holds_nothing(void **state)
{
	struct id_table t = {0};

	assert_true(id_table__get(&t, 0) == ID_TABLE_NONE);
	assert_true(id_table__get(&t, UINT32_MAX) == ID_TABLE_NONE);
	assert_true(id_table__next(&t, 0) == ID_TABLE_NONE);
	id_table__destroy(&t);
}

static void the_last_value_holds(void **state)
{
	struct rng rng = rng_new();
	struct id_table t = {0};
	static uint32_t model[20000];

	for (uint32_t i = 0; i < 20000; i++)
		model[i] = ID_TABLE_NONE;
	for (int i = 0; i < 50000; i++) {
		uint32_t id = rng_below(&rng, 20000);

		model[id] = rng_below(&rng, ID_TABLE_NONE);
		assert_int_equal(id_table__put(&t, id, model[id]), 0);
	}
	for (uint32_t i = 0; i < 20000; i++)
		assert_true(id_table__get(&t, i) == model[i]);
	assert_true(id_table__get(&t, 1u << 31) == ID_TABLE_NONE);
	id_table__destroy(&t);
}

static void all_that_have_a_value_are_met_in_order(void **state)
{
	static const uint32_t ids[] = {3, 4, 4095, 4096, 50000, 3u << 30};
	struct id_table t = {0};
	uint32_t next = 0;

	for (size_t i = 0; i < N_OF(ids); i++)
		assert_int_equal(id_table__put(&t, ids[i], 7), 0);
	for (size_t i = 0; i < N_OF(ids); i++) {
		assert_true(id_table__next(&t, next) == ids[i]);
		next = ids[i] + 1;
	}
	assert_true(id_table__next(&t, next) == ID_TABLE_NONE);
	id_table__destroy(&t);
}

static void the_greatest_id_is_one_too(void **state)
{
	struct id_table t = {0};

	assert_int_equal(id_table__put(&t, UINT32_MAX, 5), 0);
	assert_int_equal(id_table__get(&t, UINT32_MAX), 5);
	assert_true(id_table__get(&t, UINT32_MAX - 1) == ID_TABLE_NONE);
	assert_int_equal(id_table__put(&t, 0, 6), 0);
	assert_int_equal(id_table__get(&t, 0), 6);
	id_table__destroy(&t);
	assert_true(id_table__get(&t, 0) == ID_TABLE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_holds_nothing),
		cmocka_unit_test(the_last_value_holds),
		cmocka_unit_test(all_that_have_a_value_are_met_in_order),
		cmocka_unit_test(the_greatest_id_is_one_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
