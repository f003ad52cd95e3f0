/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables of a history as data. The DDL of both engines, inserts, JSON lines and their reader,
 * and the tables of docs/history.md are made from these rows; nothing else lists the columns.
 */
#ifndef QPROF_HISTORY_COLUMNS_H
#define QPROF_HISTORY_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/row.h"

enum history_type {
	HISTORY_TEXT,	/* const char *, NULL: null */
	HISTORY_NUMBER, /* uint64_t, HISTORY_UNKNOWN: null */
};

struct history_column {
	const char *name;
	enum history_type type;
	size_t offset;	  /* in the row's struct */
	bool few_values;  /* a text that many rows share */
	bool required;	  /* never null */
	const char *unit; /* "ns", "bytes", "ppm", "" */
	const char *text; /* for a person */
};

struct history_table {
	const char *name;
	const struct history_column *columns;
	size_t n;
	size_t row_size;
	const char *text;
};

/*
 * The version of these tables: of the server's, and of JSON lines. A SQLite file packs them, and
 * has a version of its own.
 */
#define HISTORY_VERSION 4

const struct history_table *history_table(enum history_table_id id);

/* NULL if the table has no such column. */
const struct history_column *history_table__column(const struct history_table *t, const char *name);

/* A field of a row of the column's table. The column has the type that the name says. */
const char *history_column__text(const struct history_column *c, const void *row);
uint64_t history_column__number(const struct history_column *c, const void *row);
void history_column__set_text(const struct history_column *c, void *row, const char *text);
void history_column__set_number(const struct history_column *c, void *row, uint64_t number);

/* Set all fields to what is not known: texts to NULL, numbers to HISTORY_UNKNOWN. */
void history_table__clear_row(const struct history_table *t, void *row);

#endif /* QPROF_HISTORY_COLUMNS_H */
