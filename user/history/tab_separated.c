// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/tab_separated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static enum store_type type_of(const char *name)
{
	static const char *const wrappers[] = {"Nullable(", "LowCardinality("};

	for (size_t i = 0; i < N_OF(wrappers);) {
		if (begins_with(name, wrappers[i])) {
			name += strlen(wrappers[i]);
			i = 0;
		} else {
			i++;
		}
	}
	if (begins_with(name, "UInt") || begins_with(name, "Int"))
		return STORE_INTEGER;
	return begins_with(name, "Float") ? STORE_REAL : STORE_TEXT;
}

/* The character for which a backslash and this letter stand. */
static char escaped(char letter)
{
	static const char letters[] = "bfnrt0", meant[] = "\b\f\n\r\t\0";
	const char *at = letter ? strchr(letters, letter) : NULL;

	return at ? meant[at - letters] : letter;
}

/* In place. A null byte, which no text of ours has, ends it. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && text[1])
			*to++ = escaped(*++text);
		else
			*to++ = *text;
	}
	*to = '\0';
}

static int read_cell(struct store_value *v, enum store_type type, char *text)
{
	char *end;

	*v = (struct store_value){.type = type};
	if (!strcmp(text, "\\N")) {
		v->type = STORE_NULL;
		return 0;
	}
	if (type == STORE_TEXT) {
		unescape(text);
		v->text = text;
		return 0;
	}
	errno = 0;
	v->integer = strtoll(text, &end, 10);
	if (errno == ERANGE) /* an unsigned number that is too large */
		v->type = STORE_REAL;
	if (v->type == STORE_REAL)
		v->real = strtod(text, &end);
	return !*text || *end ? -EPROTO : 0;
}

static int read_row(struct tab_separated *t, char *line)
{
	struct store_value cells[TAB_SEPARATED_CELLS_MAX];
	size_t n = 0;
	char *cell;

	for (; (cell = strsep(&line, "\t")); n++) {
		int err = n < t->n ? read_cell(&cells[n], t->types[n], cell) : -EPROTO;

		if (err)
			return err;
	}
	return n == t->n ? t->row(t->ctx, cells, n) : -EPROTO;
}

static int read_line(struct tab_separated *t)
{
	char *line = t->line, *name;

	if (strlen(t->line) != t->len)
		return -EPROTO; /* null bytes come escaped */
	switch (t->lines++) {
	case 0: /* names */
		return 0;
	case 1:
		for (; (name = strsep(&line, "\t")); t->n++) {
			if (t->n == TAB_SEPARATED_CELLS_MAX)
				return -EPROTO;
			t->types[t->n] = type_of(name);
		}
		return 0;
	default:
		return read_row(t, line);
	}
}

int tab_separated__take(struct tab_separated *t, const char *bytes, size_t n)
{
	while (n) {
		const char *newline = memchr(bytes, '\n', n);
		size_t piece = newline ? (size_t)(newline - bytes) : n;
		int err;

		if (t->len + piece > TAB_SEPARATED_LINE_MAX)
			return -EPROTO;
		err = bytes__append(&t->line, &t->len, &t->capacity, bytes, piece);
		if (err || !newline)
			return err;
		err = bytes__append(&t->line, &t->len, &t->capacity, "", 1);
		t->len--;
		if (!err)
			err = read_line(t);
		if (err)
			return err;
		t->len = 0;
		bytes += piece + 1;
		n -= piece + 1;
	}
	return 0;
}

int tab_separated__end(const struct tab_separated *t)
{
	return t->lines < 2 || t->len ? -EPROTO : 0;
}

void tab_separated__clear(struct tab_separated *t)
{
	free(t->line);
	t->line = NULL;
}
