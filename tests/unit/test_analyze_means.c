// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/means.h"

#include "test.h"

static void set(struct means *m, const struct mean *parts, size_t n)
{
	struct mean *copy = calloc(n, sizeof(*copy));

	for (size_t i = 0; i < n; i++)
		copy[i] = parts[i];
	means__set(m, copy, n);
}

static void parts_of_one_label_are_added_up(void **state)
{
	static const struct mean parts[] = {{7, 1, 10}, {3, 1, 1000}, {7, 2, 5}, {9, 0, 0}};
	struct means m = {0};

	assert_int_equal(means__estimate(&m, 7, 100), 0);
	set(&m, parts, 4);
	/* 15 ns in 3 executions. */
	assert_int_equal(means__estimate(&m, 7, 100), 500);
	assert_int_equal(means__estimate(&m, 3, 2), 2000);
	/* Label 9 has no recorded execution, and label 8 is unknown. */
	assert_int_equal(means__estimate(&m, 9, 100), 0);
	assert_int_equal(means__estimate(&m, 8, 100), 0);
	set(&m, parts, 1);
	assert_int_equal(means__estimate(&m, 7, 100), 1000);
	assert_int_equal(means__estimate(&m, 3, 2), 0);
	means__destroy(&m);
}

static void short_ones_are_not_rounded_and_long_ones_end(void **state)
{
	static const struct mean parts[] = {{1, 1000, 1999}, {2, 1, UINT64_MAX}};
	struct means m = {0};

	set(&m, parts, 2);
	assert_int_equal(means__estimate(&m, 1, 1000000), 1999000);
	assert_true(means__estimate(&m, 2, UINT64_MAX) == UINT64_MAX);
	means__destroy(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_one_label_are_added_up),
		cmocka_unit_test(short_ones_are_not_rounded_and_long_ones_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
