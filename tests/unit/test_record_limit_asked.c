// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/limit_asked.h"

#include "test.h"

static void what_is_asked_for_is_the_limit(void **state)
{
	const struct cli_record_options asked = {.budget.ppm = 20000}, none = {};

	assert_int_equal(limit_asked(&asked, false).ppm, 20000);
	assert_false(limit_asked(&asked, false).only_queries);
	assert_int_equal(limit_asked(&none, false).ppm, 250000);
	assert_true(limit_asked(&none, false).only_queries);
}

static void what_is_to_be_exact_has_no_limit(void **state)
{
	const struct cli_record_options exact = {.exact = true}, callers = {.callers = true},
					slow = {.slow_ns = 1}, none = {};

	assert_int_equal(limit_asked(&exact, false).ppm, 0);
	assert_int_equal(limit_asked(&callers, false).ppm, 0);
	assert_int_equal(limit_asked(&slow, false).ppm, 0);
	assert_int_equal(limit_asked(&none, true).ppm, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_is_the_limit),
		cmocka_unit_test(what_is_to_be_exact_has_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
