// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "view/format.h"

#define GAP	   2
#define NAME_LEAST 12 /* the first column is not cut below this while another can go instead */
#define CUT	   ".."

struct table {
	const struct table_column *columns;
	size_t n_columns;
	size_t *widths;
	size_t n_shown; /* columns that fit */
	bool name_last;
	char **cells; /* row by row */
	uint32_t n_cells;
	uint32_t capacity;
	int err;
};

int table__new(const struct table_column *columns, size_t n, struct table **out)
{
	_table_ struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->columns = columns;
	t->n_columns = n;
	t->widths = calloc(n, sizeof(*t->widths));
	if (!t->widths)
		return -ENOMEM;
	*out = take_ptr(t);
	return 0;
}

void table__name_last(struct table *t)
{
	t->name_last = true;
}

void table__cell(struct table *t, const char *text)
{
	char *clean;

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

void table__cellf(struct table *t, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		t->err = t->err ?: -ENOMEM;
		return;
	}
	table__cell(t, text);
}

size_t table__rows(const struct table *t)
{
	return t->n_cells / t->n_columns;
}

static void measure(struct table *t)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		size_t width = format_width(t->columns[c].title);

		if (width < t->columns[c].least)
			width = t->columns[c].least;
		for (size_t i = c; i < t->n_cells; i += t->n_columns) {
			size_t cell = format_width(t->cells[i]);

			if (cell > width)
				width = cell;
		}
		t->widths[c] = width;
	}
}

int table__fit(struct table *t, size_t width)
{
	size_t others = 0;

	if (t->err)
		return t->err;
	measure(t);
	t->n_shown = t->n_columns;
	for (size_t c = 1; c < t->n_columns; c++)
		others += GAP + t->widths[c];
	if (!width || t->widths[0] + others <= width)
		return 0;
	while (t->n_shown > 1 && others + NAME_LEAST > width)
		others -= GAP + t->widths[--t->n_shown];
	if (t->widths[0] + others > width)
		t->widths[0] = width - others;
	return 0;
}

static const char *cell_text(const struct table *t, size_t row, size_t column)
{
	return t->cells[row * t->n_columns + column];
}

/* The first column, cut to its width; padded if another follows. */
static void print_name(const struct table *t, const char *text, FILE *out)
{
	size_t room = t->widths[0], bytes = format_fit(text, room), used = 0;
	const char *mark = "";

	if (text[bytes] && room > strlen(CUT)) {
		mark = CUT;
		bytes = format_fit(text, room - strlen(CUT));
	}
	fprintf(out, "%.*s%s", (int)bytes, text, mark);
	if (t->n_shown == 1)
		return;
	/* A wide character that did not fit leaves a column over. */
	while (format_fit(text, used) < bytes)
		used++;
	fprintf(out, "%*s", (int)(room - used - strlen(mark)), "");
}

static void print_number(const struct table *t, size_t column, const char *text, FILE *out)
{
	fprintf(out, "%*s%s", (int)(GAP + t->widths[column] - format_width(text)), "", text);
}

static void print_cell(const struct table *t, size_t column, const char *text, FILE *out)
{
	if (t->name_last && column == 0)
		fprintf(out, "%*s%s", (int)(t->widths[0] - format_width(text)), "", text);
	else if (t->name_last && column + 1 == t->n_columns)
		fprintf(out, "%*s%s", GAP, "", text);
	else if (column == 0)
		print_name(t, text, out);
	else
		print_number(t, column, text, out);
}

void table__print_titles(const struct table *t, FILE *out)
{
	for (size_t c = 0; c < t->n_shown; c++)
		print_cell(t, c, t->columns[c].title, out);
}

void table__print_row(const struct table *t, size_t row, FILE *out)
{
	for (size_t c = 0; c < t->n_shown; c++)
		print_cell(t, c, cell_text(t, row, c), out);
}

int table__print(struct table *t, FILE *out, const char *indent)
{
	int err = table__fit(t, 0);

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
	return 0;
}

void table__free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->widths);
	free(t);
}
