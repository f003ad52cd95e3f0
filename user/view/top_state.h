/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the interactive view remembers. For top.c and top_draw.c only. */
#ifndef QPROF_VIEW_TOP_STATE_H
#define QPROF_VIEW_TOP_STATE_H

#include "view/top_rows.h"

#define TOP_FILTER_MAX 64

struct top_order {
	size_t column;
	bool reverse;
};

struct top {
	struct top_data data;
	bool has_data;
	enum top_table table;
	uint32_t process; /* whose rows; SUMMARY_ALL: all processes' */
	struct top_order order[TOP_TABLES];
	char filter[TOP_FILTER_MAX];
	bool editing; /* the filter: characters go into it */
	bool paused;
	bool help;

	struct top_rows rows; /* all, in order */
	size_t *shown;	      /* of them, those that pass the filter */
	size_t n_shown;
	struct top_past past; /* of this table and process */

	size_t selected;    /* of those shown */
	size_t first;	    /* of those on the screen */
	size_t page;	    /* rows on the screen when it was last drawn */
	bool follows;	    /* the selection stays with its row, and not with its place */
	uint64_t id;	    /* that row's */
	uint64_t came_from; /* the row of the processes that was opened */
};

#endif /* QPROF_VIEW_TOP_STATE_H */
