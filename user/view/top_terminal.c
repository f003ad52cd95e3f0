// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/top_terminal.h"

/* Before term.h, whose macros have common names. */
#include "view/screen.h"

#include <curses.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include "base/array.h"

/* term.h defines macros with common names. */
#undef lines
#undef columns

#define ESCAPE_MS 25 /* maximum time between an ESC and the rest of its sequence */

enum pair { PAIR_ALERT = 1, PAIR_TITLES, PAIR_HINT };

static SCREEN *screen;
static bool colored;

const char *top_terminal__missing(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO))
		return "stdin is none";
	if (!isatty(STDOUT_FILENO))
		return "stdout is none";
	return term && *term ? NULL : "TERM is not set";
}

const char *top_terminal__unfit(void)
{
	int err;

	if (setupterm(getenv("TERM"), STDOUT_FILENO, &err) != OK)
		return "TERM names none that is known here";
	return cursor_address && clear_screen ? NULL : "this one cannot move its cursor";
}

int top_terminal__open(void)
{
	static bool registered;

	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -ENOTTY;
	if (!registered)
		registered = !atexit(top_terminal__close);
	set_term(screen);
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	colored = screen_wants_color() && has_colors() && start_color() == OK &&
		  use_default_colors() == OK;
	if (colored) {
		init_pair(PAIR_ALERT, COLOR_RED, -1);
		init_pair(PAIR_TITLES, COLOR_CYAN, -1);
		init_pair(PAIR_HINT, COLOR_BLUE, -1);
	}
	return 0;
}

static attr_t attributes(enum top_style style)
{
	switch (style) {
	case TOP_STATUS:
		return A_BOLD;
	case TOP_ALERT:
		return A_BOLD | (colored ? (attr_t)COLOR_PAIR(PAIR_ALERT) : A_STANDOUT);
	case TOP_TITLES:
		return A_BOLD | (colored ? (attr_t)COLOR_PAIR(PAIR_TITLES) : A_UNDERLINE);
	case TOP_SELECTED:
		return A_REVERSE;
	case TOP_HINT:
		return colored ? (attr_t)COLOR_PAIR(PAIR_HINT) : A_DIM;
	default:
		return A_NORMAL;
	}
}

int top_terminal__draw(struct top *t)
{
	_top_screen_ struct top_screen s = {};
	struct winsize ws;
	int err;

	/* SIGWINCH may have been missed, or have come while the process was stopped. */
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col &&
	    (ws.ws_row != LINES || ws.ws_col != COLS))
		resizeterm(ws.ws_row, ws.ws_col);
	err = top__draw(t, (size_t)LINES, (size_t)COLS, &s);
	if (err)
		return err;
	erase();
	for (size_t i = 0; i < s.n; i++) {
		attrset(attributes(s.lines[i].style));
		mvaddstr((int)i, 0, s.lines[i].text);
	}
	attrset(A_NORMAL);
	refresh();
	return 0;
}

int top_terminal__key(void)
{
	static const struct {
		int from, to;
	} keys[] = {
		{KEY_UP, TOP_KEY_UP},
		{KEY_DOWN, TOP_KEY_DOWN},
		{KEY_LEFT, TOP_KEY_LEFT},
		{KEY_RIGHT, TOP_KEY_RIGHT},
		{KEY_PPAGE, TOP_KEY_PAGE_UP},
		{KEY_NPAGE, TOP_KEY_PAGE_DOWN},
		{KEY_HOME, TOP_KEY_HOME},
		{KEY_END, TOP_KEY_END},
		{KEY_BACKSPACE, TOP_KEY_BACKSPACE},
		{127, TOP_KEY_BACKSPACE},
		{KEY_ENTER, TOP_KEY_ENTER},
		{'\r', TOP_KEY_ENTER},
	};
	int c = getch();

	if (c == ERR)
		return -1;
	for (size_t i = 0; i < N_OF(keys); i++) {
		if (keys[i].from == c)
			return keys[i].to;
	}
	/* All other special keys are ignored. */
	return c < KEY_MIN ? c : 0;
}

void top_terminal__suspend(void)
{
	if (screen)
		endwin();
}

void top_terminal__close(void)
{
	SCREEN *s = screen;

	screen = NULL;
	if (!s)
		return;
	endwin();
	delscreen(s);
}
