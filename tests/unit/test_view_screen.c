// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/screen.h"

#include "test.h"
#include "../fixtures/terminal.h"

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

static void only_a_capable_terminal_will_do(void **state)
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

static void lines_go_to_the_bottom_and_the_cursor_stays(void **state)
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

static void others_scroll_above(void **state)
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

static void taking_lines_at_the_bottom_scrolls_first(void **state)
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

static void a_table_that_grows_keeps_what_is_above(void **state)
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

static void restore_leaves_the_terminal_as_it_was(void **state)
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

static void resizing_moves_the_lines(void **state)
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

static void a_tiny_terminal_is_left_to_the_others(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_capable_terminal_will_do),
		cmocka_unit_test(lines_go_to_the_bottom_and_the_cursor_stays),
		cmocka_unit_test(others_scroll_above),
		cmocka_unit_test(taking_lines_at_the_bottom_scrolls_first),
		cmocka_unit_test(a_table_that_grows_keeps_what_is_above),
		cmocka_unit_test(restore_leaves_the_terminal_as_it_was),
		cmocka_unit_test(resizing_moves_the_lines),
		cmocka_unit_test(a_tiny_terminal_is_left_to_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
