/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Draws the interactive view. */
#ifndef QPROF_VIEW_TOP_DRAW_H
#define QPROF_VIEW_TOP_DRAW_H

#include "view/top_rows.h"

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

struct top_order {
	size_t column;
	bool reverse;
};

/* The state that a screen shows. Nothing of it belongs to this struct. */
struct top_shown {
	const struct top_data *data; /* NULL: there is none yet */
	enum top_table table;
	uint32_t process; /* the process of the rows; SUMMARY_ALL: all */
	struct top_order order;
	const char *filter;
	bool editing; /* the filter is being edited */
	bool paused;
	bool help;
	const struct top_rows *rows; /* all rows, sorted */
	const size_t *shown;	     /* indices of the rows that pass the filter */
	size_t n_shown;
	size_t selected; /* index into `shown` */
	size_t first;	 /* index into `shown` of the first row on the screen */
};

/* The rows of the table that a screen of this height has room for. */
size_t top_draw__rows(size_t lines);

/* `lines` of at most `columns` each. 0 or -ENOMEM. */
int top_draw(const struct top_shown *t, size_t lines, size_t columns, struct top_screen *out);

#endif /* QPROF_VIEW_TOP_DRAW_H */
