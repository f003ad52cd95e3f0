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
	char count[FORMAT_MAX], percent[FORMAT_MAX];

	if (!cpu->n) {
		if (t->of[TRACE_SAMPLE_FAULT].n)
			fputs("page faults were sampled: report --memory shows them\n", out);
		return t->of[TRACE_SAMPLE_FAULT].n;
	}
	fprintf(out, "%s samples, ", format_count(count, cpu->n));
	if (t->sampling.hz)
		fprintf(out, "%" PRIu32 " a second of CPU time, ", t->sampling.hz);
	fprintf(out, "%s %% in queries and passes\n",
		format_percent(percent, cpu->n - t->no_query[TRACE_SAMPLE_CPU].n, cpu->n));
	return true;
}

static void add_time(struct table *t, uint64_t ns)
{
	char buf[FORMAT_MAX];

	table__cell(t, ns ? format_duration(buf, ns) : "-");
}

static void add_row(struct table *t, const struct report_row *row, const struct report_rows *all)
{
	char buf[FORMAT_MAX * 2];

	table__cell(t, row->name);
	table__cell(t, report_row__count(buf, row));
	add_time(t, report_row__total_ns(row));
	add_time(t, row->self_ns);
	add_time(t, row->self_error_ns);
	table__cell(t, row->self_ns ? format_percent(buf, row->self_ns, all->self_ns) : "-");
	if (all->extra[REPORT_SAMPLED_MAX])
		add_time(t, row->count ? row->max_ns : row->extra[REPORT_SAMPLED_MAX]);
	if (all->extra[REPORT_SAMPLED_OFF])
		add_time(t, row->extra[REPORT_SAMPLED_OFF]);
}

int samples_text_rows(FILE *out, const struct report_rows *r, size_t n, size_t width,
		      const char *option)
{
	struct table_column columns[8] = {{"query", 0}, {"count", 0}, {"total", 0},
					  {"self", 0},	{"+-", 0},    {"self %", 0}};
	_table_ struct table *t = NULL;
	size_t n_columns = 6;

	if (r->extra[REPORT_SAMPLED_MAX])
		columns[n_columns++].title = "max";
	if (r->extra[REPORT_SAMPLED_OFF])
		columns[n_columns++].title = REPORT_WAITING;
	t = table__new(columns, n_columns);
	table__keep_of_name(t, NAME_KEPT);
	if (r->extra[REPORT_SAMPLED_MAX])
		table__spare(t, "max");
	for (size_t i = 0; i < n; i++)
		add_row(t, &r->rows[i], r);
	return table__print_within(t, out, width, option);
}

void samples_text_marks(FILE *out, const struct report_rows *r)
{
	if (report_rows__are_sampled(r))
		fprintf(out,
			"self times are by samples, on the CPU, as are totals of queries; +- is "
			"the "
			"standard\n  error of self, - no sample; %s--exact records each "
			"execution\n",
			r->extra[REPORT_SAMPLED_MAX]
				? "max is from the first to the last sample of\n  an execution; "
				: "");
	else if (r->by[SUMMARY_SELF_SAMPLES])
		fputs("~ times without a count are by samples: time on the CPU\n", out);
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

/* ---- JSON ------------------------------------------------------------------------------------ */

static struct json_object *cuts_of(const struct samples_totals *t)
{
	struct json of = {0};

	json__begin(&of);
	for (int cut = TRACE_CUT_NOT + 1; cut < TRACE_CUT_MAX; cut++)
		json__number(&of, sample_cut_name(cut), t->cut[cut]);
	return json__take(&of);
}

static struct json_object *sum_of(const struct samples_totals *t, enum trace_sample_cause cause)
{
	bool is_memory = cause == TRACE_SAMPLE_FAULT;
	struct json of = {0};

	json__begin(&of);
	json__number(&of, "n", t->of[cause].n);
	json__number(&of, is_memory ? "bytes" : "ns", t->of[cause].value);
	json__number(&of, "no_query", t->no_query[cause].n);
	json__number(&of, is_memory ? "no_query_bytes" : "no_query_ns", t->no_query[cause].value);
	if (is_memory)
		json__number(&of, "unknown_query_bytes", t->unknown_query.value);
	return json__take(&of);
}

void samples_json(struct json *j, const struct samples_totals *t)
{
	json__begin(j);
	json__known(j, "hz", t->sampling.hz, t->sampling.hz);
	json__known(j, "fault_period", t->sampling.fault_period, t->sampling.fault_period);
	json__number(j, "n", samples_totals__n(t));
	json__number(j, "complete", t->cut[TRACE_CUT_NOT]);
	json__number(j, "light", t->light);
	json__value(j, "cut", cuts_of(t));
	json__number(j, "unknown", t->unknown);
	json__number(j, "compared", t->compared);
	json__number(j, "differ", t->differ);
	for (int cause = TRACE_SAMPLE_CPU; cause < TRACE_SAMPLE_CAUSES; cause++)
		json__value(j, sample_cause_name(cause), sum_of(t, cause));
	json__print(j, ",\"samples\":");
	json__put(j);
}
