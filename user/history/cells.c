// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/cells.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "history/columns.h"

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

static bool is_id(const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i = 0;

	for (; text[i] && i < sizeof(form) - 1; i++)
		if (form[i] == 'x' ? !strchr("0123456789abcdef", text[i]) : text[i] != '-')
			return false;
	return i == sizeof(form) - 1 && !text[i];
}

bool row_check(enum history_table_id table, const void *row, char *why, size_t size)
{
	const struct history_table *t = history_table(table);

	for (size_t i = 0; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];
		bool is_text = c->type == HISTORY_TEXT;
		const char *text = is_text ? history_column__text(c, row) : NULL;
		uint64_t number = is_text ? 0 : history_column__number(c, row);
		bool is_null = is_text ? !text : number == HISTORY_UNKNOWN;

		if (is_null && c->required)
			snprintf(why, size, "it has no \"%s\"", c->name);
		else if (text && strlen(text) > HISTORY_TEXT_MAX)
			snprintf(why, size, "\"%s\" is longer than %d bytes", c->name,
				 HISTORY_TEXT_MAX);
		else if (!is_null && number >= HISTORY_NUMBER_MAX)
			snprintf(why, size, "\"%s\" is no number from 0 to 2^63 - 2", c->name);
		else
			continue;
		return false;
	}
	/* Rows of the other tables have that of their build. */
	if (table != HISTORY_BUILD || is_id(((const struct history_build *)row)->build))
		return true;
	snprintf(why, size, "\"build\" is no UUID in lower case");
	return false;
}
