/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rows from what a store answers. */
#ifndef QPROF_HISTORY_CELLS_H
#define QPROF_HISTORY_CELLS_H

#include "history/columns.h"
#include "history/rows.h"
#include "history/store_value.h"

/*
 * Set a column of a row to a cell; `rows` owns the text. Null changes nothing: the row was cleared.
 * 0; -EPROTO: the cell is of another type, or no number that a row may have; -ENOMEM.
 */
int history_cell__set(struct history_rows *rows, const struct history_column *c, void *row,
		      const struct store_value *cell);

#endif /* QPROF_HISTORY_CELLS_H */
