// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/top_terminal.h"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>

#include "../fixtures/output.h"
#include "../fixtures/top_data.h"

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

static void a_terminal_must_move_its_cursor(void **state)
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

static void keys_come_in_and_lines_go_out(void **state)
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

static void an_exit_gives_the_terminal_back(void **state)
{
	_free_ char *text = NULL;

	assert_int_equal(on_terminal(forget_to_close, "", &text), 0);
	assert_contains(text, "\033[?1049l");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_must_move_its_cursor),
		cmocka_unit_test(keys_come_in_and_lines_go_out),
		cmocka_unit_test(an_exit_gives_the_terminal_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
