// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"
#include "base/cleanup.h"

#define GAP	   2
#define NAME_LEAST 12
#define CUT	   ".."

struct table {
	struct table_column *columns;
	size_t n_columns;
	size_t *widths;
	bool *left_out; /* columns that do not fit */
	size_t *spare;	/* columns to leave out, the first one first */
	size_t n_spare;
	size_t name_least;
	bool name_last;
	bool cut_beginnings;
	bool names_cut; /* table__fit() had too little room */
	char **cells;	/* row by row */
	uint32_t n_cells;
	uint32_t capacity;
	int err;
};

struct table *table__new(const struct table_column *columns, size_t n)
{
	_table_ struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = calloc(n, sizeof(*columns));
	if (t->columns)
		memcpy(t->columns, columns, n * sizeof(*columns));
	t->n_columns = n;
	t->name_least = NAME_LEAST;
	t->widths = calloc(n, sizeof(*t->widths));
	t->left_out = calloc(n, sizeof(*t->left_out));
	t->spare = calloc(n, sizeof(*t->spare));
	return t->columns && t->widths && t->left_out && t->spare ? take_ptr(t) : NULL;
}

void table__name_last(struct table *t)
{
	if (t)
		t->name_last = true;
}

void table__keep_of_name(struct table *t, size_t columns)
{
	if (t)
		t->name_least = columns;
}

void table__cut_beginnings(struct table *t)
{
	if (t)
		t->cut_beginnings = true;
}

void table__spare(struct table *t, const char *title)
{
	for (size_t c = 0; t && c < t->n_columns; c++) {
		if (!strcmp(t->columns[c].title, title) && t->n_spare < t->n_columns)
			t->spare[t->n_spare++] = c;
	}
}

void table__cell(struct table *t, const char *text)
{
	char *clean;

	if (!t)
		return;
	t->err = t->err
			 ?: array__reserve_one(&t->cells, t->n_cells, &t->capacity,
					       sizeof(*t->cells));
	if (t->err)
		return;
	clean = format_clean(text);
	if (!clean)
		t->err = -ENOMEM;
	else
		t->cells[t->n_cells++] = clean;
}

size_t table__rows(const struct table *t)
{
	return t ? t->n_cells / t->n_columns : 0;
}

static size_t name_column(const struct table *t)
{
	return t->name_last ? t->n_columns - 1 : 0;
}

/* Width of all columns but the names, including gaps. */
static size_t width_of_others(const struct table *t)
{
	size_t width = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		if (c != name_column(t) && !t->left_out[c])
			width += GAP + t->widths[c];
	}
	return width;
}

/* The next column to leave out; the column of names if no other is left. */
static size_t next_spare(const struct table *t)
{
	for (size_t i = 0; i < t->n_spare; i++) {
		if (!t->left_out[t->spare[i]])
			return t->spare[i];
	}
	for (size_t c = t->n_columns; c--;) {
		if (c != name_column(t) && !t->left_out[c])
			return c;
	}
	return name_column(t);
}

int table__fit(struct table *t, size_t width)
{
	size_t name, least;

	if (!t || t->err)
		return t ? t->err : -ENOMEM;
	name = name_column(t);
	for (size_t c = 0; c < t->n_columns; c++) {
		size_t widest = format_width(t->columns[c].title);

		if (widest < t->columns[c].least)
			widest = t->columns[c].least;
		for (size_t i = c; i < t->n_cells; i += t->n_columns) {
			size_t cell = format_width(t->cells[i]);

			if (cell > widest)
				widest = cell;
		}
		t->widths[c] = widest;
	}
	memset(t->left_out, 0, t->n_columns * sizeof(*t->left_out));
	t->names_cut = false;
	if (!width || t->widths[name] + width_of_others(t) <= width)
		return 0;
	least = t->widths[name] < t->name_least ? t->widths[name] : t->name_least;
	while (width_of_others(t) + least > width && next_spare(t) != name)
		t->left_out[next_spare(t)] = true;
	t->names_cut = t->widths[name] + width_of_others(t) > width;
	if (t->names_cut)
		t->widths[name] = width - width_of_others(t);
	return 0;
}

/* A name is cut to the column's width, and padded if another column follows. */
static void print_cell(const struct table *t, size_t column, const char *text, FILE *out)
{
	size_t room = t->widths[column], bytes, used;
	int pad = (int)(room - format_width(text));
	bool cut;

	if (column != name_column(t)) {
		if (t->name_last)
			fprintf(out, "%*s%s%*s", pad, "", text, GAP, "");
		else
			fprintf(out, "%*s%s", GAP + pad, "", text);
		return;
	}
	bytes = format_fit(text, room);
	cut = text[bytes] && room > strlen(CUT);
	if (cut && t->cut_beginnings) {
		text = format_fit_end(text, room - strlen(CUT));
		bytes = strlen(text);
	} else if (cut) {
		bytes = format_fit(text, room - strlen(CUT));
	}
	fprintf(out, "%s%.*s%s", cut && t->cut_beginnings ? CUT : "", (int)bytes, text,
		cut && !t->cut_beginnings ? CUT : "");
	if (t->name_last || !width_of_others(t))
		return;
	/* A wide character that does not fit leaves one column unused. */
	used = format_width(text) - format_width(text + bytes);
	fprintf(out, "%*s", (int)(room - used - (cut ? strlen(CUT) : 0)), "");
}

void table__print_titles(const struct table *t, FILE *out)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		if (!t->left_out[c])
			print_cell(t, c, t->columns[c].title, out);
	}
}

void table__print_row(const struct table *t, size_t row, FILE *out)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		if (!t->left_out[c])
			print_cell(t, c, t->cells[row * t->n_columns + c], out);
	}
}

int table__print(struct table *t, FILE *out, const char *indent, size_t width, const char *option)
{
	static const char one[] = "  hidden column: ", several[] = "  hidden columns: ";
	int err = table__fit(t, width);
	size_t n = 0, printed = 0;

	if (err)
		return err;
	fputs(indent, out);
	table__print_titles(t, out);
	fputc('\n', out);
	for (size_t row = 0; row < table__rows(t); row++) {
		fputs(indent, out);
		table__print_row(t, row, out);
		fputc('\n', out);
	}
	for (size_t c = 0; c < t->n_columns; c++)
		n += t->left_out[c];
	for (size_t c = 0; c < t->n_columns; c++) {
		if (t->left_out[c])
			fprintf(out, "%s%s",
				printed++ ? ", "
				: n == 1  ? one
					  : several,
				t->columns[c].title);
	}
	/* Without their beginnings, names look alike. */
	if (t->cut_beginnings && t->names_cut)
		fprintf(out, "%ssome names are cut", n++ ? "; " : "  ");
	if (n)
		fprintf(out, " (%s)\n", option);
	return 0;
}

void table__free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->columns);
	free(t->widths);
	free(t->left_out);
	free(t->spare);
	free(t);
}

/* ---- Lines that wrap ------------------------------------------------------------------------- */

void print_clean(FILE *out, const char *text)
{
	_free_ char *clean = format_clean(text);

	fputs(clean ?: "?", out);
}

static size_t width_of(const char *text, size_t len)
{
	_free_ char *word = strndup(text, len);

	return word ? format_width(word) : len;
}

void wrap_print(FILE *out, const char *text, size_t used, size_t width, size_t indent)
{
	bool begun = false; /* the line has a word */

	while (*text) {
		size_t blanks = strspn(text, " "), len = strcspn(text + blanks, " ");
		size_t takes = blanks + width_of(text + blanks, len);

		if (width && begun && len && used + takes > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			takes -= blanks;
			used = indent;
		} else {
			fprintf(out, "%*s", (int)blanks, "");
		}
		fprintf(out, "%.*s", (int)len, text + blanks);
		used += takes;
		begun |= len;
		text += blanks + len;
	}
	fputc('\n', out);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

int markdown_code(FILE *out, const char *text)
{
	_free_ char *clean = format_clean(text);

	if (!clean)
		return -ENOMEM;
	fputc('`', out);
	for (const char *c = clean; *c; c++) {
		if (*c == '|')
			fputc('\\', out);
		fputc(*c == '`' ? '\'' : *c, out);
	}
	fputc('`', out);
	return 0;
}
