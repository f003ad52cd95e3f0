// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/extras.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void each_extra_is_a_member_of_a_row(void **state)
{
	const struct summary_row row = {.hits = 1,
					.blocked_ns = 2,
					.load_ns = 3,
					.hashing_ns = 4,
					.loaded = 5,
					.loads = 6,
					.counted = 7,
					.estimated = 8,
					.estimated_ns = 9};

	(void)state;
	for (int i = 0; i < REPORT_N_EXTRAS; i++) {
		assert_int_equal(report_extra_of(&row, i), i + 1);
		assert_non_null(report_extras[i].key);
	}
	assert_int_equal(report_extra_of(&row, REPORT_N_EXTRAS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_extra_is_a_member_of_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
