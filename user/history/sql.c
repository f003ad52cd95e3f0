// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sql.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

const char *dialect__rows(enum history_table_id table)
{
	static const char *const tables[HISTORY_TABLES] = {
		[HISTORY_BUILD] = "\"build\"", [HISTORY_COMPILE] = "\"compile\"",
		[HISTORY_QUERY] = "\"query\"", [HISTORY_ITEM] = "\"item\"",
		[HISTORY_LLVM] = "\"llvm\"",
	};

	return tables[table];
}

const char *dialect__table(enum store_kind kind, enum history_table_id table)
{
	static const char *const tables[HISTORY_TABLES] = {
		[HISTORY_BUILD] = "\"build\" FINAL", [HISTORY_COMPILE] = "\"compile\" FINAL",
		[HISTORY_QUERY] = "\"query\" FINAL", [HISTORY_ITEM] = "\"item\" FINAL",
		[HISTORY_LLVM] = "\"llvm\" FINAL",
	};

	return kind == STORE_CLICKHOUSE ? tables[table] : dialect__rows(table);
}

bool dialect__wants_window(enum store_kind kind)
{
	return kind == STORE_CLICKHOUSE;
}

const char *dialect__query_sums(enum store_kind kind)
{
	return kind == STORE_SQLITE ? "\"query_sum\"" : dialect__table(kind, HISTORY_QUERY);
}

const char *dialect__find(enum store_kind kind)
{
	return kind == STORE_CLICKHOUSE ? "position" : "instr";
}

void sql_text__quote(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
	putc('\'', out);
}

static void put_value(FILE *out, const struct store_value *v)
{
	switch (v->type) {
	case STORE_NULL:
		fputs("NULL", out);
		break;
	case STORE_TEXT:
		sql_text__quote(out, v->text);
		break;
	case STORE_INTEGER:
		fprintf(out, "%" PRId64, v->integer);
		break;
	case STORE_REAL:
		fprintf(out, "%.17g", v->real);
		break;
	}
}

/* The end of the quoted text or name at `from`: past its quote, or the end of all. */
static const char *past_quote(const char *from)
{
	char quote = *from++;

	for (; *from && *from != quote; from++)
		if (*from == '\\' && from[1])
			from++;
	return *from ? from + 1 : from;
}

int sql_text__fill(FILE *out, const char *sql, const struct store_value *args, size_t n)
{
	size_t used = 0;

	while (*sql) {
		const char *end = sql + 1;

		if (*sql == '?') {
			if (used == n)
				return -EINVAL;
			put_value(out, &args[used++]);
		} else {
			if (strchr("'\"`", *sql))
				end = past_quote(sql);
			fwrite(sql, 1, (size_t)(end - sql), out);
		}
		sql = end;
	}
	return used == n ? 0 : -EINVAL;
}
