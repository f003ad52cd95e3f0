// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/explained.h"

#include "test.h"

static bool take(struct explained *e, uint32_t tid, uint16_t depth, uint64_t ns)
{
	const struct trace_span s = {.tid = tid, .depth = depth, .end_ns = ns};

	return explained__take(e, &s, ns, true);
}

static void of_many_around_each_other_the_innermost_is_named(void **state)
{
	struct explained e = {};

	assert_true(take(&e, 7, 5, 100));
	for (uint16_t depth = 5; depth--;)
		assert_false(take(&e, 7, depth, 110 + 2 * (5 - depth)));
	explained__clear(&e);
}

static void an_interval_with_half_of_its_time_is_named(void **state)
{
	struct explained e = {};

	assert_true(take(&e, 7, 2, 100));
	assert_true(take(&e, 7, 1, 200));
	/* All of the one within is explained now. */
	assert_false(take(&e, 7, 0, 399));
	explained__clear(&e);
}

static void what_several_explain_together_is_explained(void **state)
{
	struct explained e = {};

	for (int i = 0; i < 6; i++)
		assert_true(take(&e, 7, 2, 100));
	assert_false(take(&e, 7, 1, 1000));
	/* 600 of it are. */
	assert_true(take(&e, 7, 0, 1200));
	explained__clear(&e);
}

static void neighbours_and_other_threads_explain_nothing(void **state)
{
	struct explained e = {};

	assert_true(take(&e, 7, 1, 100));
	assert_true(take(&e, 8, 0, 100));
	assert_true(take(&e, 7, 1, 100));
	assert_false(take(&e, 7, 0, 300));
	assert_true(take(&e, 7, 0, 300));
	explained__clear(&e);
}

/* Of an interval that is only long with the time of probes. */
static void one_that_may_not_be_named_hands_on_what_is_explained(void **state)
{
	const struct trace_span s = {.tid = 7, .depth = 1, .end_ns = 100};
	struct explained e = {};

	assert_true(take(&e, 7, 2, 100));
	assert_false(explained__take(&e, &s, 90, false));
	assert_false(take(&e, 7, 0, 150));
	explained__clear(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_many_around_each_other_the_innermost_is_named),
		cmocka_unit_test(an_interval_with_half_of_its_time_is_named),
		cmocka_unit_test(what_several_explain_together_is_explained),
		cmocka_unit_test(neighbours_and_other_threads_explain_nothing),
		cmocka_unit_test(one_that_may_not_be_named_hands_on_what_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
