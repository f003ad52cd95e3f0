// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/json_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <string.h>

#include "base/format.h"
#include "history/columns.h"
#include "history/cells.h"

/* More than the longest row: all texts of a build, with six bytes for each. */
#define LINE_MAX_BYTES (512u << 10)

static void put_text(FILE *out, const char *text)
{
	putc('"', out);
	while (*text) {
		uint32_t cp;
		size_t len = format_utf8(text, &cp);
		char scratch[FORMAT_ESCAPE];
		const char *escaped = len ? format_json_escape(cp, scratch) : "\xef\xbf\xbd";

		if (escaped)
			fputs(escaped, out);
		else
			fwrite(text, 1, len, out);
		text += len ?: 1;
	}
	putc('"', out);
}

static void put_columns(FILE *out, const struct history_table *t, const void *row,
			const char *separator)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];
		bool is_text = c->type == HISTORY_TEXT;
		const char *text = is_text ? history_column__text(c, row) : NULL;
		uint64_t number = is_text ? HISTORY_UNKNOWN : history_column__number(c, row);

		fprintf(out, "%s\"%s\":", separator, c->name);
		if (text)
			put_text(out, text);
		else if (number != HISTORY_UNKNOWN)
			fprintf(out, "%" PRIu64, number);
		else
			fputs("null", out);
		separator = ",";
	}
	fputs("}\n", out);
}

void json_lines__row(FILE *out, enum history_table_id table, const void *row)
{
	putc('{', out);
	put_columns(out, history_table(table), row, "");
}

int json_lines__write(FILE *out, const struct history_rows *rows)
{
	fprintf(out, "{\"table\":\"build\",\"schema\":\"" JSON_LINES_SCHEMA "/%d\"",
		HISTORY_VERSION);
	for (int id = HISTORY_BUILD + 1; id < HISTORY_TABLES; id++)
		fprintf(out, ",\"%s_rows\":%zu", history_table(id)->name,
			history_rows__n(rows, id));
	put_columns(out, history_table(HISTORY_BUILD), &rows->build, ",");
	for (int id = HISTORY_BUILD + 1; id < HISTORY_TABLES; id++) {
		const struct history_table *t = history_table(id);

		for (size_t i = 0; i < history_rows__n(rows, id) && !ferror(out); i++) {
			fprintf(out, "{\"table\":\"%s\"", t->name);
			put_columns(out, t, history_rows__at(rows, id, i), ",");
		}
	}
	return ferror(out) ? -(errno ?: EIO) : 0;
}

struct json_lines {
	FILE *in;
	struct json_tokener *tokener;
	char *line;
	uint64_t number; /* of the line, from 1 */
	uint64_t announced[HISTORY_TABLES];
	unsigned long version; /* of the build */
	int err;
	char problem[256];
};

static bool had_budgets(const struct json_lines *l)
{
	return l->version == 1;
}

int json_lines__new(FILE *in, struct json_lines **out)
{
	_json_lines_ struct json_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->in = in;
	l->line = malloc(LINE_MAX_BYTES);
	l->tokener = json_tokener_new_ex(2);
	if (!l->line || !l->tokener)
		return -ENOMEM;
	json_tokener_set_flags(l->tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	*out = take_ptr(l);
	return 0;
}

__attribute__((format(printf, 3, 4))) static int fail(struct json_lines *l, int err,
						      const char *fmt, ...)
{
	int len = snprintf(l->problem, sizeof(l->problem), "line %" PRIu64 ": ", l->number);
	va_list args;

	va_start(args, fmt);
	vsnprintf(l->problem + len, sizeof(l->problem) - len, fmt, args);
	va_end(args);
	return err;
}

/* Read the next line that is not empty. 1; 0 at the end. */
static int read_line(struct json_lines *l, size_t *len)
{
	int c = 0;

	for (*len = 0; !*len && c != EOF; l->number++)
		while ((c = getc_unlocked(l->in)) != EOF && c != '\n') {
			if (!c || *len == LINE_MAX_BYTES) {
				l->number++;
				return fail(l, -EBADMSG, c ? "it is too long" : "it is no text");
			}
			l->line[(*len)++] = c;
		}
	return ferror(l->in) ? -(errno ?: EIO) : *len > 0;
}

static int take_number(struct json_lines *l, const char *name, struct json_object *value,
		       uint64_t *number)
{
	/* A greater number is read as the greatest. */
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 ||
	    json_object_get_uint64(value) >= HISTORY_NUMBER_MAX)
		return fail(l, -EBADMSG, "\"%.64s\" is no number from 0 to 2^63 - 2", name);
	*number = json_object_get_uint64(value);
	return 0;
}

static int take_text(struct json_lines *l, const char *name, struct json_object *value,
		     const char **text)
{
	size_t len;

	if (!json_object_is_type(value, json_type_string))
		return fail(l, -EBADMSG, "\"%.64s\" is no text", name);
	*text = json_object_get_string(value);
	len = json_object_get_string_len(value);
	if (len > HISTORY_TEXT_MAX || strlen(*text) != len)
		return fail(l, -EBADMSG, "\"%.64s\" is longer than %d bytes, or has a null", name,
			    HISTORY_TEXT_MAX);
	return 0;
}

static int take_column(struct json_lines *l, struct history_rows *rows,
		       const struct history_column *c, struct json_object *value, void *row)
{
	const char *text;
	uint64_t number;
	int err;

	if (!value)
		return 0;
	if (c->type == HISTORY_NUMBER) {
		err = take_number(l, c->name, value, &number);
		if (!err)
			history_column__set_number(c, row, number);
		return err;
	}
	err = take_text(l, c->name, value, &text);
	if (err)
		return err;
	text = history_rows__text(rows, text);
	history_column__set_text(c, row, text);
	return text ? 0 : -ENOMEM;
}

/* Take the columns of a row. Keys of other meaning were removed from `o`. */
static int take_row(struct json_lines *l, struct history_rows *rows, enum history_table_id id,
		    struct json_object *o, void *row)
{
	const struct history_table *t = history_table(id);
	char why[128];

	json_object_object_foreach (o, key, value) {
		const struct history_column *c = history_table__column(t, key);
		int err;

		if (!c && had_budgets(l) && !strcmp(key, "budget_ppm"))
			continue;
		if (!c)
			return fail(l, -EBADMSG, "the table \"%s\" has no column \"%.64s\"",
				    t->name, key);
		err = take_column(l, rows, c, value, row);
		if (err)
			return err;
	}
	return row_check(id, row, why, sizeof(why)) ? 0 : fail(l, -EBADMSG, "%s", why);
}

/* Take a key that is no column out of the object: *text of it, valid for the object's time. */
static int take_table(struct json_lines *l, struct json_object *o, const struct history_table **t,
		      enum history_table_id *id)
{
	struct json_object *value;
	const char *name;
	int err;

	if (!json_object_object_get_ex(o, "table", &value))
		return fail(l, -EBADMSG, "it has no \"table\"");
	err = take_text(l, "table", value, &name);
	if (err)
		return err;
	for (int i = 0; i < HISTORY_TABLES; i++) {
		if (strcmp(history_table(i)->name, name))
			continue;
		*id = i;
		*t = history_table(i);
		json_object_object_del(o, "table");
		return 0;
	}
	return fail(l, -EBADMSG, "there is no table \"%.64s\"", name);
}

static int take_schema(struct json_lines *l, struct json_object *o)
{
	static const char prefix[] = JSON_LINES_SCHEMA "/";
	struct json_object *value;
	const char *text;
	char *end;
	unsigned long version;
	int err;

	if (!json_object_object_get_ex(o, "schema", &value))
		return fail(l, -EBADMSG, "it has no \"schema\"");
	err = take_text(l, "schema", value, &text);
	if (err)
		return err;
	if (strncmp(text, prefix, sizeof(prefix) - 1))
		return fail(l, -EBADMSG, "its schema is not " JSON_LINES_SCHEMA);
	version = strtoul(text + sizeof(prefix) - 1, &end, 10);
	if (!*end && version > HISTORY_VERSION)
		return fail(l, -EPROTONOSUPPORT, "a newer version of qprof-bpf wrote it");
	if (*end || !version)
		return fail(l, -EBADMSG, "its schema has an unknown version");
	l->version = version;
	json_object_object_del(o, "schema");
	return 0;
}

static int take_announced(struct json_lines *l, struct json_object *o)
{
	for (int id = HISTORY_BUILD + 1; id < HISTORY_TABLES; id++) {
		struct json_object *value;
		char key[32];
		int err;

		snprintf(key, sizeof(key), "%s_rows", history_table(id)->name);
		l->announced[id] = 0;
		if (id == HISTORY_LLVM && l->version < 4)
			continue;
		if (!json_object_object_get_ex(o, key, &value))
			return fail(l, -EBADMSG, "it has no \"%s\"", key);
		err = take_number(l, key, value, &l->announced[id]);
		if (err)
			return err;
		json_object_object_del(o, key);
	}
	return 0;
}

static int take_build(struct json_lines *l, struct history_rows *rows, struct json_object *o)
{
	const struct history_table *t;
	enum history_table_id id;
	int err = take_table(l, o, &t, &id);

	if (err)
		return err;
	if (id != HISTORY_BUILD)
		return fail(l, -EBADMSG, "it belongs to no build: more rows than were announced");
	err = take_schema(l, o) ?: take_announced(l, o) ?: take_row(l, rows, id, o, &rows->build);
	if (err || !had_budgets(l) || !rows->build.how || strcmp(rows->build.how, "budget"))
		return err;
	rows->build.how = history_rows__text(rows, "sampled");
	return rows->build.how ? 0 : -ENOMEM;
}

static int take_other(struct json_lines *l, struct history_rows *rows, struct json_object *o)
{
	const struct history_table *t;
	const struct history_column *c;
	const char *how;
	enum history_table_id id;
	int err = take_table(l, o, &t, &id);
	void *row;

	if (err)
		return err;
	if (id == HISTORY_BUILD || history_rows__n(rows, id) == l->announced[id])
		return fail(l, -EBADMSG, "the build before it announced other rows");
	row = history_rows__append(rows, id);
	if (!row)
		return -ENOMEM;
	err = take_row(l, rows, id, o, row);
	if (err)
		return err;
	/* All rows of these tables begin with these two columns. Equal texts are one. */
	if (history_column__text(&t->columns[0], row) != rows->build.build ||
	    history_column__number(&t->columns[1], row) != rows->build.start_ns)
		return fail(l, -EBADMSG, "it is not of the build before it");
	/* What recordings of version 1 estimated as their budget left it out; no row of today is
	 * one.
	 */
	c = history_table__column(t, "how");
	how = c ? history_column__text(c, row) : NULL;
	if (had_budgets(l) && how && !strcmp(how, "estimated")) {
		rows->n[id]--;
		l->announced[id]--;
	}
	return 0;
}

/* 1 if there was a line; the first of a build has its row. 0 at the end. */
static int take_line(struct json_lines *l, struct history_rows *rows, bool is_first)
{
	struct json_object *o;
	size_t len;
	int err = read_line(l, &len);

	if (err <= 0)
		return err;
	json_tokener_reset(l->tokener);
	o = json_tokener_parse_ex(l->tokener, l->line, (int)len);
	if (!json_object_is_type(o, json_type_object))
		err = fail(l, -EBADMSG, "it is no JSON object");
	else
		err = is_first ? take_build(l, rows, o) : take_other(l, rows, o);
	json_object_put(o);
	return err ?: 1;
}

static bool is_whole(const struct json_lines *l, const struct history_rows *rows)
{
	for (int id = HISTORY_BUILD + 1; id < HISTORY_TABLES; id++)
		if (history_rows__n(rows, id) != l->announced[id])
			return false;
	return true;
}

int json_lines__next(struct json_lines *l, struct history_rows *rows)
{
	bool is_first = true;

	while (!l->err) {
		int err = take_line(l, rows, is_first);

		if (!err && is_first)
			return 0;
		if (!err)
			err = fail(l, -EBADMSG, "the file ends within a build");
		if (err > 0 && is_whole(l, rows))
			return 1;
		l->err = err < 0 ? err : 0;
		is_first = false;
	}
	return l->err;
}

const char *json_lines__problem(const struct json_lines *l)
{
	return l->problem[0] ? l->problem : NULL;
}

void json_lines__free(struct json_lines *l)
{
	if (!l)
		return;
	if (l->tokener)
		json_tokener_free(l->tokener);
	free(l->line);
	free(l);
}
