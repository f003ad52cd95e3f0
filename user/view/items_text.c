// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/items_text.h"

#include <errno.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "view/table.h"

/* "typeck 41.2 ms, mir_borrowck 12.0 ms" */
static int add_queries(struct table *t, const struct item_row *item,
		       const struct trace_texts *names)
{
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < item->n_queries; i++)
		fprintf(to, "%s%s %s", i ? ", " : "",
			names->text(names->ctx, item->queries[i].label),
			format_duration(buf, item->queries[i].self_ns));
	if (fclose(to))
		return -ENOMEM;
	table__cell(t, text);
	return 0;
}

int items_text(FILE *out, const struct report_rows *r, size_t n, const struct trace_texts *names)
{
	static const struct table_column columns[] = {
		{"self", 0}, {"self %", 0}, {"executions", 0}, {"of this", 0}, {"item", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	char buf[FORMAT_MAX];

	table__name_last(t);
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = &r->rows[i];

		table__cell(t, format_duration(buf, row->self_ns));
		table__cell(t, format_percent(buf, row->self_ns, r->self_ns));
		table__cell(t, format_count(buf, row->count));
		if (add_queries(t, row->item, names))
			return -ENOMEM;
		table__cell(t, row->name);
	}
	return table__print(t, out, "");
}
