// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/tab_separated.h"

#include "test.h"

static char seen[1024];
static int wanted; /* what the row function returns */

static int note(void *ctx, const struct store_value *cells, size_t n)
{
	size_t len = strlen(seen);

	for (size_t i = 0; i < n; i++) {
		char *at = seen + len;
		size_t room = sizeof(seen) - len;

		if (cells[i].type == STORE_TEXT)
			len += (size_t)snprintf(at, room, "[%s]", cells[i].text);
		else if (cells[i].type == STORE_INTEGER)
			len += (size_t)snprintf(at, room, "%lld;", (long long)cells[i].integer);
		else if (cells[i].type == STORE_REAL)
			len += (size_t)snprintf(at, room, "%g;", cells[i].real);
		else
			len += (size_t)snprintf(at, room, "null;");
	}
	return wanted;
}

/* Parse in pieces of so many bytes. */
static int parse_in(const char *text, size_t len, size_t piece)
{
	_tab_separated_ struct tab_separated t = {.row = note};
	int err = 0;

	*seen = '\0';
	for (size_t at = 0; !err && at < len; at += piece)
		err = tab_separated__take(&t, text + at, piece < len - at ? piece : len - at);
	return err ? err : tab_separated__end(&t);
}

static int parse(const char *text)
{
	return parse_in(text, strlen(text), strlen(text));
}

TEST_CASE(rows_come_with_their_types)
{
	static const char text[] =
		"a\tb\tc\td\n"
		"UUID\tNullable(Int64)\tFloat64\tLowCardinality(Nullable(String))\n"
		"x\t-5\t0.5\t\\\\ \\t\\n\\'\n"
		"\t\\N\tnan\t\\N\n"
		"y\t9007199254740993\t1e3\t\n";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		assert_int_equal(parse_in(text, sizeof(text) - 1, piece), 0);
		assert_string_equal(seen, "[x]-5;0.5;[\\ \t\n'][]null;nan;null;"
					  "[y]9007199254740993;1000;[]");
	}
}

TEST_CASE(no_rows_are_an_answer_too)
{
	assert_int_equal(parse("a\nUInt8\n"), 0);
	assert_string_equal(seen, "");
}

TEST_CASE(an_unsigned_number_may_be_too_large)
{
	assert_int_equal(parse("a\nUInt64\n18446744073709551615\n"), 0);
	assert_string_equal(seen, "1.84467e+19;");
}

TEST_CASE(half_an_answer_is_an_error)
{
	assert_int_equal(parse(""), -EPROTO);
	assert_int_equal(parse("a\n"), -EPROTO);
	assert_int_equal(parse("a\nUInt8"), -EPROTO);
	assert_int_equal(parse("a\nUInt8\n1\n2"), -EPROTO);
}

TEST_CASE(another_format_is_an_error)
{
	static const char null_byte[] = "a\nString\nx\0y\n";

	assert_int_equal(parse("a\tb\nUInt8\tUInt8\n1\n"), -EPROTO);
	assert_int_equal(parse("a\nUInt8\n1\t2\n"), -EPROTO);
	assert_int_equal(parse("a\nUInt8\n<html>\n"), -EPROTO);
	assert_int_equal(parse("a\nUInt8\n\n"), -EPROTO);
	assert_int_equal(parse_in(null_byte, sizeof(null_byte) - 1, 4), -EPROTO);
}

TEST_CASE(lines_and_rows_are_bounded)
{
	char many[2 * TAB_SEPARATED_CELLS_MAX + 8] = "a\n";
	size_t n = TAB_SEPARATED_LINE_MAX + 2;
	char *one = malloc(n);

	for (size_t i = 0; i <= TAB_SEPARATED_CELLS_MAX; i++)
		strcat(many, "\t");
	assert_int_equal(parse(strcat(many, "\n")), -EPROTO);
	assert_non_null(one);
	memset(one, 'x', n);
	assert_int_equal(parse_in(one, n, 4096), -EPROTO);
	free(one);
}

TEST_CASE(the_row_function_ends_the_answer)
{
	wanted = 5;
	assert_int_equal(parse("a\nUInt8\n1\n2\n"), 5);
	assert_string_equal(seen, "1;");
	wanted = 0;
}

TEST_MAIN(NULL, NULL)
