/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of the interactive view: which there are, what is in them, in which order. */
#ifndef QPROF_VIEW_TOP_ROWS_H
#define QPROF_VIEW_TOP_ROWS_H

#include "view/format.h"
#include "view/top.h"

enum top_table {
	TOP_PROCESSES,
	TOP_QUERIES,
	TOP_THREADS,
	TOP_TABLES,
};

enum top_kind {
	TOP_TEXT,
	TOP_NUMBER, /* every digit: a pid */
	TOP_COUNT,
	TOP_TIME, /* ns */
};

#define TOP_COLUMNS_MAX 9
#define TOP_CELL_MAX	96	   /* bytes of a text */
#define TOP_UNKNOWN	UINT64_MAX /* of a number */

struct top_column {
	const char *title;
	size_t least; /* as struct table_column */
	enum top_kind kind;
};

/* How a table looks; `n` columns, of which the first is the name, and `by` sorts it at first. */
struct top_layout {
	const char *title;
	const struct top_column *columns;
	size_t n;
	size_t by;
};

const struct top_layout *top_layout(enum top_table table);

struct top_cell {
	uint64_t number;
	char text[TOP_CELL_MAX];
};

struct top_row {
	uint64_t id;	  /* process, label, or process << 32 | tid */
	uint32_t process; /* SUMMARY_ALL: of several */
	uint64_t events;  /* what rates are made of */
	struct top_cell cells[TOP_COLUMNS_MAX];
};

/* All zeroes: none. */
struct top_rows {
	struct top_row *at;
	size_t n;
};

/* What had happened at an earlier time, in one table. All zeroes: nothing is known. */
struct top_past {
	struct top_count *at; /* by id */
	size_t n;
	uint64_t time_ns;
};

/*
 * All rows of a table, of one process or (SUMMARY_ALL) of all, in no order. Rates are since `past`,
 * and TOP_UNKNOWN if it is NULL. To be freed with top_rows__clear(). 0 or -ENOMEM.
 */
int top_rows__make(const struct top_data *data, enum top_table table, uint32_t process,
		   const struct top_past *past, struct top_rows *out);

/* Remember these rows as those of `now_ns`. 0 or -ENOMEM, which changes nothing. */
int top_past__set(struct top_past *past, const struct top_rows *rows, uint64_t now_ns);

/*
 * Order by a column: numbers from the largest, texts from A, what is not known last; or all of that
 * the other way round.
 */
void top_rows__sort(struct top_rows *rows, enum top_table table, size_t column, bool reverse);

/* Whether the row's name, or the number that a process or thread has, holds the text. */
bool top_row__has(const struct top_row *row, enum top_table table, const char *text);

/* What a cell shows. */
void top_row__show(const struct top_row *row, enum top_table table, size_t column,
		   char buf[TOP_CELL_MAX]);

void top_rows__clear(struct top_rows *rows);
void top_past__clear(struct top_past *past);

/* Crate, or command without its directories, of a process; never NULL. */
const char *top_process_name(const struct trace_process *p);

#endif /* QPROF_VIEW_TOP_ROWS_H */
