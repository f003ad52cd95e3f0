// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_frames.h"

#include "test.h"

static void a_name_has_one_frame(void **state)
{
	struct flame_frames f = {0};
	uint32_t first = flame_frames__named(&f, 1, "parse_crate", 5);
	uint32_t second = flame_frames__named(&f, 2, "typeck", 6);

	assert_int_not_equal(first, second);
	assert_int_equal(flame_frames__named(&f, 1, "parse", 5), first);
	assert_string_equal(flame_frames__name(&f, first), "parse");
	assert_string_equal(flame_frames__name(&f, second), "typeck");
	/* Each is the first of its own: they share no probe costs. */
	assert_int_equal(f.all.at[first].query, first);
	assert_int_equal(f.all.at[second].query, second);
	flame_frames__destroy(&f);
}

static void spans_of_one_label_share_its_first_frame(void **state)
{
	const struct export_job job = {0};
	struct flame_frames f = {.job = &job};
	struct trace_span s = {.kind = TRACE_KIND_QUERY, .label = 7};
	uint32_t query, again, activity, other;

	assert_int_equal(flame_frames__of(&f, &s, &query), 0);
	assert_int_equal(flame_frames__of(&f, &s, &again), 0);
	s.kind = TRACE_KIND_ACTIVITY;
	assert_int_equal(flame_frames__of(&f, &s, &activity), 0);
	s.label = 8;
	assert_int_equal(flame_frames__of(&f, &s, &other), 0);
	assert_int_equal(again, query);
	assert_int_not_equal(activity, query);
	assert_int_equal(f.all.at[activity].query, query);
	assert_int_equal(f.all.at[other].query, other);
	flame_frames__destroy(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_has_one_frame),
		cmocka_unit_test(spans_of_one_label_share_its_first_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
