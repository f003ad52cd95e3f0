// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/samples_text.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/format.h"
#include "view/report_notes.h"
#include "view/table.h"

#define NAME_KEPT 26 /* as in the other table of queries */

bool samples_text_head(FILE *out, const struct samples_totals *t)
{
	const struct sample_sum *cpu = &t->of[TRACE_SAMPLE_CPU];
	char count[FORMAT_MAX], time[FORMAT_MAX], percent[FORMAT_MAX];

	if (!cpu->n) {
		if (t->of[TRACE_SAMPLE_FAULT].n)
			fputs("page faults were sampled: report --memory shows them\n", out);
		return t->of[TRACE_SAMPLE_FAULT].n;
	}
	fprintf(out, "%s samples of %s on the CPU, ", format_count(count, cpu->n),
		format_duration(time, cpu->value));
	if (t->sampling.hz)
		fprintf(out, "%" PRIu32 " a second, ", t->sampling.hz);
	fprintf(out, "%s %% in queries\n",
		format_percent(percent, cpu->n - t->no_query[TRACE_SAMPLE_CPU].n, cpu->n));
	return true;
}

static void add_row(struct table *t, const struct report_row *row, const struct report_rows *all)
{
	char buf[FORMAT_MAX];

	table__cell(t, row->name);
	table__cell(t, format_count(buf, row->extra[REPORT_SAMPLES]));
	table__cell(t, format_duration(buf, row->extra[REPORT_SAMPLED_TOTAL]));
	table__cell(t, format_duration(buf, row->self_ns));
	table__cell(t, row->self_error_ns ? format_duration(buf, row->self_error_ns) : "-");
	table__cell(t, format_percent(buf, row->self_ns, all->self_ns));
	if (all->extra[REPORT_SAMPLED_OFF])
		table__cell(t, format_duration(buf, row->extra[REPORT_SAMPLED_OFF]));
}

int samples_text_rows(FILE *out, const struct report_rows *r, size_t n, size_t width,
		      const char *option)
{
	static const struct table_column columns[] = {
		{"query", 0}, {"samples", 0}, {"total", 0},   {"self", 0},
		{"+-", 0},    {"self %", 0},  {"waiting", 0},
	};
	_table_ struct table *t =
		table__new(columns, N_OF(columns) - !r->extra[REPORT_SAMPLED_OFF]);

	table__keep_of_name(t, NAME_KEPT);
	table__spare(t, "samples");
	for (size_t i = 0; i < n; i++)
		add_row(t, &r->rows[i], r);
	return table__print_within(t, out, width, option);
}

void samples_text_marks(FILE *out, const struct report_rows *r)
{
	if (report_rows__are_shared(r))
		fputs("self is on the CPU, as not all queries were recorded: ~ the part of its "
		      "time\n  between its probes that samples show to be its own, +- the "
		      "standard error;\n  < at most this\n",
		      out);
	if (r->by[SUMMARY_SELF_SAMPLES] && !report_rows__are_sampled(r))
		fputs("~ times without a count are by samples: time on the CPU\n", out);
	if (report_rows__are_sampled(r))
		fputs("times are by samples, on the CPU; +- is the standard error of self\n", out);
}

static void print_cuts(FILE *out, const struct samples_totals *t)
{
	static const char *const causes[TRACE_CUT_MAX] = {
		[TRACE_CUT_NO_MAP] = "code in no known file",
		[TRACE_CUT_NO_RULE] = "no unwind rule",
		[TRACE_CUT_NO_PAGE] = "a part of the stack not in memory",
		[TRACE_CUT_TOO_DEEP] = "too many frames",
	};
	uint64_t n = samples_totals__n(t) - t->light, whole = t->cut[TRACE_CUT_NOT];
	char percent[FORMAT_MAX], count[FORMAT_MAX];

	if (n == whole)
		return;
	fprintf(out, "stacks that do not reach the start of their thread: %s %%\n",
		format_percent(percent, n - whole, n));
	for (int cut = TRACE_CUT_NOT + 1; cut < TRACE_CUT_MAX; cut++)
		if (t->cut[cut])
			fprintf(out, "  %s: %s\n", causes[cut], format_count(count, t->cut[cut]));
}

void samples_text_notes(FILE *out, const struct samples_totals *t)
{
	char percent[FORMAT_MAX];

	print_cuts(out, t);
	if (t->unknown)
		fprintf(out,
			"in a query that its code does not name: %s %%, counted for the one "
			"around it\n",
			format_percent(percent, t->unknown, t->of[TRACE_SAMPLE_CPU].n));
	if (t->differ)
		fprintf(out, "stacks that show another query than the probes: %s %%\n",
			format_percent(percent, t->differ, t->compared));
}
