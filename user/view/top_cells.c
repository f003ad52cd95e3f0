// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The cells of the rows of view/top_rows.h, and their order. */
#include <inttypes.h>
#include <string.h>

#include "view/place_text.h"
#include "view/top_rows.h"

struct order {
	const struct trace_texts *names;
	size_t column;
	enum top_kind kind;
	bool reverse;
};

/* The text by which a cell is sorted and found; NULL: it is a number. */
static const char *cell_text(const struct trace_texts *names, const struct top_cell *cell,
			     enum top_kind kind)
{
	const struct trace_place *place;

	switch (kind) {
	case TOP_TEXT:
	case TOP_INTERVAL:
	case TOP_FUNCTION:
		return cell->text ?: "";
	case TOP_PATH:
		return cell->number == TRACE_NO_STRING
			       ? "(no item)"
			       : names->text(names->ctx, (uint32_t)cell->number);
	case TOP_LABEL:
		return names->text(names->ctx, (uint32_t)cell->number);
	case TOP_SOURCE:
		place = trace_texts__place(names, (uint32_t)cell->number);
		return place ? names->text(names->ctx, place->file) : "";
	default:
		return NULL;
	}
}

static int compare_lines(const struct order *o, const struct top_cell *x, const struct top_cell *y)
{
	const struct trace_place *a, *b;

	if (o->kind != TOP_SOURCE)
		return 0;
	a = trace_texts__place(o->names, (uint32_t)x->number);
	b = trace_texts__place(o->names, (uint32_t)y->number);
	return a && b ? (a->line > b->line) - (a->line < b->line) : 0;
}

static int compare_cells(const struct order *o, const struct top_cell *x, const struct top_cell *y)
{
	const char *a = cell_text(o->names, x, o->kind), *b = cell_text(o->names, y, o->kind);

	if (a)
		return strcasecmp(a, b) ?: compare_lines(o, x, y);
	/* Adding 1 wraps TOP_UNKNOWN to 0, so unknown numbers sort as the smallest. */
	return (y->number + 1 > x->number + 1) - (y->number + 1 < x->number + 1);
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct top_row *x = a, *y = b;
	const struct order *o = ctx;
	int by = compare_cells(o, &x->cells[o->column], &y->cells[o->column]);

	if (o->reverse)
		by = -by;
	return by ?: (x->id > y->id) - (x->id < y->id);
}

void top_rows__sort(struct top_rows *rows, enum top_table table, size_t column, bool reverse)
{
	struct order order = {
		.names = rows->names,
		.column = column,
		.kind = top_layout(table)->columns[column].kind,
		.reverse = reverse,
	};

	if (rows->n)
		qsort_r(rows->at, rows->n, sizeof(*rows->at), compare_rows, &order);
}

bool top_rows__has(const struct top_rows *rows, size_t i, enum top_table table, const char *text)
{
	const struct top_layout *layout = top_layout(table);
	const struct top_cell *cells = rows->at[i].cells;
	char number[24];

	if (!*text || strcasestr(cell_text(rows->names, &cells[0], layout->columns[0].kind), text))
		return true;
	for (size_t c = 0; c < layout->n; c++) {
		if (layout->columns[c].kind != TOP_NUMBER)
			continue;
		snprintf(number, sizeof(number), "%" PRIu64, cells[c].number);
		if (strstr(number, text))
			return true;
	}
	return false;
}

/* A text that is too long loses its end, a path its beginning. */
static void show_text(const char *text, enum top_kind kind, char buf[TOP_CELL_MAX])
{
	size_t len = strlen(text);

	if (kind == TOP_PATH && len >= TOP_CELL_MAX)
		text += len - (TOP_CELL_MAX - 1);
	snprintf(buf, TOP_CELL_MAX, "%s", text);
}

static void show_place(const struct trace_texts *names, uint32_t item, char buf[TOP_CELL_MAX])
{
	_free_ char *text = place_text(names, item);

	show_text(text ?: "", TOP_SOURCE, buf);
}

void top_rows__show(const struct top_rows *rows, size_t i, enum top_table table, size_t column,
		    char buf[TOP_CELL_MAX])
{
	const struct top_cell *cell = &rows->at[i].cells[column];
	enum top_kind kind = top_layout(table)->columns[column].kind;
	const char *text = cell_text(rows->names, cell, kind);
	char duration[FORMAT_MAX];

	_Static_assert(TOP_CELL_MAX >= FORMAT_MAX, "a number fits where a text does");
	if (kind == TOP_SOURCE)
		show_place(rows->names, (uint32_t)cell->number, buf);
	else if (text)
		show_text(text, kind, buf);
	else if (cell->number == TOP_UNKNOWN)
		snprintf(buf, TOP_CELL_MAX, "-");
	else if (kind == TOP_NUMBER)
		snprintf(buf, TOP_CELL_MAX, "%" PRIu64, cell->number);
	else if (kind == TOP_TIME)
		snprintf(buf, TOP_CELL_MAX, "%s%s", cell->mark ?: "",
			 format_duration(duration, cell->number));
	else
		format_short(buf, cell->number);
}

void top_rows__clear(struct top_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		for (size_t c = 0; c < TOP_COLUMNS_MAX; c++)
			free(rows->at[i].cells[c].text);
	free(rows->at);
	*rows = (struct top_rows){};
}
