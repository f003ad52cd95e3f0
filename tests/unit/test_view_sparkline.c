// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "view/sparkline.h"

static char *line_of(const struct sparkline *s)
{
	return PRINTED(assert_int_equal(sparkline_print(to_, s), 0));
}

static void marks_rise_with_the_values(void **state)
{
	const double values[] = {0, 1, 2, 3, 4, 5, 6, 8};
	struct sparkline s = {.values = values, .n = 8, .columns = 80, .blocks = true};
	_free_ char *text = line_of(&s), *ascii = NULL;

	assert_string_equal(text, "▁▂▃▄▅▆▇█");
	s.blocks = false;
	ascii = line_of(&s);
	assert_string_equal(ascii, "_.-~=+*#");
}

static void unknown_values_are_blank(void **state)
{
	const double values[] = {1, -1, 2}, none[] = {-1, -1};
	struct sparkline s = {.values = values, .n = 3, .columns = 80};
	_free_ char *text = line_of(&s), *blank = NULL, *empty = NULL;

	assert_string_equal(text, "_ #");
	s.values = none;
	s.n = 2;
	blank = line_of(&s);
	assert_string_equal(blank, "  ");
	s.n = 0;
	empty = line_of(&s);
	assert_string_equal(empty, "");
}

static void small_differences_stay_small(void **state)
{
	const double values[] = {100, 101, 100}, zero[] = {0, 0};
	struct sparkline s = {.values = values, .n = 3, .columns = 80, .least = 0.1};
	_free_ char *text = line_of(&s), *zeros = NULL;

	assert_string_equal(text, "~=~");
	s.values = zero;
	s.n = 2;
	zeros = line_of(&s);
	assert_string_equal(zeros, "__");
}

static void an_outlier_does_not_flatten_the_rest(void **state)
{
	double values[40];
	struct sparkline s = {.values = values, .n = 40, .columns = 80, .least = 0.1};
	_free_ char *text = NULL;

	for (size_t i = 0; i < 40; i++)
		values[i] = i < 20 ? 100 : 110;
	values[5] = 900;
	values[30] = 0;
	text = line_of(&s);
	assert_string_equal(text, ".....#..............**********_*********");
}

static void more_values_than_columns_are_shown_by_means(void **state)
{
	double values[1000];
	struct sparkline s = {.values = values, .n = 1000, .columns = 10};
	_free_ char *text = NULL;

	for (size_t i = 0; i < 1000; i++)
		values[i] = i < 500 ? 1 : 2;
	text = line_of(&s);
	assert_string_equal(text, "_____#####");
	assert_int_equal(sparkline_column(&s, 999), 9);
	assert_int_equal(sparkline_column(&s, 499), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_rise_with_the_values),
		cmocka_unit_test(unknown_values_are_blank),
		cmocka_unit_test(small_differences_stay_small),
		cmocka_unit_test(an_outlier_does_not_flatten_the_rest),
		cmocka_unit_test(more_values_than_columns_are_shown_by_means),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
