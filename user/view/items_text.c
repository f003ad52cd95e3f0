// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/items_text.h"

#include <errno.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "view/place_text.h"
#include "view/table.h"

/* Minimum columns of a path; other columns are left out first. */
#define PATH_KEPT 40

/* Each query takes about 30 columns. */
static uint32_t queries_that_fit(size_t width)
{
	if (!width || width >= 170)
		return ITEM_QUERIES;
	return width >= 140 ? 2 : 1;
}

/* "typeck 41.2 ms, mir_borrowck 12.0 ms" */
static int add_queries(struct table *t, const struct item_row *item, uint32_t most,
		       const struct trace_texts *names)
{
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < item->n_queries && i < most; i++)
		fprintf(to, "%s%s %s", i ? ", " : "",
			names->text(names->ctx, item->queries[i].label),
			format_duration(buf, item->queries[i].self_ns));
	if (fclose(to))
		return -ENOMEM;
	table__cell(t, text);
	return 0;
}

static bool has_places(const struct report_rows *r, size_t n, const struct trace_texts *names)
{
	for (size_t i = 0; i < n && !r->modules; i++)
		if (trace_texts__place(names, r->rows[i].item->item))
			return true;
	return false;
}

static int add_place(struct table *t, const struct item_row *item, const struct trace_texts *names)
{
	_free_ char *text = NULL;

	if (place_text(names, item->item, &text))
		return -ENOMEM;
	table__cell(t, text);
	return 0;
}

static struct table *new_table(bool modules, bool places)
{
	static const struct table_column items[] = {
		{"self", 0}, {"self %", 0}, {"executions", 0}, {"of this", 0}, {"item", 0},
	};
	static const struct table_column placed[] = {
		{"self", 0},	{"self %", 0}, {"executions", 0},
		{"of this", 0}, {"at", 0},     {"item", 0},
	};
	static const struct table_column in_modules[] = {
		{"self", 0},  {"self %", 0},  {"executions", 0},
		{"items", 0}, {"of this", 0}, {"module", 0},
	};

	if (modules)
		return table__new(in_modules, N_OF(in_modules));
	return places ? table__new(placed, N_OF(placed)) : table__new(items, N_OF(items));
}

int items_text(FILE *out, const struct report_rows *r, size_t n, size_t width,
	       const struct trace_texts *names)
{
	bool places = has_places(r, n, names);
	_table_ struct table *t = new_table(r->modules, places);
	char buf[FORMAT_MAX];

	table__name_last(t);
	table__keep_of_name(t, PATH_KEPT);
	table__spare(t, "of this");
	table__spare(t, "executions");
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = &r->rows[i];

		table__cell(t, format_duration(buf, row->self_ns));
		table__cell(t, format_percent(buf, row->self_ns, r->self_ns));
		table__cell(t, format_count(buf, row->count));
		if (r->modules)
			table__cell(t, format_count(buf, row->items));
		if (add_queries(t, row->item, queries_that_fit(width), names))
			return -ENOMEM;
		if (places && add_place(t, row->item, names))
			return -ENOMEM;
		table__cell(t, row->name);
	}
	return table__print_within(t, out, width, "report --wide");
}
