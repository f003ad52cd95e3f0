/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* All rows of one build, and their texts. */
#ifndef QPROF_HISTORY_ROWS_H
#define QPROF_HISTORY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "history/row.h"

struct history_texts;

/* All zeroes is a build of zeroes without further rows. */
struct history_rows {
	struct history_build build;
	/* Arrays of the rows of the other tables, by enum history_table_id. */
	void *rows[HISTORY_TABLES];
	size_t n[HISTORY_TABLES];
	size_t capacity[HISTORY_TABLES];
	struct history_texts *texts;
};

/* No rows, and a build of which nothing is known: all texts NULL, all numbers unknown. */
void history_rows__init(struct history_rows *r);

/* Copy a text; equal texts are one. NULL of NULL, and without memory. */
const char *history_rows__text(struct history_rows *r, const char *text);

/*
 * Append a row of which nothing is known. NULL: no memory. Not of HISTORY_BUILD. The rows before it
 * in the table may move.
 */
void *history_rows__append(struct history_rows *r, enum history_table_id table);

/* Row `i` of a table; of HISTORY_BUILD there is one. NULL past the end. */
const void *history_rows__at(const struct history_rows *r, enum history_table_id table, size_t i);

/* The number of rows of a table. */
size_t history_rows__n(const struct history_rows *r, enum history_table_id table);

/* The trace was whole: it replaces the same build in a state that was not. */
bool history_rows__are_whole(const struct history_rows *r);

/* Free all rows and texts. The rows are as after history_rows__init(). */
void history_rows__clear(struct history_rows *r);
#define _history_rows_ __cleanup(history_rows__clear)

#endif /* QPROF_HISTORY_ROWS_H */
