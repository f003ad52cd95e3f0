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

static int print_fitted(struct table *t, size_t width, FILE *out)
{
	int err = table__fit(t, width);

	table__print_titles(t, out);
	fputc('\n', out);
	for (size_t i = 0; i < table__rows(t); i++) {
		table__print_row(t, i, out);
		fputc('\n', out);
	}
	return err;
}

/* All lines of a table fitted to `width`. */
static char *fitted(const char *const *cells, size_t width)
{
	_table_ struct table *t = table_of(cells);

	return printed_text(print_fitted(t, width, out));
}

static const char *const sample[] = {
	"typeck", "12", "1.23 ms", "codegen_fulfill_obligation", "3", "4 ns", NULL,
};

TEST_CASE(columns_are_as_wide_as_their_cells)
{
	assert_shows(fitted(sample, 0), "=query                         count     self\n"
					"typeck                           12  1.23 ms\n"
					"codegen_fulfill_obligation        3     4 ns\n");
}

TEST_CASE(a_long_name_is_cut_first)
{
	assert_shows(fitted(sample, 34), "=query               count     self\n"
					 "typeck                 12  1.23 ms\n"
					 "codegen_fulfil..        3     4 ns\n");
}

TEST_CASE(then_columns_go_from_the_right)
{
	assert_shows(fitted(sample, 24), "=query              count\n"
					 "typeck                12\n"
					 "codegen_fulfi..        3\n");
	assert_shows(fitted(sample, 10), "=query\n"
					 "typeck\n"
					 "codegen_..\n");
}

TEST_CASE(a_spared_column_is_dropped_first_and_names_keep_more)
{
	_table_ struct table *t = table_of(sample);

	table__spare(t, "none");
	table__spare(t, "count");
	table__keep_of_name(t, 20);
	assert_shows(printed_text(table__print(t, out, "", 34, "--all") ?:
			    table__print(t, out, "", 20, "--all") ?:
			    table__print(t, out, "", 0, "--all")), "=query                         self\n"
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
	assert_shows(
		fitted(cells, 28),
		"=query            count  self\n"
		"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2..         1     2\n"
		"x                    3     4\n");
}

TEST_CASE(cells_are_cleaned)
{
	static const char *const cells[] = {"a\033b\n", "1", "2", NULL};

	assert_shows(fitted(cells, 0), "=query    count  self\n"
				       "a?b?         1     2\n");
}

TEST_CASE(printing_indents_every_line)
{
	_table_ struct table *t = table_of(sample);

	assert_shows(printed_text(table__print(t, out, "  ", 0, NULL)), "  query ", "\n  typeck ");
	table__free(NULL);
}

TEST_CASE(a_long_name_can_stand_last)
{
	static const char *const cells[] = {"7", "1234567890", "a name", "100", "2", "b", NULL};
	_table_ struct table *t = table_of(cells);

	table__name_last(t);
	assert_shows(printed_text(table__print(t, out, "| ", 0, NULL)),
		     "=| query       count  self\n"
		     "|     7  1234567890  a name\n"
		     "|   100           2  b\n");
	table__keep_of_name(t, 4);
	assert_shows(printed_text(table__print(t, out, "", 12, "-w")),
		     "=query  self\n"
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
	_table_ struct table *t = table_of(cells);

	table__cut_beginnings(t);
	assert_shows(printed_text(print_fitted(t, 28, out) ?: table__print(t, out, "", 28, "-w") ?:
				  table__print(t, out, "", 22, "-w") ?:
				  table__print(t, out, "", 0, "-w")),
		     "=query            count  self\n"
		     "..hapes::area        1  2 ns\n"
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
}

/* ---- Wrap ------------------------------------------------------------------------------------ */

TEST_CASE(words_stay_whole)
{
	static const struct {
		const char *text;
		size_t begun, width, indent;
		const char *want;
	} cases[] = {
		{"one two three", 0, 7, 2, "=one two\n  three\n"},
		{"one two three", 0, 0, 2, "=one two three\n"},
		{"one two three", 0, 13, 0, "=one two three\n"},
		{"one two three", 0, 12, 0, "=one two\nthree\n"},
		/* A long word stands alone. */
		{"a /usr/lib/x.so b", 0, 5, 1, "=a\n /usr/lib/x.so\n b\n"},
		{"/usr/lib/x.so", 0, 5, 1, "=/usr/lib/x.so\n"},
		/* Blanks are kept but where a line ends. */
		{"  ok      a: b c", 0, 14, 10, "=  ok      a: b\n          c\n"},
		{"", 0, 5, 1, "=\n"},
		{"a ", 0, 5, 1, "=a \n"},
		{"a bc d", 8, 10, 1, "=a\n bc d\n"},
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_shows(printed_text((wrap_print(out, cases[i].text, cases[i].begun,
						      cases[i].width, cases[i].indent),
					   0)),
			     cases[i].want);
}

TEST_CASE(nothing_ends_the_cell_or_the_span_of_markdown)
{
	assert_shows(printed_text(markdown_code(out, "a/typeck")), "=`a/typeck`");
	assert_shows(printed_text(markdown_code(out, "a|b`c\nd")), "=`a\\|b'c?d`");
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

	assert_shows(line_of(&s), "=▁▂▃▄▅▆▇█");
	s.blocks = false;
	assert_shows(line_of(&s), "=_.-~=+*#");
}

TEST_CASE(unknown_values_are_blank)
{
	const double values[] = {1, -1, 2}, none[] = {-1, -1};
	struct sparkline s = {.values = values, .n = 3, .columns = 80};

	assert_shows(line_of(&s), "=_ #");
	s.values = none;
	s.n = 2;
	assert_shows(line_of(&s), "=  ");
	s.n = 0;
	assert_shows(line_of(&s), "=");
}

TEST_CASE(small_differences_stay_small)
{
	const double values[] = {100, 101, 100}, zero[] = {0, 0};
	struct sparkline s = {.values = values, .n = 3, .columns = 80, .least = 0.1};

	assert_shows(line_of(&s), "=~=~");
	s.values = zero;
	s.n = 2;
	assert_shows(line_of(&s), "=__");
}

TEST_CASE(an_outlier_does_not_flatten_the_rest)
{
	double values[40];
	struct sparkline s = {.values = values, .n = 40, .columns = 80, .least = 0.1};

	for (size_t i = 0; i < 40; i++)
		values[i] = i < 20 ? 100 : 110;
	values[5] = 900;
	values[30] = 0;
	assert_shows(line_of(&s), "=.....#..............**********_*********");
}

TEST_CASE(more_values_than_columns_are_shown_by_means)
{
	double values[1000];
	struct sparkline s = {.values = values, .n = 1000, .columns = 10};

	for (size_t i = 0; i < 1000; i++)
		values[i] = i < 500 ? 1 : 2;
	assert_shows(line_of(&s), "=_____#####");
	assert_int_equal(sparkline_column(&s, 999), 9);
	assert_int_equal(sparkline_column(&s, 499), 4);
}

/* ---- Screen ---------------------------------------------------------------------------------- */

static void open_screen(struct terminal *t, struct screen **s, int rows, int columns)
{
	*s = NULL;
	terminal_open(t, rows, columns);
	setenv("TERM", "xterm", 1);
	assert_int_equal(screen__new(t->out, s), 0);
}

static void close_screen(struct terminal *t, struct screen *s)
{
	screen__free(s);
	terminal_close(t);
}

/* A test with a terminal `t` and a screen `s` on it. */
#define SCREEN_CASE(name, rows, columns)                             \
	static void name##_on(struct terminal *t, struct screen *s); \
	TEST_CASE(name)                                              \
	{                                                            \
		struct terminal t;                                   \
		struct screen *s;                                    \
                                                                     \
		open_screen(&t, &s, rows, columns);                  \
		name##_on(&t, s);                                    \
		close_screen(&t, s);                                 \
	}                                                            \
	static void name##_on(struct terminal *t, struct screen *s)

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

static void assert_row(struct terminal *t, int row, const char *want)
{
	assert_string_equal(terminal_row(t, row), want);
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

SCREEN_CASE(lines_go_to_the_bottom_and_the_cursor_stays, 24, 80)
{
	others_write(t, "$ make\n  par");
	draw(s, t, "one\ntwo\n", 2);
	assert_row(t, 22, "one");
	assert_row(t, 23, "two");
	assert_struct(*t, row, 1, column, 5);
	others_write(t, "tial\n");
	assert_row(t, 1, "  partial");
}

SCREEN_CASE(others_scroll_above, 24, 80)
{
	char line[32];

	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "message %d\n", i);
		others_write(t, line);
		if (i % 10 == 0)
			assert_int_equal(screen__draw(s, "one\ntwo\nthree\n", 3), 0);
	}
	terminal_update(t);
	assert_row(t, 21, "one");
	assert_row(t, 23, "three");
	/* The cursor's line is the last one above the table. */
	for (int row = 0; row < 20; row++) {
		snprintf(line, sizeof(line), "message %d", 80 + row);
		assert_row(t, row, line);
	}
}

SCREEN_CASE(a_table_that_takes_lines_scrolls_first, 10, 80)
{
	for (int i = 0; i < 30; i++)
		others_write(t, i == 29 ? "last\n" : "x\n");
	draw(s, t, "one\ntwo\n", 2);
	assert_row(t, 6, "last");
	assert_int_equal(t->row, 7);
	assert_row(t, 8, "one");
	/* One that grows keeps what is above. */
	draw(s, t, "one\ntwo\nthree\nfour\n", 4);
	assert_row(t, 4, "last");
	assert_row(t, 6, "one");
	assert_row(t, 9, "four");
	/* A smaller table leaves no old lines behind. */
	draw(s, t, "one\n", 1);
	assert_row(t, 6, "one");
	assert_row(t, 7, "");
	assert_row(t, 9, "");
}

TEST_CASE(restore_leaves_the_terminal_as_it_was)
{
	struct terminal t;
	struct screen *s;

	open_screen(&t, &s, 24, 80);
	others_write(&t, "before");
	assert_int_equal(screen__draw(s, "one\ntwo\n", 2), 0);
	screen__restore(s);
	screen__restore(s);
	terminal_update(&t);
	assert_struct(t, top, 0, bottom, 23, row, 0, column, 6);
	assert_row(&t, 22, "");
	assert_row(&t, 23, "");
	/* The lines can be taken again after a restore. */
	draw(s, &t, "one\n", 1);
	assert_row(&t, 23, "one");
	screen__free(s);
	terminal_update(&t);
	assert_int_equal(t.bottom, 23);
	terminal_close(&t);
}

SCREEN_CASE(resizing_moves_the_lines, 24, 80)
{
	size_t lines, columns;

	draw(s, t, "one\ntwo\n", 2);
	terminal_resize(t, 40, 80);
	screen__size(s, &lines, &columns);
	assert_int_equal(columns, 80);
	assert_int_equal(lines, 26);
	draw(s, t, "one\ntwo\n", 2);
	assert_int_equal(t->bottom, 37);
	assert_row(t, 39, "two");
	terminal_resize(t, 12, 80);
	draw(s, t, "one\ntwo\n", 2);
	assert_int_equal(t->bottom, 9);
	assert_row(t, 11, "two");
}

TEST_CASE(a_tiny_terminal_is_left_to_the_others)
{
	/* The last row that others have, of 2 rows and more. */
	static const int bottoms[] = {1, 2, 2, 2, 2, 2, 2, 2, 3, 3};

	for (int rows = 2; rows < 12; rows++) {
		struct terminal t;
		struct screen *s;

		open_screen(&t, &s, rows, 20);
		draw(s, &t, "1\n2\n3\n4\n5\n6\n7\n8\n", 8);
		others_write(&t, "a\n");
		assert_row(&t, 0, "a");
		assert_int_equal(t.bottom, bottoms[rows - 2]);
		close_screen(&t, s);
	}
}

TEST_MAIN(NULL, NULL)
