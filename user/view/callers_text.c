// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/callers_text.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/format.h"
#include "view/table.h"

/* The function, and the line with most of its requests. */
static void add_name(struct table *t, const struct report_row *row)
{
	const struct caller_row *c = row->caller;
	const char *mark = row->unwound ? " " CALLERS_TEXT_MARK : "";

	if (!c->file)
		table__cellf(t, "%s%s", row->name, mark);
	else if (c->lines == 1)
		table__cellf(t, "%s at %s:%" PRIu32 "%s", row->name, c->file, c->line, mark);
	else
		table__cellf(t, "%s at %s:%" PRIu32 " and %" PRIu32 " other line%s%s", row->name,
			     c->file, c->line, c->lines - 1, c->lines == 2 ? "" : "s", mark);
}

int callers_text(FILE *out, const struct report_rows *r, size_t n)
{
	bool off_cpu = report_rows__know_off_cpu(r);
	const struct table_column columns[] = {
		{"executions", 0},
		{"total", 0},
		{report_title_cpu(off_cpu), 0},
		{report_title_share(off_cpu), 0},
		{"max", 0},
		{"caller", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	char buf[FORMAT_MAX];

	/* Names of generic functions can be very long. */
	table__name_last(t);
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = &r->rows[i];

		table__cell(t, format_count(buf, row->count));
		table__cell(t, format_duration(buf, row->total_ns));
		table__cellf(t, "%s%s", report_self_mark(row->self_by),
			     format_duration(buf, row->cpu_ns));
		table__cell(t, format_percent(buf, row->cpu_ns, r->cpu_ns));
		table__cell(t, format_duration(buf, row->max_ns));
		add_name(t, row);
	}
	return table__print(t, out, "");
}
