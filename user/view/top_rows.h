/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of the interactive view: their contents and order. */
#ifndef QPROF_VIEW_TOP_ROWS_H
#define QPROF_VIEW_TOP_ROWS_H

#include "analyze/hot_functions.h"
#include "analyze/llvm.h"
#include "analyze/modules.h"
#include "analyze/pivot.h"
#include "analyze/samples.h"
#include "base/format.h"
#include "base/table.h"
#include "trace/reader.h"
#include "view/item_text.h"
#include "view/top_now.h"
#include "view/view.h"

enum top_source {
	TOP_RECORDING,	/* more data will come */
	TOP_FINISHED,	/* complete */
	TOP_UNFINISHED, /* the writer is gone, and the end is missing */
};

/* The data to show. Everything it points to must stay unchanged until the next top__update(). */
struct top_data {
	const struct summary *summary;
	const struct pivot *threads;
	struct samples *samples;	 /* NULL: there are none */
	const struct hot_functions *hot; /* NULL: not known */
	const struct llvm *llvm;	 /* likewise: what threads in LLVM do */
	const struct trace_texts *names;
	const struct trace_losses *losses; /* NULL: unknown */
	const char *title;		   /* path of the watched trace */
	enum top_source source;
	uint64_t now_ns;	    /* on the trace's clock */
	uint64_t start_ns;	    /* start of the recording */
	const struct top_nows *now; /* NULL: not known */
	/* To name what intervals were about, once their process has ended; NULL: not known. */
	const struct trace_reader *reader;
	const struct item_list *items; /* NULL: not read, because none was asked for */
	uint32_t items_left;	       /* compilers whose items are still being read */
};

enum top_table {
	TOP_PROCESSES,
	TOP_QUERIES,
	TOP_ITEMS,
	TOP_THREADS,
	TOP_TABLES,
};

enum top_kind {
	TOP_TEXT,
	TOP_INTERVAL, /* a text of item_text(), cut to the room that there is */
	TOP_FUNCTION, /* likewise, in a column that is only shown where there are samples */
	TOP_PATH,     /* string id of an item's path, or TRACE_NO_STRING */
	TOP_LABEL,    /* string id */
	TOP_SOURCE,   /* of the item with this string id, likewise */
	TOP_NUMBER,   /* printed with every digit: a pid */
	TOP_COUNT,
	TOP_TIME, /* ns */
};

#define TOP_COLUMNS_MAX 10
#define TOP_CELL_MAX	ITEM_TEXT_MAX /* bytes that are shown of a text */
#define TOP_UNKNOWN	UINT64_MAX    /* an unknown number */

struct top_column {
	const char *title;
	size_t least; /* as struct table_column */
	enum top_kind kind;
	size_t width; /* of an interval, a function or a TOP_SOURCE on a terminal of usual width:
			 columns */
};

/* The layout of a table: `n` columns, the first is the name; `by` is the initial sort column. */
struct top_layout {
	const char *title;
	const struct top_column *columns;
	size_t n;
	size_t by;
	size_t keep; /* columns of a name that are kept before others are left out; 0: as usual */
};

const struct top_layout *top_layout(enum top_table table);

struct top_cell {
	uint64_t number;
	const char *mark; /* before a time that is not exact; NULL: it is */
	char *text;	  /* of TOP_TEXT, TOP_INTERVAL and TOP_FUNCTION; NULL: empty */
};

struct top_row {
	uint64_t id;	  /* process, label, or process << 32 | string id or tid */
	uint32_t process; /* SUMMARY_ALL: more than one */
	uint64_t events;  /* rates are computed from these */
	struct top_cell cells[TOP_COLUMNS_MAX];
};

/* All zeroes is empty. */
struct top_rows {
	struct top_row *at;
	size_t n;
	const struct trace_texts *names; /* of string ids in cells */
	bool sampled;			 /* there are samples */
};

/* No probe has recorded anything: samples are all that is known. */
static inline bool top_data__has_only_samples(const struct top_data *data)
{
	return data->samples && !summary__spans(data->summary);
}

/* Of a recording that is over, the span is that of the build, as in reports. */
void top_data__span_build(struct top_data *data);

/* Whether the rows have a column: others are not shown. */
bool top_rows__has_column(const struct top_rows *rows, enum top_table table, size_t column);

/* Of the items of all processes, so many are shown: those that took most. */
#define TOP_ITEMS_MAX 100000

/* Counts of one table at an earlier time. All zeroes: nothing is known. */
struct top_past {
	TABLE(uint64_t) events; /* by id */
	uint64_t time_ns;
};

/*
 * All rows of a table, for one process or for all (SUMMARY_ALL), unsorted. Rates are since `past`,
 * and TOP_UNKNOWN if it is NULL. Free with top_rows__clear(). 0 or -ENOMEM.
 */
int top_rows__make(const struct top_data *data, enum top_table table, uint32_t process,
		   struct top_past *past, struct top_rows *out);

/* Remember these rows as the counts at `now_ns`. 0, or -ENOMEM without any change. */
int top_past__set(struct top_past *past, const struct top_rows *rows, uint64_t now_ns);

/*
 * Sort by a column: the largest number first, texts from A, unknown values last; or all of this
 * reversed.
 */
void top_rows__sort(struct top_rows *rows, enum top_table table, size_t column, bool reverse);

/* True if the name of row `i`, or the number of its process or thread, contains the text. */
bool top_rows__has(const struct top_rows *rows, size_t i, enum top_table table, const char *text);

/* Format a cell of row `i`. */
void top_rows__show(const struct top_rows *rows, size_t i, enum top_table table, size_t column,
		    char buf[TOP_CELL_MAX]);

void top_rows__clear(struct top_rows *rows);
void top_past__clear(struct top_past *past);

/* The query that a running process is in; NULL if that is not known. */
const struct top_now *top_now_of(const struct top_data *data, const struct trace_process *p);

#endif /* QPROF_VIEW_TOP_ROWS_H */
