/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Text in columns. Cells are added row by row; widths are computed from the contents. If the space
 * is short, the column of names is cut first, then columns are left out.
 */
#ifndef QPROF_VIEW_TABLE_H
#define QPROF_VIEW_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"

struct table;

struct table_column {
	const char *title;
	size_t least; /* minimum width; keeps the columns of a redrawn table in place */
};

/*
 * The first column is aligned left, the others right. Titles must outlive the table. NULL if out of
 * memory: all functions accept that, and table__fit() returns the error.
 */
struct table *table__new(const struct table_column *columns, size_t n);

/*
 * Put the names into the last column, which is then the only one aligned left: for names too long
 * to precede other columns.
 */
void table__name_last(struct table *t);

/*
 * Keep at least this many columns of a name, if it has them, as long as another column can be left
 * out. The default is 12.
 */
void table__keep_of_name(struct table *t, size_t columns);

/* A name that is cut loses its beginning, not its end: for paths. */
void table__cut_beginnings(struct table *t);

/*
 * Leave the column with this title, if there is one, out before columns given later or not at all,
 * which are left out from the right.
 */
void table__spare(struct table *t, const char *title);

/* Fill the next cell. Errors are kept; table__fit() returns the first. */
void table__cell(struct table *t, const char *text);

/* Number of rows added so far. */
size_t table__rows(const struct table *t);

/* Compute the layout for lines of at most `width` columns; 0: unlimited. */
int table__fit(struct table *t, size_t width);
/* Print the titles or one row, without a newline or trailing spaces. After table__fit(). */
void table__print_titles(const struct table *t, FILE *out);
void table__print_row(const struct table *t, size_t row, FILE *out);

/*
 * Print the whole table, each line after `indent`, within `width` columns (0: unlimited). Below,
 * print which columns were left out, or that names lost their beginnings, and that `option` shows
 * them.
 */
int table__print(struct table *t, FILE *out, const char *indent, size_t width, const char *option);

void table__free(struct table *t);
DEFINE_CLEANUP(struct table, table__free)
#define _table_ __cleanup(table__free_p)

/* Prints texts and sentences on a terminal; lines break between words. */

/* Print a text without what a terminal would act on. */
void print_clean(FILE *out, const char *text);

/* Default width without a terminal. */
#define WRAP_COLUMNS 80

/*
 * Print clean `text` and a newline, on a line with `used` columns already taken. A word that would
 * exceed `width` columns (0: unlimited) starts a new line after `indent` blanks; the first word
 * never does. Leading blanks of `text` are kept.
 */
void wrap_print(FILE *out, const char *text, size_t used, size_t width, size_t indent);

/*
 * Print a name as a code span that is safe in a table: a bar would end the cell, and a backtick the
 * span. Characters that cannot be printed are replaced. 0 or -ENOMEM.
 */
int markdown_code(FILE *out, const char *text);

#endif /* QPROF_VIEW_TABLE_H */
