// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/table.h"

#include <locale.h>

#include "../fixtures/output.h"
#include "base/format.h"

static const struct table_column columns[] = {
	{"query", 0},
	{"count", 7},
	{"self", 0},
};

static struct table *table_of(const char *const *cells)
{
	struct table *t = table__new(columns, 3);

	for (; *cells; cells++)
		table__cell(t, *cells);
	return t;
}

/* All lines of a table fitted to `width`. */
static char *fitted(const char *const *cells, size_t width)
{
	struct table *t = table_of(cells);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(table__fit(t, width), 0);
	table__print_titles(t, out);
	fputc('\n', out);
	for (size_t i = 0; i < table__rows(t); i++) {
		table__print_row(t, i, out);
		fputc('\n', out);
	}
	fclose(out);
	table__free(t);
	return text;
}

static void check(const char *const *cells, size_t width, const char *expected)
{
	_free_ char *text = fitted(cells, width);

	assert_string_equal(text, expected);
}

static const char *const sample[] = {
	"typeck", "12", "1.23 ms", "codegen_fulfill_obligation", "3", "4 ns", NULL,
};

static void columns_are_as_wide_as_their_cells(void **state)
{
	check(sample, 0,
	      "query                         count     self\n"
	      "typeck                           12  1.23 ms\n"
	      "codegen_fulfill_obligation        3     4 ns\n");
}

static void a_long_name_is_cut_first(void **state)
{
	check(sample, 34,
	      "query               count     self\n"
	      "typeck                 12  1.23 ms\n"
	      "codegen_fulfil..        3     4 ns\n");
}

static void then_columns_go_from_the_right(void **state)
{
	check(sample, 24,
	      "query              count\n"
	      "typeck                12\n"
	      "codegen_fulfi..        3\n");
	check(sample, 10,
	      "query\n"
	      "typeck\n"
	      "codegen_..\n");
}

static void a_spared_column_is_dropped_first_and_names_keep_more(void **state)
{
	_table_ struct table *t = table_of(sample);
	_free_ char *text = NULL;

	table__spare(t, "none");
	table__spare(t, "count");
	table__keep_of_name(t, 20);
	text = printed_text(table__print_within(t, out, 34, "--all") ?:
			    table__print_within(t, out, 20, "--all") ?:
			    table__print_within(t, out, 0, "--all"));
	assert_string_equal(text, "query                         self\n"
				  "typeck                     1.23 ms\n"
				  "codegen_fulfill_obligat..     4 ns\n"
				  "  hidden column: count (--all)\n"
				  "query\n"
				  "typeck\n"
				  "codegen_fulfill_ob..\n"
				  "  hidden columns: count, self (--all)\n"
				  "query                         count     self\n"
				  "typeck                           12  1.23 ms\n"
				  "codegen_fulfill_obligation        3     4 ns\n");
}

static void no_line_is_wider_than_asked(void **state)
{
	for (size_t width = 1; width < 60; width++) {
		char *text = fitted(sample, width);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(format_width(line) <= width);
		free(text);
	}
}

static void wide_characters_keep_columns_straight(void **state)
{
	static const char *const cells[] = {
		"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc"
		"\xa2\xe5\xad\x97",
		"1",
		"2",
		"x",
		"3",
		"4",
		NULL,
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	/* The name has 13 columns: five wide characters, the mark, and one unused. */
	check(cells, 28,
	      "query            count  self\n"
	      "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2..         1     2\n"
	      "x                    3     4\n");
}

static void cells_are_cleaned(void **state)
{
	static const char *const cells[] = {"a\033b\n", "1", "2", NULL};

	check(cells, 0,
	      "query    count  self\n"
	      "a?b?         1     2\n");
}

static void printing_indents_every_line(void **state)
{
	_table_ struct table *t = table_of(sample);
	_free_ char *text = printed_text(table__print(t, out, "  "));

	assert_contains(text, "  query ");
	assert_contains(text, "\n  typeck ");
	table__free(NULL);
}

static void a_long_name_can_stand_last(void **state)
{
	static const char *const cells[] = {"7", "1234567890", "a name", "100", "2", "b", NULL};
	_table_ struct table *t = table_of(cells);
	_free_ char *text = NULL, *narrow = NULL;

	table__name_last(t);
	text = printed_text(table__print(t, out, "| "));
	assert_string_equal(text, "| query       count  self\n"
				  "|     7  1234567890  a name\n"
				  "|   100           2  b\n");
	table__keep_of_name(t, 4);
	narrow = printed_text(table__print_within(t, out, 12, "-w"));
	assert_string_equal(narrow, "query  self\n"
				    "    7  a n..\n"
				    "  100  b\n"
				    "  hidden column: count (-w)\n");
}

static void a_table_without_memory_fails_when_it_is_fitted(void **state)
{
	table__name_last(NULL);
	table__keep_of_name(NULL, 20);
	table__spare(NULL, "count");
	table__cell(NULL, "typeck");
	table__cellf(NULL, "%d", 12);
	assert_int_equal(table__rows(NULL), 0);
	assert_int_equal(table__fit(NULL, 0), -ENOMEM);
	assert_int_equal(table__print_within(NULL, stdout, 0, "--all"), -ENOMEM);
	table__free(NULL);
}

static void a_path_loses_its_beginning(void **state)
{
	static const char *const cells[] = {
		"app::shapes::area", "1", "2 ns", "app", "1", "2 ns", NULL,
	};
	struct table *t = table_of(cells);
	_free_ char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	table__cut_beginnings(t);
	assert_int_equal(table__fit(t, 28), 0);
	for (size_t i = 0; i < table__rows(t); i++) {
		table__print_row(t, i, out);
		fputc('\n', out);
	}
	assert_int_equal(table__print_within(t, out, 28, "-w"), 0);
	assert_int_equal(table__print_within(t, out, 22, "-w"), 0);
	assert_int_equal(table__print_within(t, out, 0, "-w"), 0);
	fclose(out);
	assert_string_equal(text, "..hapes::area        1  2 ns\n"
				  "app                  1  2 ns\n"
				  "query            count  self\n"
				  "..hapes::area        1  2 ns\n"
				  "app                  1  2 ns\n"
				  "  some names are cut (-w)\n"
				  "query            count\n"
				  "..hapes::area        1\n"
				  "app                  1\n"
				  "  hidden column: self; some names are cut (-w)\n"
				  "query                count  self\n"
				  "app::shapes::area        1  2 ns\n"
				  "app                      1  2 ns\n");
	table__free(t);
}

/* ---- Wrap ------------------------------------------------------------------------------------ */

static void wrap_check(const char *text, size_t width, size_t indent, const char *expected)
{
	_free_ char *wrapped = printed_text((wrap_print(out, text, 0, width, indent), 0));

	assert_string_equal(wrapped, expected);
}

static void words_stay_whole(void **state)
{
	wrap_check("one two three", 7, 2, "one two\n  three\n");
	wrap_check("one two three", 0, 2, "one two three\n");
	wrap_check("one two three", 13, 0, "one two three\n");
	wrap_check("one two three", 12, 0, "one two\nthree\n");
}

static void a_long_word_stands_alone(void **state)
{
	wrap_check("a /usr/lib/x.so b", 5, 1, "a\n /usr/lib/x.so\n b\n");
	wrap_check("/usr/lib/x.so", 5, 1, "/usr/lib/x.so\n");
}

static void blanks_are_kept_but_where_a_line_ends(void **state)
{
	wrap_check("  ok      a: b c", 14, 10, "  ok      a: b\n          c\n");
	wrap_check("", 5, 1, "\n");
	wrap_check("a ", 5, 1, "a \n");
}

static void a_line_may_have_begun(void **state)
{
	_free_ char *wrapped = printed_text((wrap_print(out, "a bc d", 8, 10, 1), 0));

	assert_string_equal(wrapped, "a\n bc d\n");
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static void assert_code(const char *text, const char *expected)
{
	_free_ char *printed = printed_text(markdown_code(out, text));

	assert_string_equal(printed, expected);
}

static void nothing_ends_the_cell_or_the_span(void **state)
{
	assert_code("a/typeck", "`a/typeck`");
	assert_code("a|b`c\nd", "`a\\|b'c?d`");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_loses_its_beginning),
		cmocka_unit_test(columns_are_as_wide_as_their_cells),
		cmocka_unit_test(a_long_name_is_cut_first),
		cmocka_unit_test(then_columns_go_from_the_right),
		cmocka_unit_test(a_spared_column_is_dropped_first_and_names_keep_more),
		cmocka_unit_test(no_line_is_wider_than_asked),
		cmocka_unit_test(wide_characters_keep_columns_straight),
		cmocka_unit_test(cells_are_cleaned),
		cmocka_unit_test(printing_indents_every_line),
		cmocka_unit_test(a_long_name_can_stand_last),
		cmocka_unit_test(a_table_without_memory_fails_when_it_is_fitted),
		cmocka_unit_test(words_stay_whole),
		cmocka_unit_test(a_long_word_stands_alone),
		cmocka_unit_test(a_line_may_have_begun),
		cmocka_unit_test(blanks_are_kept_but_where_a_line_ends),
		cmocka_unit_test(nothing_ends_the_cell_or_the_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
