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
	free(t);
	return 0;
}

/* Keys that are no characters, as they are written below. */
#define UP	  "\001"
#define DOWN	  "\002"
#define PAGE_UP	  "\003"
#define HOME	  "\004"
#define END	  "\005"
#define EMOJI	  "\006"
#define BACKSPACE "\010"
#define CLEAR	  "\025"
#define ESCAPE	  "\033"

/* Whether the last key leaves; none before it does. */
static bool leaves(struct screen_test *t, const char *keys)
{
	static const int others[] = {
		0, TOP_KEY_UP, TOP_KEY_DOWN, TOP_KEY_PAGE_UP, TOP_KEY_HOME, TOP_KEY_END, 0x1f600};
	bool quit = false;

	for (; *keys; keys++) {
		int key = (size_t)*keys < N_OF(others) ? others[(size_t)*keys] : *keys;

		assert_false(quit);
		assert_int_equal(top__key(t->top, key, &quit), 0);
	}
	return quit;
}

/* The screen after these keys. A row that is selected is "\n> " and its name. */
static char *screen(struct screen_test *t, const char *keys)
{
	assert_false(leaves(t, keys));
	return top_world_screen(t->top, 24, 80);
}

#define CASE(name) TEST_CASE_OF(name, begin, end, struct screen_test *t)

CASE(enter_opens_a_process_and_escape_goes_back_to_it)
{
	assert_shows(screen(t, ""), "Processes  1 of 3  by on-cpu", "\n> serde");
	assert_shows(screen(t, "j"), "\n> regex_syntax");
	assert_shows(screen(t, "\n"), "Queries of regex_syntax (4711)  1 of 2  by on-cpu",
		     "\n> typeck");
	assert_shows(screen(t, "\t"), "Items of regex_syntax (4711)  0 of 0");
	assert_shows(screen(t, "\t"), "Threads of regex_syntax (4711)  1 of 2  by on-cpu");
	/* A single process has queries, items and threads only. */
	assert_shows(screen(t, "\t"), "Queries of regex_syntax (4711)");
	assert_shows(screen(t, ESCAPE), "Processes  2 of 3", "\n> regex_syntax");
	assert_shows(screen(t, ESCAPE), "Processes  2 of 3");
}

CASE(a_thread_leads_to_its_process)
{
	assert_shows(screen(t, "\t"), "Queries  1 of 3");
	/* A query belongs to several processes, so it cannot be opened. */
	assert_shows(screen(t, "\n"), "Queries  1 of 3");
	assert_shows(screen(t, "\t\t"), "Threads  1 of 3", "\n> serde: <unn");
	assert_shows(screen(t, "\n"), "Queries of serde (4712)");
	assert_shows(screen(t, "p"), "Processes", "\n> serde");
}

CASE(columns_sort_both_ways_and_by_either_end)
{
	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	assert_shows(screen(t, "\t"), "\n> typeck", "[on-cpu]");
	assert_shows(screen(t, ">>"), "[count]", "\n> layout_of");
	assert_shows(screen(t, "r"), "by count, reversed", "\n> evil");
	assert_shows(screen(t, "<<<"), "[query]", "!reversed", "\n> evil");
	assert_shows(screen(t, "S"), "[mean]");
	assert_shows(screen(t, "s"), "[query]");
	/* Each table has its own order. */
	assert_shows(screen(t, "\t\t"), "Threads  1 of 3  by on-cpu");
}

CASE(i_shows_items_and_queries_in_turn)
{
	struct item_list list = {};

	assert_false(top__wants_items(t->top));
	assert_shows(screen(t, "i"), "Items  0 of 0  by on-cpu  (without 1 running)",
		     "reading what the queries were about");
	assert_true(top__wants_items(t->top));
	top_world_items(&t->world, &list);
	/* Items may be read while the view is paused. */
	assert_false(leaves(t, " "));
	assert_int_equal(top__set_items(t->top, &list, 2), 0);
	assert_shows(screen(t, ""), "(reading those of 2)");
	assert_false(leaves(t, " "));
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_shows(screen(t, ""), "Items  1 of 5  by on-cpu",
		     "\n> app::shapes::{{impl}}[1]::grow");
	assert_shows(screen(t, "/area\n" ESCAPE "j"), "\n> app::shapes::area");
	assert_shows(screen(t, "\n"), "Items of serde (4712)  1 of 2  by on-cpu");
	assert_shows(screen(t, "i"), "Queries of serde (4712)");
	assert_false(top__wants_items(t->top));
	assert_shows(screen(t, "i"), "Items of serde (4712)");
	assert_shows(screen(t, ESCAPE), "Processes");
	item_list__clear(&list);
}

CASE(a_filter_hides_rows_until_escape)
{
	assert_shows(screen(t, "\t/qLAY"), "0 of 0  filter: qLAY_", "no row has that");
	assert_shows(screen(t, CLEAR "LAYx" BACKSPACE), "1 of 1  filter: LAY_");
	assert_shows(screen(t, "\n"), "1 of 1  filter: LAY  by", "\n> layout_of");
	assert_shows(screen(t, ESCAPE), "Queries  1 of 3");
	assert_shows(screen(t, "/x" ESCAPE), "Queries  1 of 3");
	/* More keys than the filter has room for. */
	assert_false(leaves(t, "/"));
	for (int i = 0; i < 200; i++)
		assert_false(leaves(t, "y"));
	assert_shows(screen(t, EMOJI), "0 of 0  filter: yyy");
}

CASE(the_selection_stays_with_its_row)
{
	assert_shows(screen(t, "\t"), "\n> typeck");
	assert_shows(screen(t, DOWN), "\n> layout_of");
	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, TOP_SECOND, TOP_SECOND, 0);
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_shows(screen(t, ""), "1 of 3", "\n> layout_of");
	/* A selection of the first row stays at the first row. */
	assert_false(leaves(t, HOME));
	sample_span(t->world.summary, 0, SAMPLE_TYPECK, 9 * TOP_SECOND, 9 * TOP_SECOND, 0);
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_shows(screen(t, ""), "\n> typeck");
	assert_shows(screen(t, END), "3 of 3");
	assert_shows(screen(t, DOWN), "3 of 3");
	assert_shows(screen(t, PAGE_UP), "1 of 3");
	assert_shows(screen(t, UP), "1 of 3");
}

CASE(space_pauses)
{
	assert_false(top__paused(t->top));
	assert_shows(screen(t, " "), "PAUSED at 2.00 s");
	assert_true(top__paused(t->top));
	/* A paused view can be navigated. */
	assert_shows(screen(t, "\n"), "Queries of serde");
	assert_false(leaves(t, " "));
	assert_false(top__paused(t->top));
}

CASE(rates_need_two_looks_at_the_same)
{
	assert_shows(screen(t, "\t>>>"), "[rate/s]");
	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	t->world.data.now_ns += TOP_SECOND;
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_shows(screen(t, ""), "\n> layout_of", "by rate/s");
}

CASE(q_leaves_but_not_as_a_letter)
{
	assert_shows(screen(t, "/q" ESCAPE "?"), "any key: back");
	assert_shows(screen(t, "q"), "Processes");
	assert_true(leaves(t, "q"));
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
	char *text;

	assert_int_equal(on_terminal(draw_and_type, "j\033OB\177\r\033[5~\t", &text), 0);
	/* The alternate screen is left. */
	assert_shows(text, "regex_syntax", "q quit", "\033[?1049l", "!\033[31m", "!\033[36m");
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
