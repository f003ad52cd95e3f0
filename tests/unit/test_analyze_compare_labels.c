// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_labels.h"

#include "test.h"

TEST_CASE(a_text_has_one_number)
{
	struct compare_labels l = {};
	uint32_t a, b, again;

	assert_int_equal(compare_labels__id(&l, "a", &a), 0);
	assert_int_equal(compare_labels__id(&l, "b", &b), 0);
	assert_int_equal(compare_labels__id(&l, "a", &again), 0);
	assert_int_equal(a, again);
	assert_int_not_equal(a, b);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.texts[b], "b");
	compare_labels__clear(&l);
}

static const char *name(const void *ctx, uint32_t id)
{
	return id == 1 ? "check" : NULL;
}

TEST_CASE(a_query_and_an_activity_of_one_name_have_two)
{
	const struct trace_texts names = {.text = name};
	const struct summary_row query = {.label = 1}, activity = {.label = 1, .is_activity = true};
	struct compare_labels l = {};
	uint32_t plain, of_query, of_activity;

	assert_int_equal(compare_labels__id(&l, "check", &plain), 0);
	assert_int_equal(compare_labels__of_row(&l, &query, &names, &of_query), 0);
	assert_int_equal(compare_labels__of_row(&l, &activity, &names, &of_activity), 0);
	assert_int_equal(plain, of_query);
	assert_int_not_equal(plain, of_activity);
	assert_string_equal(l.texts[of_activity], "check");
	compare_labels__clear(&l);
}

TEST_MAIN(NULL, NULL)
