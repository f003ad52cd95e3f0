/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The terminal of the interactive view: shows the lines of top__draw() and converts input into
 * keys. The only file that uses curses. There can be one terminal at a time. It is restored however
 * the process exits, unless the process is killed.
 */
#ifndef QPROF_VIEW_TOP_TERMINAL_H
#define QPROF_VIEW_TOP_TERMINAL_H

#include "view/top.h"

/* Why stdin and stdout are no terminal; NULL if they are. Opens no file. */
const char *top_terminal__missing(void);

/*
 * Why this terminal cannot be used; NULL if it can. This reads files that the environment names
 * (TERMINFO, HOME): call it only with the user's own rights.
 */
const char *top_terminal__unfit(void);

/*
 * Take over the terminal. -ENOTTY if that is not possible. The caller must have blocked SIGINT,
 * SIGTERM, SIGHUP, SIGTSTP and SIGWINCH, and reads them elsewhere.
 */
int top_terminal__open(void);

/* Draw at the current size of the terminal. 0 or -ENOMEM. */
int top_terminal__draw(struct top *t);

/* The next key that was typed, as top__key() takes it; -1 if there is none. */
int top_terminal__key(void);

/* Restore the terminal until the next top_terminal__draw(), before the process stops. */
void top_terminal__suspend(void);

/* Restore the terminal for good. May be called twice, or without an open. */
void top_terminal__close(void);

#endif /* QPROF_VIEW_TOP_TERMINAL_H */
