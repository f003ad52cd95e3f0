// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sql_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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
