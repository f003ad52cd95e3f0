/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bottom lines of a terminal, reserved for a display that is redrawn in place. The lines above
 * become the scroll region: output of other programs on the same terminal (cargo, rustc) scrolls
 * there as usual and is never painted over.
 */
#ifndef QPROF_VIEW_SCREEN_H
#define QPROF_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"

struct screen;
struct writer_thread;

/* True if `out` is a terminal that can move its cursor (TERM is neither dumb nor unset). */
bool screen_is_on(FILE *out);

/* Whether the user wants attributes: NO_COLOR is unset, or empty. */
bool screen_wants_color(void);

/* Columns of the terminal; 80 if it is no terminal or does not know its width. */
size_t screen_columns(FILE *out);

/* -ENOTTY unless screen_is_on(). */
int screen__new(FILE *out, struct screen **s);

/*
 * Let `writer` write from now on, so that no call waits for the terminal. It must outlive the
 * screen.
 */
void screen__write_by(struct screen *s, struct writer_thread *writer);

/* The current columns of the terminal, and the number of lines that screen__draw() may use. */
void screen__size(const struct screen *s, size_t *lines, size_t *columns);

/*
 * Show `n` lines in one write(2), because other programs write to the terminal too. Each line ends
 * with a newline and is no wider than the terminal. The cursor keeps its position.
 */
int screen__draw(struct screen *s, const char *text, size_t n);

/* Return the lines, cleared. May be called twice; the next draw takes the lines again. */
void screen__restore(struct screen *s);

void screen__free(struct screen *s);

#endif /* QPROF_VIEW_SCREEN_H */
