/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The screens of the interactive view of a recording, and its keys. Knows no terminal: keys are
 * numbers, lines are text (view/top_terminal.h connects both to a terminal).
 */
#ifndef QPROF_VIEW_TOP_H
#define QPROF_VIEW_TOP_H

#include "analyze/threads.h"
#include "view/view.h"

enum top_source {
	TOP_RECORDING,	/* more data will come */
	TOP_FINISHED,	/* complete */
	TOP_UNFINISHED, /* the writer is gone, and the end is missing */
};

/* The data to show. Everything it points to must stay unchanged until the next top__update(). */
struct top_data {
	const struct summary *summary;
	const struct threads *threads;
	const struct trace_texts *names;
	const struct trace_losses *losses; /* NULL: unknown */
	const char *title;		   /* path of the watched trace */
	enum top_source source;
	uint64_t now_ns;   /* on the trace's clock */
	uint64_t start_ns; /* start of the recording */
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
	TOP_PLACE, /* the current table, process and filter */
	TOP_TITLES,
	TOP_SELECTED,
	TOP_HINT,
};

struct top_line {
	char *text; /* clean text, within the requested width */
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

/* Show new data; rates are since the last call. 0 or -ENOMEM. */
int top__update(struct top *t, const struct top_data *data);

/* Handle a key. 0 or -ENOMEM; sets `*quit` if the key quits. */
int top__key(struct top *t, int key, bool *quit);

/* While this is true the display must not change: do not call top__update(). */
bool top__paused(const struct top *t);

/* Draw the screen: `lines` of at most `columns` each. 0 or -ENOMEM. */
int top__draw(struct top *t, size_t lines, size_t columns, struct top_screen *out);

void top__free(struct top *t);
DEFINE_CLEANUP(struct top, top__free)
#define _top_ __cleanup(top__free_p)

#endif /* QPROF_VIEW_TOP_H */
