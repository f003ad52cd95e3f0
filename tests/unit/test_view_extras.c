// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/extras.h"

#include "test.h"

static void each_extra_is_a_member_of_a_row(void **state)
{
	const struct summary_row row = {.self_off_ns = 1,
					.off_ns = 2,
					.hits = 3,
					.blocked_ns = 4,
					.load_ns = 5,
					.hashing_ns = 6,
					.loaded = 7,
					.loads = 8,
					.unrecorded.counted = 9,
					.unrecorded.estimated = 10,
					.estimated_ns = 11};

	for (int i = 0; i < REPORT_N_EXTRAS; i++) {
		assert_int_equal(report_extra_of(&row, i), i + 1);
		assert_non_null(report_extras[i].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_extra_is_a_member_of_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
