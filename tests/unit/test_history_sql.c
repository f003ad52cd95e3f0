// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sql.h"

#include "test.h"

static char filled[512];

static int fill(const char *sql, const struct store_value *args, size_t n)
{
	FILE *out = fmemopen(filled, sizeof(filled), "w");
	int err;

	assert_non_null(out);
	err = sql_text__fill(out, sql, args, n);
	fclose(out);
	return err;
}

TEST_CASE(values_take_the_places_of_question_marks)
{
	const struct store_value args[] = {
		{STORE_TEXT, .text = "main"},
		{STORE_INTEGER, .integer = INT64_MIN},
		{.type = STORE_NULL},
		{STORE_REAL, .real = 0.1},
	};

	assert_int_equal(fill("a = ? AND b < ? AND c = ? OR d > ?", args, 4), 0);
	assert_string_equal(filled, "a = 'main' AND b < -9223372036854775808 AND c = NULL OR d > "
				    "0.10000000000000001");
}

TEST_CASE(a_text_cannot_leave_its_quotes)
{
	const struct store_value args[] = {{STORE_TEXT, .text = "x' OR 1 -- \\"},
					   {STORE_TEXT, .text = "?"}};

	assert_int_equal(fill("a = ? AND b = ?", args, 2), 0);
	assert_string_equal(filled, "a = 'x\\' OR 1 -- \\\\' AND b = '?'");
}

TEST_CASE(question_marks_within_quotes_are_no_places)
{
	const struct store_value one = {STORE_INTEGER, .integer = 7};

	assert_int_equal(fill("'?' \"?\" `?` '\\'?' ?", &one, 1), 0);
	assert_string_equal(filled, "'?' \"?\" `?` '\\'?' 7");
	assert_int_equal(fill("'? ", NULL, 0), 0);
}

TEST_CASE(another_number_of_values_is_an_error)
{
	const struct store_value two[] = {{.type = STORE_INTEGER}, {.type = STORE_INTEGER}};

	assert_int_equal(fill("a = ?", two, 2), -EINVAL);
	assert_int_equal(fill("a = ? AND b = ?", two, 1), -EINVAL);
}

TEST_MAIN(NULL, NULL)
