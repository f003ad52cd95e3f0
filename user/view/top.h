/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What an interactive view of a recording shows, and what its keys do. Knows no terminal: keys come
 * in as numbers, lines go out as text (view/top_terminal.h puts the two on one).
 */
#ifndef QPROF_VIEW_TOP_H
#define QPROF_VIEW_TOP_H

#include "analyze/threads.h"
#include "view/view.h"

enum top_source {
	TOP_RECORDING,	/* more will come */
	TOP_FINISHED,	/* all is there */
	TOP_UNFINISHED, /* nobody writes any more, and the end is missing */
};

/* What there is to be shown. All that it points to stays as it is until the next top__update(). */
struct top_data {
	const struct summary *summary;
	const struct threads *threads;
	const struct view_names *names;
	const struct trace_losses *losses; /* NULL: not known */
	const char *title;		   /* what is being watched */
	enum top_source source;
	uint64_t now_ns;   /* on the trace's clock */
	uint64_t start_ns; /* when the recording began */
};

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

enum top_style {
	TOP_PLAIN,
	TOP_STATUS,
	TOP_ALERT, /* the status, if something was lost */
	TOP_PLACE, /* where we are */
	TOP_TITLES,
	TOP_SELECTED,
	TOP_HINT,
};

struct top_line {
	char *text; /* clean, no wider than asked for */
	enum top_style style;
};

struct top_screen {
	struct top_line *lines;
	size_t n;
};

void top_screen__clear(struct top_screen *s);
#define _top_screen_ __cleanup(top_screen__clear)

struct top;

/* 0, or -ENOMEM. */
int top__new(struct top **out);

/* There is more to be shown; rates are since the last call. 0 or -ENOMEM. */
int top__update(struct top *t, const struct top_data *data);

/* Do what the key says. 0 or -ENOMEM; `*quit` is set if it says to leave. */
int top__key(struct top *t, int key, bool *quit);

/* While true, what is shown is to be left as it is: no top__update(). */
bool top__paused(const struct top *t);

/* The screen: `lines` of at most `columns` each. 0 or -ENOMEM. */
int top__draw(struct top *t, size_t lines, size_t columns, struct top_screen *out);

void top__free(struct top *t);
DEFINE_CLEANUP(struct top, top__free)
#define _top_ __cleanup(top__free_p)

#endif /* QPROF_VIEW_TOP_H */
