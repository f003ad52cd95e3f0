// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/table.h"

#include "test.h"

struct item {
	uint64_t key;
	uint32_t count;
};

static void an_item_is_added_once_with_its_initialisers(void **state)
{
	TABLE(struct item) t = {0};

	assert_null(table__find(&t, 7));
	table__get(&t, 7, .key = 7, .count = 5)->count++;
	table__get(&t, 7, .key = 8, .count = 50)->count++;
	assert_int_equal(t.n, 1);
	assert_int_equal(t.at[0].key, 7);
	assert_int_equal(t.at[0].count, 7);
	assert_int_equal(table__get(&t, UINT64_MAX)->count, 0);
	assert_int_equal(t.n, 2);
	table__destroy(&t);
	assert_int_equal(t.n, 0);
	assert_null(table__find(&t, 7));
}

static void items_keep_their_order_and_are_found_again(void **state)
{
	TABLE(struct item) t = {0};

	for (uint64_t i = 0; i < 10000; i++)
		assert_non_null(table__get(&t, i << 32 | (i ^ 5), .key = i));
	assert_int_equal(t.n, 10000);
	for (uint64_t i = 10000; i-- > 0;) {
		assert_int_equal(t.at[i].key, i);
		assert_ptr_equal(table__find(&t, i << 32 | (i ^ 5)), &t.at[i]);
		assert_ptr_equal(table__get(&t, i << 32 | (i ^ 5)), &t.at[i]);
	}
	assert_null(table__find(&t, 3));
	assert_int_equal(t.n, 10000);
	table__destroy(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_is_added_once_with_its_initialisers),
		cmocka_unit_test(items_keep_their_order_and_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
