// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sql.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"

void sql__add(struct sql *q, const char *fmt, ...)
{
	size_t room = sizeof(q->text) - q->len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(q->text + q->len, room, fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room) {
		q->overflow = true;
		return;
	}
	q->len += n;
}

static void add_arg(struct sql *q, const struct store_value *value)
{
	if (q->n_args == SQL_ARGS) {
		q->overflow = true;
		return;
	}
	q->args[q->n_args++] = *value;
}

void sql__add_text(struct sql *q, const char *text, const char *arg)
{
	const struct store_value value = {.type = STORE_TEXT, .text = arg};

	sql__add(q, "%s", text);
	add_arg(q, &value);
}

static void where(struct sql *q, const char *condition, const struct store_value *value)
{
	sql__add(q, " %s %s", q->has_where ? "AND" : "WHERE", condition);
	q->has_where = true;
	add_arg(q, value);
}

void sql__where_text(struct sql *q, const char *condition, const char *text)
{
	const struct store_value value = {.type = STORE_TEXT, .text = text};

	if (text)
		where(q, condition, &value);
}

void sql__where_number(struct sql *q, const char *condition, uint64_t number)
{
	const struct store_value value = {
		.type = STORE_INTEGER,
		.integer = number > INT64_MAX ? INT64_MAX : (int64_t)number,
	};

	where(q, condition, &value);
}

int sql__select(struct sql *q, struct store *s, store_row row, void *ctx)
{
	if (q->overflow)
		return diag_error_r(-E2BIG, "cannot ask %s: the question is too long",
				    store__name(s));
	return store__select(s, q->text, q->args, q->n_args, row, ctx);
}

uint64_t sql_number(const struct store_value *cell)
{
	if (cell->type == STORE_INTEGER && cell->integer >= 0)
		return cell->integer;
	/* Below 2^64, which a double has exactly. */
	if (cell->type == STORE_REAL && cell->real >= 0 && cell->real < 0x1p64)
		return (uint64_t)cell->real;
	return HISTORY_UNKNOWN;
}
