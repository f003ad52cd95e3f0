// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"

static const char *const unit_names[UNITS] = {
	[UNIT_NS] = "ns",	  [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count",
	[UNIT_PS] = "ps",	  [UNIT_PPM] = "ppm",	  [UNIT_PERCENT] = "percent",
	[UNIT_SHARE] = "share",	  [UNIT_ID] = "id",	  [UNIT_TEXT] = "text",
	[UNIT_BOOL] = "bool",	  [UNIT_LIST] = "list",	  [UNIT_OBJECT] = "object",
	[UNIT_METRIC] = "metric", [UNIT_RATIO] = "ratio", [UNIT_BUILDS] = "builds",
	[UNIT_NONE] = "",
};

enum column_unit column_unit_of(const char *name)
{
	enum column_unit unit = 0;

	while (unit < UNIT_NONE && strcmp(unit_names[unit], name) != 0)
		unit++;
	return unit;
}

static bool is_table(const struct columns *c)
{
	return c->to == COLUMNS_TEXT || c->to == COLUMNS_MARKDOWN;
}

bool columns__has_titles(const struct columns *c)
{
	return is_table(c) || (c->to == COLUMNS_PAGE && c->lists == 1);
}

static void print(struct columns *c, const char *text)
{
	if (!c->err && fputs(text, c->out) == EOF)
		c->err = -EIO;
}

/* ---- Documents ------------------------------------------------------------------------------- */

void columns__begin(struct columns *c, const char *schema, const char *help)
{
	c->describes = c->to == COLUMNS_SCHEMA;
	if (c->describes) {
		fprintf(c->out, "{\"schema\":\"qprof-fields/1\",\"of\":\"%s\",\"fields\":[",
			schema);
	} else {
		print(c, "{");
		c->first = true;
	}
	TEXT(c, "schema", NULL, schema, help);
}

int columns__end(struct columns *c)
{
	print(c, c->to == COLUMNS_SCHEMA ? "]}\n" : "}\n");
	return c->err;
}

void columns__begin_line(struct columns *c, const char *name, const char *key, const char *value)
{
	char constant[64];

	c->first = true;
	if (c->to == COLUMNS_DEFINITIONS) {
		c->required[0] = '\0';
		snprintf(constant, sizeof(constant), "{\"const\": \"%s\"}", value);
		fprintf(c->out, ",\n\"%s\": {\"type\": \"object\",\n\"properties\": {", name);
	} else {
		print(c, "{");
	}
	if (key)
		TEXT(c, key, NULL, value, constant);
}

int columns__end_line(struct columns *c)
{
	if (c->to == COLUMNS_DEFINITIONS)
		fprintf(c->out, "},\n\"required\": [%s]%s}", c->required,
			c->closed ? ", \"additionalProperties\": false" : "");
	else
		print(c, "}\n");
	c->closed = false;
	return c->err;
}

/* Of a schema: the name of the object or list is a part of the paths below it. */
static void enter_path(struct columns *c, const char *after)
{
	size_t len = strlen(c->path);

	snprintf(c->path + len, sizeof(c->path) - len, "%s%s%s", len ? "." : "", c->key, after);
}

static void leave_path(struct columns *c)
{
	char *dot = strrchr(c->path, '.');

	*(dot ?: c->path) = '\0';
}

static void put_key(struct columns *c)
{
	if (!c->err && fprintf(c->out, "%s\"%s\":", c->first ? "" : ",", c->key) < 0)
		c->err = -EIO;
	c->first = false;
}

bool columns__object(struct columns *c, bool there)
{
	if (!there)
		return false;
	if (c->describes) {
		enter_path(c, "");
		return true;
	}
	put_key(c);
	print(c, "{");
	c->first = true;
	return true;
}

bool columns__object_or_null(struct columns *c, bool there)
{
	if (!there)
		columns__unknown(c);
	return columns__object(c, there);
}

void columns__leave(struct columns *c)
{
	if (c->describes)
		leave_path(c);
	else
		print(c, "}");
	c->first = false;
}

bool columns__list(struct columns *c, bool there)
{
	if (!there)
		return false;
	if (c->describes) {
		enter_path(c, "[]");
		return true;
	}
	put_key(c);
	print(c, "[");
	if (!c->lists++) {
		c->list = c->key;
		c->n = 0;
	}
	return true;
}

static void print_json(struct columns *c, const char *text)
{
	struct json j = {.out = c->out, .err = c->err};

	json__print_text(&j, text);
	c->err = j.err;
}

void columns__leave_list(struct columns *c)
{
	if (c->describes)
		leave_path(c);
	else
		print(c, "]");
	/* Of a page, behind the list: [key in the rows, title, unit, help, whole] of each column.
	 */
	if (columns__has_titles(c) && c->n && !c->err) {
		fprintf(c->out, ",\"@%s\":[", c->list);
		for (size_t i = 0; i < c->n; i++) {
			fprintf(c->out, "%s[\"%s\",\"%s\",\"%s\",", i ? "," : "", c->of_page[i].key,
				c->titles[i].title, unit_names[c->units[i]]);
			print_json(c, c->of_page[i].help);
			fprintf(c->out, ",%" PRIu64 "]", c->of_page[i].whole);
		}
		print(c, "]");
	}
	c->lists -= !c->describes;
	c->first = false;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The key on a page of a column without a member of the document. */
static const char *key_of(char key[32], const char *member, const char *title)
{
	snprintf(key, 32, "%s%s", member ? "" : "@", member ?: title);
	return key;
}

static void add_title(struct columns *c, enum column_unit unit, const char *key, const char *title,
		      const char *help)
{
	size_t least = unit == UNIT_NS || unit == UNIT_COUNT ? c->least_of_numbers : 0;

	if (c->n == COLUMNS_MOST) {
		c->err = -E2BIG;
		return;
	}
	if (!c->n)
		least = c->least_of_name;
	c->units[c->n] = unit;
	c->titles[c->n] = (struct table_column){title, least};
	key_of(c->of_page[c->n].key, key, title);
	c->of_page[c->n].help = help;
	c->of_page[c->n++].whole = 0;
}

/* Of Markdown its first two lines; of text the table that its cells are put into. */
static void begin_table(struct columns *c)
{
	if (c->to == COLUMNS_MARKDOWN) {
		for (size_t i = 0; i < c->n; i++)
			fprintf(c->out, "| %s ", c->titles[i].title);
		print(c, "|\n|");
		for (size_t i = 0; i < c->n; i++)
			print(c, c->units[i] == UNIT_TEXT ? "---|" : "---:|");
		print(c, "\n");
		return;
	}
	c->table = table__new(c->titles, c->n);
	if (!c->table)
		c->err = -ENOMEM;
	if (c->name_last)
		table__name_last(c->table);
	if (c->cut_beginnings)
		table__cut_beginnings(c->table);
	if (c->keep_of_name)
		table__keep_of_name(c->table, c->keep_of_name);
	for (const char *const *title = c->spare; title && *title; title++)
		table__spare(c->table, *title);
}

void columns__more(const struct columns *c, size_t n, const char *one, const char *many)
{
	if (n)
		fprintf(c->out, "%sand %zu more%s%s\n", c->to == COLUMNS_MARKDOWN ? "\n" : "  ", n,
			one ? " " : "", n == 1 ? one ?: "" : many ?: "");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

#define NO_ROW SIZE_MAX /* the next one is 0 */

size_t columns__first(struct columns *c)
{
	if (columns__has_titles(c))
		c->describes = true;
	return c->describes ? NO_ROW : 0;
}

/* Whether this round is without a row. */
bool columns__describe(struct columns *c, size_t i)
{
	if (columns__has_titles(c))
		c->describes = i == NO_ROW;
	return c->describes;
}

static bool next_of_list(struct columns *c, size_t i, size_t n)
{
	if (i)
		print(c, "}");
	if (c->err || i >= n) {
		columns__leave_list(c);
		return false;
	}
	print(c, i ? "," : "");
	/* A list within another one is on its line. */
	print(c, c->lists == 1 && !c->one_line ? "\n{" : "{");
	c->first = true;
	return true;
}

static bool next_of_table(struct columns *c, size_t i, size_t n)
{
	if (!i)
		begin_table(c);
	else if (c->to == COLUMNS_MARKDOWN)
		print(c, "|\n");
	if (!c->err && i < n)
		return true;
	if (c->keeps_table)
		return false;
	if (c->to == COLUMNS_TEXT && !c->err)
		c->err = table__print(c->table, c->out, c->indent ?: "", c->width,
				      c->option ?: "report --wide");
	table__free(take_ptr(c->table));
	c->n = 0;
	return false;
}

bool columns__next(struct columns *c, size_t i, size_t n)
{
	if (i == NO_ROW)
		return true;
	/* What nobody reads is not made. */
	if (c->out && ferror(c->out))
		c->err = c->err ?: -EIO;
	if (c->to == COLUMNS_SCHEMA) {
		columns__leave_list(c);
		return false;
	}
	return is_table(c) ? next_of_table(c, i, n) : next_of_list(c, i, n);
}

/* ---- Columns --------------------------------------------------------------------------------- */

bool columns__wants(struct columns *c, enum column_unit unit, const char *key, const char *title,
		    const char *help)
{
	bool wanted = (!is_table(c) && key) || (columns__has_titles(c) && title);

	if (!wanted || c->err)
		return false;
	c->unit = unit;
	c->key = key || is_table(c) ? key : key_of(c->title_key, NULL, title);
	c->is_name = false;
	if (!c->describes)
		return true;
	if (columns__has_titles(c)) {
		if (title) /* else it is a member only */
			add_title(c, unit, key, title, help);
	} else if (c->to == COLUMNS_DEFINITIONS) {
		size_t len = strlen(c->required);

		fprintf(c->out, "%s\"%s\": %s", c->first ? "" : ", ", key, help);
		if (!c->optional)
			snprintf(c->required + len, sizeof(c->required) - len, "%s\"%s\"",
				 len ? ", " : "", key);
		c->first = c->optional = false;
	} else {
		fprintf(c->out, "%s\n{\"path\":\"%s%s%s\",\"unit\":\"%s\",\"text\":",
			c->n_fields++ ? "," : "", c->path, *c->path ? "." : "", key,
			unit_names[unit]);
		print_json(c, help);
		print(c, "}");
	}
	/* What is in an object or a list is described, too. */
	return c->to == COLUMNS_SCHEMA && (unit == UNIT_OBJECT || unit == UNIT_LIST);
}

static void put_cell(struct columns *c, const char *mark, const char *text)
{
	_free_ char *marked = NULL;

	if (c->to == COLUMNS_TEXT) {
		if (*mark && asprintf(&marked, "%s%s", mark, text) < 0) {
			marked = NULL; /* its value is undefined */
			c->err = -ENOMEM;
		}
		table__cell(c->table, marked ?: text);
		return;
	}
	print(c, "| ");
	print(c, mark);
	if (c->is_name)
		c->err = c->err ?: markdown_code(c->out, text);
	else
		print(c, text);
	print(c, " ");
}

void columns__text(struct columns *c, const char *text)
{
	if (is_table(c)) {
		put_cell(c, "", text ?: "-");
		return;
	}
	put_key(c);
	print_json(c, text);
}

void columns__format(struct columns *c, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		text = NULL;
	columns__owned(c, take_ptr(text));
}

void columns__item(struct columns *c, size_t i, const char *text)
{
	if (c->describes)
		return;
	print(c, i ? "," : "");
	print_json(c, text);
}

void columns__owned(struct columns *c, char *text)
{
	if (text)
		columns__text(c, text);
	else
		c->err = c->err ?: -ENOMEM;
	free(text);
}

void columns__marked_name(struct columns *c, const char *mark, char *name)
{
	c->is_name = true;
	if (name && is_table(c))
		put_cell(c, mark, name);
	else if (name)
		columns__text(c, name);
	else
		c->err = c->err ?: -ENOMEM;
	free(name);
}

static const char *format(char buf[FORMAT_MAX], enum column_unit unit, uint64_t value)
{
	switch (unit) {
	case UNIT_NS:
		return format_duration(buf, value);
	case UNIT_BYTES:
		return format_bytes(buf, value);
	case UNIT_ID:
		snprintf(buf, FORMAT_MAX, "%" PRIu64, value);
		return buf;
	default:
		return format_count(buf, value);
	}
}

void columns__marked(struct columns *c, const char *mark, uint64_t value)
{
	char buf[FORMAT_MAX];

	if (is_table(c)) {
		put_cell(c, mark, format(buf, c->unit, value));
		return;
	}
	put_key(c);
	if (!c->err && fprintf(c->out, "%" PRIu64, value) < 0)
		c->err = -EIO;
	if (*mark && columns__has_titles(c))
		fprintf(c->out, ",\"~%s\":\"%s\"", c->key, mark);
}

void columns__number(struct columns *c, uint64_t value)
{
	columns__marked(c, "", value);
}

void columns__signed(struct columns *c, int64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRId64, value);
	if (is_table(c)) {
		put_cell(c, "", buf);
		return;
	}
	put_key(c);
	print(c, buf);
}

void columns__address(struct columns *c, uint64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%#" PRIx64, value);
	columns__text(c, value ? buf : NULL);
}

void columns__percent(struct columns *c, uint64_t part, uint64_t whole)
{
	char buf[FORMAT_MAX];

	if (is_table(c)) {
		put_cell(c, "", format_percent(buf, part, whole));
		return;
	}
	columns__number(c, part);
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->of_page[i].key, c->key))
			c->of_page[i].whole = whole;
}

void columns__real(struct columns *c, double value, int decimals)
{
	put_key(c);
	fprintf(c->out, "%.*f", decimals, value);
}

void columns__bool(struct columns *c, bool value)
{
	put_key(c);
	print(c, value ? "true" : "false");
}

void columns__unknown(struct columns *c)
{
	if (is_table(c)) {
		put_cell(c, "", "-");
		return;
	}
	put_key(c);
	print(c, "null");
}

void columns__none(struct columns *c)
{
	if (is_table(c))
		put_cell(c, "", "-");
}
