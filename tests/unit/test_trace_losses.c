// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "trace/trace.h"

static void every_cause_has_a_name_of_its_own(void **state)
{
	for (int i = 0; i < TRACE_LOSS_MAX; i++) {
		assert_true(strlen(trace_loss_text(i)) > 0);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(trace_loss_name(i), trace_loss_name(j));
	}
	assert_string_equal(trace_loss_name(TRACE_LOST_RING_FULL), "ring_full");
	assert_string_equal(trace_loss_name(TRACE_COUNT_OPEN), "open");
}

static void there_is_nothing_past_the_end(void **state)
{
	assert_null(trace_loss_name(TRACE_LOSS_MAX));
	assert_null(trace_loss_text(TRACE_LOSS_MAX));
	assert_false(trace_loss_is_lost(TRACE_LOSS_MAX));
	assert_null(trace_loss_name((enum trace_loss) - 1));
}

static void only_what_is_missing_is_lost(void **state)
{
	struct trace_losses losses;
	uint64_t expected = 0;

	for (int i = 0; i < TRACE_LOSS_MAX; i++) {
		bool lost = i <= TRACE_LOST_TARGETS_FULL || i == TRACE_LOST_UNKNOWN_PROVIDER ||
			    i == TRACE_LOST_BAD_RECORD || i == TRACE_LOST_MAPPINGS ||
			    i == TRACE_LOST_COMPILERS;

		losses.count[i] = 1u << i;
		assert_int_equal(trace_loss_is_lost(i), lost);
		expected += lost ? 1u << i : 0;
	}
	assert_int_equal(trace_losses__total(&losses), expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cause_has_a_name_of_its_own),
		cmocka_unit_test(there_is_nothing_past_the_end),
		cmocka_unit_test(only_what_is_missing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
