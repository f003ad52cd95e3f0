/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An interval and what it is about, in one cell: "typeck(regex_syntax::ast::parse)". */
#ifndef QPROF_VIEW_ITEM_TEXT_H
#define QPROF_VIEW_ITEM_TEXT_H

#include <stddef.h>

#include "view/report_rows.h"

#define ITEM_TEXT_MAX 320 /* bytes */

/*
 * `item` is NULL or empty: only the name. It may be the arguments of an activity. Cut to `columns`,
 * the path on the left: "typeck(..::parse)".
 */
void item_text(char buf[ITEM_TEXT_MAX], size_t columns, const char *name, const char *item);

/* Cut a text of item_text() to fewer columns. */
void item_text__cut(char text[ITEM_TEXT_MAX], size_t columns);

/* Cut the beginning off a path, of an item or a file: "..::parse". */
void item_text__cut_start(char text[ITEM_TEXT_MAX], size_t columns);

/* The table of items or modules of `report --by item` and `--by module`. */

/* Columns that only some traces have. */
struct item_extras {
	bool instances, places, llvm;
};

struct item_extras report_items__extras(const struct report_rows *r, size_t n,
					const struct trace_texts *names);
void report_item_columns(struct columns *c, const struct report_row *row,
			 const struct report_rows *all, bool modules,
			 const struct trace_texts *names, const struct item_extras *has);

/* Print the first `n` rows within `width` columns; 0: unlimited. 0 or -ENOMEM. */
int items_text(FILE *out, const struct report_rows *r, size_t n, size_t width,
	       const struct trace_texts *names);

#endif /* QPROF_VIEW_ITEM_TEXT_H */
