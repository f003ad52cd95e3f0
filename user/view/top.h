/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The screens of the interactive view of a recording, and its keys. Knows no terminal: keys are
 * numbers, lines are text (view/top_terminal.h connects both to a terminal).
 */
#ifndef QPROF_VIEW_TOP_H
#define QPROF_VIEW_TOP_H

#include "view/top_draw.h"

/* A key is a character, or one of these. */
enum top_key {
	TOP_KEY_BACKSPACE = 8,
	TOP_KEY_TAB = 9,
	TOP_KEY_ENTER = 10,
	TOP_KEY_CLEAR = 21, /* Ctrl-U */
	TOP_KEY_ESCAPE = 27,
	TOP_KEY_UP = 0x110000, /* beyond Unicode */
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
};

struct top;

/* 0, or -ENOMEM. */
int top__new(struct top **out);

/* Show new data; rates are since the last call. 0 or -ENOMEM. */
int top__update(struct top *t, const struct top_data *data);

/* Handle a key. 0 or -ENOMEM; sets `*quit` if the key quits. */
int top__key(struct top *t, int key, bool *quit);

/* While this is true the display must not change: do not call top__update(). */
bool top__paused(const struct top *t);

/* Whether a table of items is shown, so that they are to be read. */
bool top__wants_items(const struct top *t);

/*
 * Show items that were read of the data, and that `left` compilers' are still being read; also
 * while the view is paused. The list must be the same with each call, and in later data. 0 or
 * -ENOMEM.
 */
int top__set_items(struct top *t, const struct item_list *items, uint32_t left);

/* Draw the screen: `lines` of at most `columns` each. 0 or -ENOMEM. */
int top__draw(struct top *t, size_t lines, size_t columns, struct top_screen *out);

void top__free(struct top *t);
DEFINE_CLEANUP(struct top, top__free)
#define _top_ __cleanup(top__free_p)

#endif /* QPROF_VIEW_TOP_H */
