// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/cells.h"

#include <errno.h>

int history_cell__set(struct history_rows *rows, const struct history_column *c, void *row,
		      const struct store_value *cell)
{
	const char *text;

	if (cell->type == STORE_NULL)
		return 0;
	if (c->type == HISTORY_NUMBER) {
		if (cell->type != STORE_INTEGER || cell->integer < 0)
			return -EPROTO;
		history_column__set_number(c, row, (uint64_t)cell->integer);
		return 0;
	}
	if (cell->type != STORE_TEXT)
		return -EPROTO;
	text = history_rows__text(rows, cell->text);
	history_column__set_text(c, row, text);
	return text ? 0 : -ENOMEM;
}
