/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rows from what a store answers, or a file has: of another user, it may be anything. */
#ifndef QPROF_HISTORY_CELLS_H
#define QPROF_HISTORY_CELLS_H

#include "history/columns.h"
#include "history/rows.h"
#include "history/store.h"

/*
 * Set a column of a row to a cell; `rows` owns the text. Null changes nothing: the row was cleared.
 * 0; -EPROTO: the cell is of another type, or no number that a row may have; -ENOMEM.
 */
int history_cell__set(struct history_rows *rows, const struct history_column *c, void *row,
		      const struct store_value *cell);

/*
 * Check that required columns are there, that numbers and texts are within their limits, and that
 * the id of a build is one. False: `why` says what is wrong, such as: it has no "crate".
 */
bool row_check(enum history_table_id table, const void *row, char *why, size_t size);

#endif /* QPROF_HISTORY_CELLS_H */
