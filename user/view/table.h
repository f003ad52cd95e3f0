/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Text in columns. Cells are added row by row; widths are computed from what is in them. When the
 * space is short, the column of names is cut first, then columns are left out.
 */
#ifndef QPROF_VIEW_TABLE_H
#define QPROF_VIEW_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"

struct table;

struct table_column {
	const char *title;
	size_t least; /* columns it takes at least; keeps a redrawn table from jumping */
};

/* The first column is aligned left, the others right. `columns` must outlive the table. */
int table__new(const struct table_column *columns, size_t n, struct table **out);

/*
 * The last column is aligned left and all others right: for names too long to stand before anything
 * else.
 */
void table__name_last(struct table *t);

/*
 * Keep so many columns of a name, where it has them, while anything can be left out instead. 12
 * without this.
 */
void table__keep_of_name(struct table *t, size_t columns);

/*
 * Leave this column, by its index, out before any that was not given here or is given later. Others
 * go from the right.
 */
void table__spare(struct table *t, size_t column);

/* Fill the next cell. Errors are kept: table__fit() returns the first. */
void table__cell(struct table *t, const char *text);
void table__cellf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* That were put in so far. */
size_t table__rows(const struct table *t);

/* Compute the layout for lines of at most `width` columns; 0 = as wide as it takes. */
int table__fit(struct table *t, size_t width);
/* Print the titles or one row, without a newline or trailing spaces. After table__fit(). */
void table__print_titles(const struct table *t, FILE *out);
void table__print_row(const struct table *t, size_t row, FILE *out);

/* Print all of it, as wide as it takes, each line behind `indent`. */
int table__print(struct table *t, FILE *out, const char *indent);

/*
 * Print it within `width` columns, 0 as above; and below it which columns were left out, and that
 * `option` shows them.
 */
int table__print_within(struct table *t, FILE *out, size_t width, const char *option);

void table__free(struct table *t);
DEFINE_CLEANUP(struct table, table__free)
#define _table_ __cleanup(table__free_p)

#endif /* QPROF_VIEW_TABLE_H */
