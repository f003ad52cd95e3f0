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

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct top_row *x = a, *y = b;
	const struct order *o = ctx;
	const struct top_cell *of_x = &x->cells[o->column], *of_y = &y->cells[o->column];
	const char *text_x = cell_text(o->names, of_x, o->kind);
	const char *text_y = cell_text(o->names, of_y, o->kind);
	const struct trace_place *at_x = NULL, *at_y = NULL;
	int by;

	if (text_x) {
		by = strcasecmp(text_x, text_y);
		if (!by && o->kind == TOP_SOURCE) {
			at_x = trace_texts__place(o->names, (uint32_t)of_x->number);
			at_y = trace_texts__place(o->names, (uint32_t)of_y->number);
		}
		if (at_x && at_y)
			by = (at_x->line > at_y->line) - (at_x->line < at_y->line);
	} else {
		/* Adding 1 wraps TOP_UNKNOWN to 0, so unknown numbers sort as the smallest. */
		by = (of_y->number + 1 > of_x->number + 1) - (of_y->number + 1 < of_x->number + 1);
	}
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

void top_rows__show(const struct top_rows *rows, size_t i, enum top_table table, size_t column,
		    char buf[TOP_CELL_MAX])
{
	const struct top_cell *cell = &rows->at[i].cells[column];
	enum top_kind kind = top_layout(table)->columns[column].kind;
	const char *text = cell_text(rows->names, cell, kind);
	_free_ char *place = NULL;
	size_t len;
	char duration[FORMAT_MAX];

	_Static_assert(TOP_CELL_MAX >= FORMAT_MAX, "a number fits where a text does");
	if (kind == TOP_SOURCE) {
		place = place_text(rows->names, (uint32_t)cell->number);
		text = place ?: "";
	}
	/* A text that is too long loses its end, a path its beginning. */
	len = text ? strlen(text) : 0;
	if (kind == TOP_PATH && len >= TOP_CELL_MAX)
		text += len - (TOP_CELL_MAX - 1);
	if (text)
		snprintf(buf, TOP_CELL_MAX, "%s", text);
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
