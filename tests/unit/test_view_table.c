// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/table.h"
#include "view/sparkline.h"
#include "view/screen.h"

#include <locale.h>

#include "../fixtures/output.h"
#include "../fixtures/terminal.h"
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

TEST_CASE(columns_are_as_wide_as_their_cells)
{
	check(sample, 0,
	      "query                         count     self\n"
	      "typeck                           12  1.23 ms\n"
	      "codegen_fulfill_obligation        3     4 ns\n");
}

TEST_CASE(a_long_name_is_cut_first)
{
	check(sample, 34,
	      "query               count     self\n"
	      "typeck                 12  1.23 ms\n"
	      "codegen_fulfil..        3     4 ns\n");
}

TEST_CASE(then_columns_go_from_the_right)
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

TEST_CASE(a_spared_column_is_dropped_first_and_names_keep_more)
{
	_table_ struct table *t = table_of(sample);
	_free_ char *text = NULL;

	table__spare(t, "none");
	table__spare(t, "count");
	table__keep_of_name(t, 20);
	text = printed_text(table__print(t, out, "", 34, "--all") ?:
			    table__print(t, out, "", 20, "--all") ?:
			    table__print(t, out, "", 0, "--all"));
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

TEST_CASE(no_line_is_wider_than_asked)
{
	for (size_t width = 1; width < 60; width++) {
		char *text = fitted(sample, width);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(format_width(line) <= width);
		free(text);
	}
}

TEST_CASE(wide_characters_keep_columns_straight)
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

TEST_CASE(cells_are_cleaned)
{
	static const char *const cells[] = {"a\033b\n", "1", "2", NULL};

	check(cells, 0,
	      "query    count  self\n"
	      "a?b?         1     2\n");
}

TEST_CASE(printing_indents_every_line)
{
	_table_ struct table *t = table_of(sample);
	_free_ char *text = printed_text(table__print(t, out, "  ", 0, NULL));

	assert_contains(text, "  query ");
	assert_contains(text, "\n  typeck ");
	table__free(NULL);
}

TEST_CASE(a_long_name_can_stand_last)
{
	static const char *const cells[] = {"7", "1234567890", "a name", "100", "2", "b", NULL};
	_table_ struct table *t = table_of(cells);
	_free_ char *text = NULL, *narrow = NULL;

	table__name_last(t);
	text = printed_text(table__print(t, out, "| ", 0, NULL));
	assert_string_equal(text, "| query       count  self\n"
				  "|     7  1234567890  a name\n"
				  "|   100           2  b\n");
	table__keep_of_name(t, 4);
	narrow = printed_text(table__print(t, out, "", 12, "-w"));
	assert_string_equal(narrow, "query  self\n"
				    "    7  a n..\n"
				    "  100  b\n"
				    "  hidden column: count (-w)\n");
}

TEST_CASE(a_table_without_memory_fails_when_it_is_fitted)
{
	table__name_last(NULL);
	table__keep_of_name(NULL, 20);
	table__spare(NULL, "count");
	table__cell(NULL, "typeck");
	assert_int_equal(table__rows(NULL), 0);
	assert_int_equal(table__fit(NULL, 0), -ENOMEM);
	assert_int_equal(table__print(NULL, stdout, "", 0, "--all"), -ENOMEM);
	table__free(NULL);
}

TEST_CASE(a_path_loses_its_beginning)
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
	assert_int_equal(table__print(t, out, "", 28, "-w"), 0);
	assert_int_equal(table__print(t, out, "", 22, "-w"), 0);
	assert_int_equal(table__print(t, out, "", 0, "-w"), 0);
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

TEST_CASE(words_stay_whole)
{
	wrap_check("one two three", 7, 2, "one two\n  three\n");
	wrap_check("one two three", 0, 2, "one two three\n");
	wrap_check("one two three", 13, 0, "one two three\n");
	wrap_check("one two three", 12, 0, "one two\nthree\n");
}

TEST_CASE(a_long_word_stands_alone)
{
	wrap_check("a /usr/lib/x.so b", 5, 1, "a\n /usr/lib/x.so\n b\n");
	wrap_check("/usr/lib/x.so", 5, 1, "/usr/lib/x.so\n");
}

TEST_CASE(blanks_are_kept_but_where_a_line_ends)
{
	wrap_check("  ok      a: b c", 14, 10, "  ok      a: b\n          c\n");
	wrap_check("", 5, 1, "\n");
	wrap_check("a ", 5, 1, "a \n");
}

TEST_CASE(a_line_may_have_begun)
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

TEST_CASE(nothing_ends_the_cell_or_the_span)
{
	assert_code("a/typeck", "`a/typeck`");
	assert_code("a|b`c\nd", "`a\\|b'c?d`");
}

/* ---- Sparkline ------------------------------------------------------------------------------- */

static char *line_of(const struct sparkline *s)
{
	return PRINTED(assert_int_equal(sparkline_print(to_, s), 0));
}

TEST_CASE(marks_rise_with_the_values)
{
	const double values[] = {0, 1, 2, 3, 4, 5, 6, 8};
	struct sparkline s = {.values = values, .n = 8, .columns = 80, .blocks = true};
	_free_ char *text = line_of(&s), *ascii = NULL;

	assert_string_equal(text, "▁▂▃▄▅▆▇█");
	s.blocks = false;
	ascii = line_of(&s);
	assert_string_equal(ascii, "_.-~=+*#");
}

TEST_CASE(unknown_values_are_blank)
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

TEST_CASE(small_differences_stay_small)
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

TEST_CASE(an_outlier_does_not_flatten_the_rest)
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

TEST_CASE(more_values_than_columns_are_shown_by_means)
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

/* ---- Screen ---------------------------------------------------------------------------------- */

static struct screen *screen_on(struct terminal *t, int rows, int columns)
{
	struct screen *s = NULL;

	terminal_open(t, rows, columns);
	setenv("TERM", "xterm", 1);
	assert_int_equal(screen__new(t->out, &s), 0);
	return s;
}

static void draw(struct screen *s, struct terminal *t, const char *lines, size_t n)
{
	assert_int_equal(screen__draw(s, lines, n), 0);
	terminal_update(t);
}

/* Output of cargo while the table is shown. */
static void others_write(struct terminal *t, const char *text)
{
	fputs(text, t->out);
	terminal_update(t);
}

TEST_CASE(only_a_capable_terminal_will_do)
{
	FILE *f = fopen("/dev/null", "we");
	struct screen *s = NULL;
	struct terminal t;

	setenv("TERM", "xterm", 1);
	assert_int_equal(screen__new(f, &s), -ENOTTY);
	terminal_open(&t, 24, 80);
	setenv("TERM", "dumb", 1);
	assert_int_equal(screen__new(t.out, &s), -ENOTTY);
	unsetenv("TERM");
	assert_int_equal(screen__new(t.out, &s), -ENOTTY);
	assert_null(s);
	terminal_close(&t);
	fclose(f);
	screen__free(NULL);
}

TEST_CASE(lines_go_to_the_bottom_and_the_cursor_stays)
{
	struct terminal t;
	struct screen *s;

	s = screen_on(&t, 24, 80);
	others_write(&t, "$ make\n  par");
	draw(s, &t, "one\ntwo\n", 2);
	assert_string_equal(terminal_row(&t, 22), "one");
	assert_string_equal(terminal_row(&t, 23), "two");
	assert_int_equal(t.row, 1);
	assert_int_equal(t.column, 5);
	others_write(&t, "tial\n");
	assert_string_equal(terminal_row(&t, 1), "  partial");
	screen__free(s);
	terminal_close(&t);
}

TEST_CASE(others_scroll_above)
{
	struct terminal t;
	struct screen *s;
	char line[32];

	s = screen_on(&t, 24, 80);
	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "message %d\n", i);
		others_write(&t, line);
		if (i % 10 == 0)
			assert_int_equal(screen__draw(s, "one\ntwo\nthree\n", 3), 0);
	}
	terminal_update(&t);
	assert_string_equal(terminal_row(&t, 21), "one");
	assert_string_equal(terminal_row(&t, 23), "three");
	/* The cursor's line is the last one above the table. */
	for (int row = 0; row < 20; row++) {
		snprintf(line, sizeof(line), "message %d", 80 + row);
		assert_string_equal(terminal_row(&t, row), line);
	}
	screen__free(s);
	terminal_close(&t);
}

TEST_CASE(taking_lines_at_the_bottom_scrolls_first)
{
	struct terminal t;
	struct screen *s;

	s = screen_on(&t, 10, 80);
	for (int i = 0; i < 30; i++)
		others_write(&t, i == 29 ? "last\n" : "x\n");
	draw(s, &t, "one\ntwo\n", 2);
	assert_string_equal(terminal_row(&t, 6), "last");
	assert_int_equal(t.row, 7);
	assert_string_equal(terminal_row(&t, 8), "one");
	screen__free(s);
	terminal_close(&t);
}

TEST_CASE(a_table_that_grows_keeps_what_is_above)
{
	struct terminal t;
	struct screen *s;

	s = screen_on(&t, 10, 80);
	for (int i = 0; i < 30; i++)
		others_write(&t, i == 29 ? "last\n" : "x\n");
	assert_int_equal(screen__draw(s, "one\ntwo\n", 2), 0);
	draw(s, &t, "one\ntwo\nthree\nfour\n", 4);
	assert_string_equal(terminal_row(&t, 4), "last");
	assert_string_equal(terminal_row(&t, 6), "one");
	assert_string_equal(terminal_row(&t, 9), "four");
	/* A smaller table leaves no old lines behind. */
	draw(s, &t, "one\n", 1);
	assert_string_equal(terminal_row(&t, 6), "one");
	assert_string_equal(terminal_row(&t, 7), "");
	assert_string_equal(terminal_row(&t, 9), "");
	screen__free(s);
	terminal_close(&t);
}

TEST_CASE(restore_leaves_the_terminal_as_it_was)
{
	struct terminal t;
	struct screen *s;

	s = screen_on(&t, 24, 80);
	others_write(&t, "before");
	assert_int_equal(screen__draw(s, "one\ntwo\n", 2), 0);
	screen__restore(s);
	screen__restore(s);
	terminal_update(&t);
	assert_int_equal(t.top, 0);
	assert_int_equal(t.bottom, 23);
	assert_int_equal(t.row, 0);
	assert_int_equal(t.column, 6);
	assert_string_equal(terminal_row(&t, 22), "");
	assert_string_equal(terminal_row(&t, 23), "");
	/* The lines can be taken again after a restore. */
	draw(s, &t, "one\n", 1);
	assert_string_equal(terminal_row(&t, 23), "one");
	screen__free(s);
	terminal_update(&t);
	assert_int_equal(t.bottom, 23);
	terminal_close(&t);
}

TEST_CASE(resizing_moves_the_lines)
{
	struct terminal t;
	struct screen *s;
	size_t lines, columns;

	s = screen_on(&t, 24, 80);
	draw(s, &t, "one\ntwo\n", 2);
	terminal_resize(&t, 40, 80);
	screen__size(s, &lines, &columns);
	assert_int_equal(columns, 80);
	assert_int_equal(lines, 26);
	draw(s, &t, "one\ntwo\n", 2);
	assert_int_equal(t.bottom, 37);
	assert_string_equal(terminal_row(&t, 39), "two");
	terminal_resize(&t, 12, 80);
	draw(s, &t, "one\ntwo\n", 2);
	assert_int_equal(t.bottom, 9);
	assert_string_equal(terminal_row(&t, 11), "two");
	screen__free(s);
	terminal_close(&t);
}

TEST_CASE(a_tiny_terminal_is_left_to_the_others)
{
	struct terminal t;
	struct screen *s;

	for (int rows = 2; rows < 12; rows++) {
		s = screen_on(&t, rows, 20);
		draw(s, &t, "1\n2\n3\n4\n5\n6\n7\n8\n", 8);
		others_write(&t, "a\n");
		assert_string_equal(terminal_row(&t, 0), "a");
		assert_int_equal(t.bottom, rows - 1 -
						   (rows <= 3		      ? 0
						    : rows * 2 / 3 < rows - 3 ? rows * 2 / 3
									      : rows - 3));
		screen__free(s);
		terminal_close(&t);
	}
}

TEST_MAIN(NULL, NULL)
