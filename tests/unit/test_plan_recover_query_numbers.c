// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/query_numbers.h"

#include "test.h"

static void numbers_are_found_by_wrapper(void **state)
{
	_query_numbers_ struct query_numbers q = {0};

	assert_null(query_numbers__of(&q, 0x10));
	assert_int_equal(query_numbers__add(&q, (struct query_number){0x30, 7, -8}), 0);
	assert_int_equal(query_numbers__add(&q, (struct query_number){0x10, 9, -16}), 0);
	query_numbers__sort(&q);
	assert_int_equal(query_numbers__of(&q, 0x10)->number, 9);
	assert_int_equal(query_numbers__of(&q, 0x10)->vtable, -16);
	assert_int_equal(query_numbers__of(&q, 0x30)->number, 7);
	assert_null(query_numbers__of(&q, 0x20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_found_by_wrapper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
