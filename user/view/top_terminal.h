/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The terminal of the interactive view: puts top__draw()'s lines on it and makes keys of what is
 * typed. The only file that knows curses. There can be one at a time; whichever way the process
 * exits, the terminal is left as it was found (but not if it is killed).
 */
#ifndef QPROF_VIEW_TOP_TERMINAL_H
#define QPROF_VIEW_TOP_TERMINAL_H

#include "view/top.h"

/* Why stdin and stdout are no terminal for this; NULL if they are. */
const char *top_terminal__missing(void);

/*
 * Take the terminal over. -ENOTTY if that cannot be. The caller has blocked SIGINT, SIGTERM,
 * SIGHUP, SIGTSTP and SIGWINCH, and reads them elsewhere.
 */
int top_terminal__open(void);

/* Draw, at the size that the terminal has now. 0 or -ENOMEM. */
int top_terminal__draw(struct top *t);

/* The next key that was typed, as top__key() takes it; -1 if none waits. */
int top_terminal__key(void);

/* Leave it as it was found until the next top_terminal__draw(): we are about to be stopped. */
void top_terminal__suspend(void);

/* Leave it for good. Safe to call twice, and without an open. */
void top_terminal__close(void);

#endif /* QPROF_VIEW_TOP_TERMINAL_H */
