/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bottom lines of a terminal, kept for a display that is redrawn in place. The lines above
 * become the scroll region: what others write there (cargo, rustc, both of which share our
 * terminal) scrolls by as it would without us, and is never painted over.
 */
#ifndef QPROF_VIEW_SCREEN_H
#define QPROF_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"

struct screen;

/* Whether it is a terminal that can move its cursor (TERM is neither dumb nor unset). */
bool screen_is_on(FILE *out);

/* Columns of a terminal; 80 of what is none, or does not know. */
size_t screen_columns(FILE *out);

/*
 * Write `len` bytes at once: stdio would split them, and others' output would come in between. 0 or
 * a negative errno.
 */
int screen_write(FILE *out, const char *bytes, size_t len);

/* -ENOTTY unless screen_is_on(). */
int screen__new(FILE *out, struct screen **s);

/* Columns of the terminal as it is now, and how many of its lines screen__draw() may use. */
void screen__size(const struct screen *s, size_t *lines, size_t *columns);

/*
 * Show `n` lines, each ended by a newline and no wider than the terminal, in one write(2): others
 * write to it too. The cursor stays where they have it.
 */
int screen__draw(struct screen *s, const char *text, size_t n);

/* Give the lines back, empty. Safe to call twice; the next draw takes them again. */
void screen__restore(struct screen *s);

void screen__free(struct screen *s);

#endif /* QPROF_VIEW_SCREEN_H */
