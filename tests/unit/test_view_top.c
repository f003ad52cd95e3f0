// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/top.h"
#include "view/top_terminal.h"

#include "../fixtures/output.h"
#include "../fixtures/top_data.h"
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>

struct screen_test {
	struct top_world world;
	struct top *top;
	char *text; /* the last screen() */
};

static int begin(void **state)
{
	struct screen_test *t = calloc(1, sizeof(*t));

	top_world_make(&t->world);
	*state = t;
	return top__new(&t->top) ?: top__update(t->top, &t->world.data);
}

static int end(void **state)
{
	struct screen_test *t = *state;

	top__free(t->top);
	top_world_free(&t->world);
	free(t->text);
	free(t);
	return 0;
}

static bool press(struct screen_test *t, int key)
{
	bool quit = false;

	assert_int_equal(top__key(t->top, key, &quit), 0);
	return quit;
}

static void type(struct screen_test *t, const char *keys)
{
	for (; *keys; keys++)
		assert_false(press(t, *keys));
}

static const char *screen(struct screen_test *t)
{
	free(t->text);
	t->text = top_world_screen(t->top, 24, 80);
	return t->text;
}

/* Fails unless the selected row has this name. */
static void assert_selected(struct screen_test *t, const char *name)
{
	const char *row = strstr(screen(t), "\n> ");

	if (!row)
		fail_msg("nothing is selected:\n%s", t->text);
	if (strncmp(row + 3, name, strlen(name)) != 0)
		fail_msg("%s is not selected:\n%s", name, t->text);
}

TEST_CASE_WITH(enter_opens_a_process_and_escape_goes_back_to_it, begin, end)
{
	struct screen_test *t = *state;

	assert_contains(screen(t), "Processes  1 of 3  by on-cpu");
	assert_selected(t, "serde");
	type(t, "j");
	assert_selected(t, "regex_syntax");
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Queries of regex_syntax (4711)  1 of 2  by on-cpu");
	assert_selected(t, "typeck");
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Items of regex_syntax (4711)  0 of 0");
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Threads of regex_syntax (4711)  1 of 2  by on-cpu");
	/* A single process has queries, items and threads only. */
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Queries of regex_syntax (4711)");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Processes  2 of 3");
	assert_selected(t, "regex_syntax");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Processes  2 of 3");
}

TEST_CASE_WITH(a_thread_leads_to_its_process, begin, end)
{
	struct screen_test *t = *state;

	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Queries  1 of 3");
	/* A query belongs to several processes, so it cannot be opened. */
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Queries  1 of 3");
	press(t, TOP_KEY_TAB);
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Threads  1 of 3");
	assert_selected(t, "serde: <unn");
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Queries of serde (4712)");
	press(t, 'p');
	assert_contains(screen(t), "Processes");
	assert_selected(t, "serde");
}

TEST_CASE_WITH(columns_sort_both_ways_and_by_either_end, begin, end)
{
	struct screen_test *t = *state;

	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	press(t, TOP_KEY_TAB);
	assert_selected(t, "typeck");
	assert_contains(screen(t), "[on-cpu]");
	type(t, ">>");
	assert_contains(screen(t), "[count]");
	assert_selected(t, "layout_of");
	type(t, "r");
	assert_contains(screen(t), "by count, reversed");
	assert_selected(t, "evil");
	type(t, "<<<");
	assert_contains(screen(t), "[query]");
	assert_lacks(screen(t), "reversed");
	assert_selected(t, "evil");
	type(t, "S");
	assert_contains(screen(t), "[mean]");
	type(t, "s");
	assert_contains(screen(t), "[query]");
	/* Each table has its own order. */
	press(t, TOP_KEY_TAB);
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Threads  1 of 3  by on-cpu");
}

TEST_CASE_WITH(i_shows_items_and_queries_in_turn, begin, end)
{
	struct screen_test *t = *state;
	struct item_list list = {};

	assert_false(top__wants_items(t->top));
	type(t, "i");
	assert_true(top__wants_items(t->top));
	assert_contains(screen(t), "Items  0 of 0  by on-cpu  (without 1 running)");
	assert_contains(screen(t), "reading what the queries were about");
	top_world_items(&t->world, &list);
	/* Items may be read while the view is paused. */
	type(t, " ");
	assert_int_equal(top__set_items(t->top, &list, 2), 0);
	assert_contains(screen(t), "(reading those of 2)");
	type(t, " ");
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_contains(screen(t), "Items  1 of 5  by on-cpu");
	assert_selected(t, "app::shapes::{{impl}}[1]::grow");
	type(t, "/area\n");
	press(t, TOP_KEY_ESCAPE);
	type(t, "j");
	assert_selected(t, "app::shapes::area");
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Items of serde (4712)  1 of 2  by on-cpu");
	type(t, "i");
	assert_false(top__wants_items(t->top));
	assert_contains(screen(t), "Queries of serde (4712)");
	type(t, "i");
	assert_contains(screen(t), "Items of serde (4712)");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Processes");
	item_list__clear(&list);
}

TEST_CASE_WITH(a_filter_hides_rows_until_escape, begin, end)
{
	struct screen_test *t = *state;

	press(t, TOP_KEY_TAB);
	type(t, "/qLAY");
	assert_contains(screen(t), "0 of 0  filter: qLAY_");
	assert_contains(screen(t), "no row has that");
	press(t, TOP_KEY_CLEAR);
	type(t, "LAYx");
	press(t, TOP_KEY_BACKSPACE);
	assert_contains(screen(t), "1 of 1  filter: LAY_");
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "1 of 1  filter: LAY  by");
	assert_selected(t, "layout_of");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Queries  1 of 3");
	type(t, "/x");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Queries  1 of 3");
	/* More keys than the filter has room for. */
	type(t, "/");
	for (int i = 0; i < 200; i++)
		type(t, "y");
	press(t, 0x1f600);
	assert_contains(screen(t), "0 of 0  filter: yyy");
}

TEST_CASE_WITH(the_selection_stays_with_its_row, begin, end)
{
	struct screen_test *t = *state;

	press(t, TOP_KEY_TAB);
	assert_selected(t, "typeck");
	press(t, TOP_KEY_DOWN);
	assert_selected(t, "layout_of");
	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, TOP_SECOND, TOP_SECOND, 0);
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_contains(screen(t), "1 of 3");
	assert_selected(t, "layout_of");
	/* A selection of the first row stays at the first row. */
	press(t, TOP_KEY_HOME);
	sample_span(t->world.summary, 0, SAMPLE_TYPECK, 9 * TOP_SECOND, 9 * TOP_SECOND, 0);
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_selected(t, "typeck");
	press(t, TOP_KEY_END);
	assert_contains(screen(t), "3 of 3");
	press(t, TOP_KEY_DOWN);
	assert_contains(screen(t), "3 of 3");
	press(t, TOP_KEY_PAGE_UP);
	assert_contains(screen(t), "1 of 3");
	press(t, TOP_KEY_UP);
	assert_contains(screen(t), "1 of 3");
}

TEST_CASE_WITH(space_pauses, begin, end)
{
	struct screen_test *t = *state;

	assert_false(top__paused(t->top));
	type(t, " ");
	assert_true(top__paused(t->top));
	assert_contains(screen(t), "PAUSED at 2.00 s");
	/* A paused view can be navigated. */
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Queries of serde");
	type(t, " ");
	assert_false(top__paused(t->top));
}

TEST_CASE_WITH(rates_need_two_looks_at_the_same, begin, end)
{
	struct screen_test *t = *state;

	press(t, TOP_KEY_TAB);
	type(t, ">>>");
	assert_contains(screen(t), "[rate/s]");
	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	t->world.data.now_ns += TOP_SECOND;
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_selected(t, "layout_of");
	assert_contains(screen(t), "by rate/s");
}

TEST_CASE_WITH(q_leaves_but_not_as_a_letter, begin, end)
{
	struct screen_test *t = *state;

	type(t, "/q");
	press(t, TOP_KEY_ESCAPE);
	type(t, "?");
	assert_contains(screen(t), "any key: back");
	assert_false(press(t, 'q'));
	assert_contains(screen(t), "Processes");
	assert_true(press(t, 'q'));
}

TEST_CASE_WITH(keys_before_any_data_do_no_harm, begin, end)
{
	static const int keys[] = {TOP_KEY_ENTER, TOP_KEY_DOWN, TOP_KEY_TAB,
				   '>',		  'r',		TOP_KEY_ESCAPE};
	_top_ struct top *top = NULL;
	struct top_screen s = {};
	bool quit = false;

	assert_int_equal(top__new(&top), 0);
	for (size_t i = 0; i < N_OF(keys); i++)
		assert_int_equal(top__key(top, keys[i], &quit), 0);
	assert_int_equal(top__draw(top, 24, 80, &s), 0);
	assert_int_equal(s.n, 0);
	top_screen__clear(&s);
}

/* ---- Top terminal ---------------------------------------------------------------------------- */

/* Run `child` on a terminal of 80x24 and type `keys` once its screen is shown; its exit status. */
static int on_terminal(int (*child)(void), const char *keys, char **written)
{
	const struct winsize size = {.ws_row = 24, .ws_col = 80};
	char *text = calloc(1, 65536);
	size_t len = 0;
	int master, status;
	pid_t pid = forkpty(&master, NULL, NULL, &size);
	ssize_t n;

	assert_true(pid >= 0);
	if (!pid)
		_exit(child());
	/* read() fails with EIO once the child has closed the terminal. */
	while (len < 65000 && (n = read(master, text + len, 65000 - len)) > 0) {
		len += (size_t)n;
		if (!*keys || !strstr(text, "q quit"))
			continue;
		assert_int_equal(write(master, keys, strlen(keys)), strlen(keys));
		keys = "";
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(master);
	*written = text;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int say_what_is_missing(void)
{
	const char *terms[] = {"dumb", "no-such-terminal", "", "xterm"};

	for (size_t i = 0; i < N_OF(terms); i++) {
		setenv("TERM", terms[i], 1);
		printf("[%s]\n", top_terminal__missing() ?: top_terminal__unfit() ?: "nothing");
	}
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	return 0;
}

TEST_CASE(a_terminal_must_move_its_cursor)
{
	_free_ char *text = NULL;

	assert_int_equal(on_terminal(say_what_is_missing, "", &text), 0);
	assert_contains(text, "[this one cannot move its cursor]\r\n[TERM names none that is known "
			      "here]\r\n[TERM is not set]\r\n[nothing]");
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_lflag == b->c_lflag && a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag;
}

static int next_key(void)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	int key = top_terminal__key();

	while (key < 0 && poll(&fd, 1, 10000) > 0)
		key = top_terminal__key();
	return key;
}

/* 0, or the number of the first failed check. */
static int draw_and_type(void)
{
	static const int keys[] = {'j',		  TOP_KEY_DOWN,	   TOP_KEY_BACKSPACE,
				   TOP_KEY_ENTER, TOP_KEY_PAGE_UP, TOP_KEY_TAB};
	struct termios before, during, after;
	struct top_world w;
	struct top *t;

	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	top_world_make(&w);
	if (tcgetattr(0, &before) || top__new(&t) || top__update(t, &w.data) ||
	    top_terminal__open() || top_terminal__draw(t))
		return 1;
	if (tcgetattr(0, &during) || same_modes(&before, &during))
		return 2;
	for (size_t i = 0; i < N_OF(keys); i++) {
		if (next_key() != keys[i])
			return 10 + (int)i;
	}
	top_terminal__suspend();
	if (tcgetattr(0, &after) || !same_modes(&before, &after))
		return 3;
	if (top_terminal__draw(t) || tcgetattr(0, &after) || same_modes(&before, &after))
		return 4;
	top__free(t);
	top_world_free(&w);
	top_terminal__close();
	top_terminal__close();
	return tcgetattr(0, &after) || !same_modes(&before, &after) ? 5 : 0;
}

TEST_CASE(keys_come_in_and_lines_go_out)
{
	_free_ char *text = NULL;

	assert_int_equal(on_terminal(draw_and_type, "j\033OB\177\r\033[5~\t", &text), 0);
	assert_contains(text, "regex_syntax");
	assert_contains(text, "q quit");
	/* The alternate screen is left. */
	assert_contains(text, "\033[?1049l");
	assert_lacks(text, "\033[31m");
	assert_lacks(text, "\033[36m");
}

static int forget_to_close(void)
{
	setenv("TERM", "xterm", 1);
	if (top_terminal__open())
		return 1;
	exit(0);
}

TEST_CASE(an_exit_gives_the_terminal_back)
{
	_free_ char *text = NULL;

	assert_int_equal(on_terminal(forget_to_close, "", &text), 0);
	assert_contains(text, "\033[?1049l");
}

TEST_MAIN(NULL, NULL)
