// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/report_rows.h"

#include "test.h"

static void each_extra_is_a_member_of_a_row(void **state)
{
	const struct summary_row row = {
		.samples.self[TRACE_SAMPLE_CPU] = {1, 2},
		.sampled_error_ns = 3,
		.samples.total[TRACE_SAMPLE_CPU] = {100, 4},
		.sampled_total_error_ns = 5,
		.sampled_max_ns = 6,
		.samples.self[TRACE_SAMPLE_OFF_CPU] = {100, 7},
		.samples.self[TRACE_SAMPLE_FAULT] = {100, 8},
		.samples.total[TRACE_SAMPLE_FAULT] = {100, 9},
		.self_off_ns = 10,
		.off_ns = 11,
		.hits = 12,
		.blocked_ns = 13,
		.load_ns = 14,
		.hashing_ns = 15,
		.loaded = 16,
		.loads = 17,
	};

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
