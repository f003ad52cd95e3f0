// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/time_code.h"

#include "test.h"

static void rounding_is_as_documented(void **state)
{
	static const struct {
		uint64_t from_ns;
		uint64_t of; /* at most one part of so many */
	} steps[] = {
		{530000000, 1000}, {66000000, 500}, {8200000, 250},
		{1024000, 125},	   {128000, 62},    {0, 31},
	};

	for (uint64_t ns = 1; ns < UINT64_MAX / 20; ns = ns * 17 / 16 + 1) {
		uint64_t rounded = time_code__ns(time_code(ns));
		uint64_t off = rounded > ns ? rounded - ns : ns - rounded;
		size_t step = 0;

		while (ns < steps[step].from_ns)
			step++;
		assert_true(off <= 500 || off <= ns / steps[step].of);
		assert_int_equal(time_code__ns(time_code(rounded)), rounded);
	}
}

static void codes_grow_without_gaps(void **state)
{
	uint64_t last = 0;

	assert_int_equal(time_code(0), 0);
	for (uint32_t code = 1; time_code__ns(code) < UINT64_MAX / 4; code++) {
		uint64_t ns = time_code__ns(code);

		assert_true(ns > last);
		assert_int_equal(time_code(ns), code);
		last = ns;
	}
}

static void any_number_is_a_time_and_a_code(void **state)
{
	assert_true(time_code(UINT64_MAX) < TIME_CODE_END);
	assert_int_equal(time_code__ns(UINT32_MAX), UINT64_MAX - 1);
	assert_true(time_code__ns(time_code(UINT64_MAX - 1)) < UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounding_is_as_documented),
		cmocka_unit_test(codes_grow_without_gaps),
		cmocka_unit_test(any_number_is_a_time_and_a_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
