// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "view/format.h"
#include "view/report_rows.h"
#include "view/table.h"

/* Marks numbers that include executions without a true end. */
#define MARK "*"

#define NAME_MOST 40 /* columns; a command line may go on for pages */

static size_t shown(size_t n, const struct report_options *opt)
{
	return opt->top && opt->top < n ? opt->top : n;
}

static void print_more(FILE *out, size_t n, const char *one, const char *many)
{
	if (n)
		fprintf(out, "  and %zu more %s\n", n, n == 1 ? one : many);
}

static void add_query(struct table *t, const struct report_row *row, uint64_t all_self_ns)
{
	char buf[FORMAT_MAX];

	table__cellf(t, "%s%s", row->name, row->unwound ? " " MARK : "");
	table__cell(t, format_count(buf, row->count));
	table__cell(t, format_duration(buf, row->total_ns));
	table__cell(t, format_duration(buf, row->self_ns));
	table__cell(t, format_percent(buf, row->self_ns, all_self_ns));
	table__cell(t, format_duration(buf, row->count ? row->total_ns / row->count : 0));
	table__cell(t, format_duration(buf, row->max_ns));
}

static int print_queries(FILE *out, const struct report_rows *r, const struct report_options *opt)
{
	static const struct table_column columns[] = {
		{"query", 0},  {"count", 0}, {"total", 0}, {"self", 0},
		{"self %", 0}, {"mean", 0},  {"max", 0},
	};
	_table_ struct table *t = NULL;
	int err;

	err = table__new(columns, sizeof(columns) / sizeof(*columns), &t);
	if (err)
		return err;
	for (size_t i = 0; i < shown(r->n, opt); i++)
		add_query(t, &r->rows[i], r->self_ns);
	err = table__print(t, out, "");
	print_more(out, r->n - shown(r->n, opt) + r->left_out, "query", "queries");
	return err;
}

static int print_groups(FILE *out, const struct report_options *opt)
{
	static const char *const titles[] = {
		[GROUP_BY_CRATE] = "crate",
		[GROUP_BY_PROCESS] = "process",
		[GROUP_BY_THREAD] = "thread",
	};
	const struct table_column columns[] = {
		{titles[opt->by], 0}, {"executions", 0}, {"wall", 0},
		{"self", 0},	      {"self %", 0},	 {"max", 0},
	};
	_report_rows_ struct report_rows r = {};
	_table_ struct table *t = NULL;
	char buf[FORMAT_MAX];
	int err = report_rows__groups(&r, opt);

	if (!err)
		err = table__new(columns, sizeof(columns) / sizeof(*columns), &t);
	if (err)
		return err;
	for (size_t i = 0; i < shown(r.n, opt); i++) {
		const struct report_row *row = &r.rows[i];

		table__cellf(t, "%s%s", row->name, row->unwound ? " " MARK : "");
		table__cell(t, format_count(buf, row->count));
		table__cell(t, format_duration(buf, row->total_ns));
		table__cell(t, format_duration(buf, row->self_ns));
		table__cell(t, format_percent(buf, row->self_ns, r.self_ns));
		table__cell(t, format_duration(buf, row->max_ns));
	}
	err = table__print(t, out, "");
	print_more(out, r.n - shown(r.n, opt) + r.left_out, "row", "rows");
	return err;
}

static const char *exit_text(char buf[FORMAT_MAX], int32_t status)
{
	const char *name;

	if (status == TRACE_EXIT_UNKNOWN)
		return "unknown";
	if (!WIFSIGNALED(status)) {
		snprintf(buf, FORMAT_MAX, "%d", WEXITSTATUS(status));
		return buf;
	}
	name = sigabbrev_np(WTERMSIG(status));
	if (name)
		snprintf(buf, FORMAT_MAX, "SIG%s", name);
	else
		snprintf(buf, FORMAT_MAX, "signal %d", WTERMSIG(status));
	return buf;
}

static int print_process(struct table *t, const struct summary *s, uint32_t i)
{
	const struct trace_process *p = summary__process_at(s, i);
	_free_ struct summary_row *rows = NULL;
	uint64_t count = 0, self_ns = 0;
	char buf[FORMAT_MAX];
	const char *name;
	size_t n;
	int err;

	err = summary__rows(s, i, &rows, &n);
	if (err)
		return err;
	for (size_t k = 0; k < n; k++) {
		count += rows[k].count;
		self_ns += rows[k].self_ns;
	}
	name = p->crate ?: p->command ?: "unknown";
	table__cellf(t, "%.*s", (int)format_fit(name, NAME_MOST), name);
	table__cellf(t, "%" PRIu32, p->pid);
	table__cell(t, exit_text(buf, p->exit_status));
	table__cell(t, format_count(buf, count));
	table__cell(t, format_duration(buf, self_ns));
	return 0;
}

static int print_processes(FILE *out, const struct summary *s, const struct report_options *opt)
{
	static const struct table_column columns[] = {
		{"process", 0}, {"pid", 0}, {"exit", 0}, {"executions", 0}, {"self", 0},
	};
	uint32_t n = summary__n_processes(s), n_shown = shown(n, opt);
	_table_ struct table *t = NULL;
	int err;

	if (n < 2)
		return 0;
	err = table__new(columns, sizeof(columns) / sizeof(*columns), &t);
	for (uint32_t i = 0; !err && i < n_shown; i++)
		err = print_process(t, s, i);
	if (err)
		return err;
	fputc('\n', out);
	err = table__print(t, out, "");
	print_more(out, n - n_shown, "process", "processes");
	return err;
}

static void print_late(FILE *out, const struct summary *s)
{
	uint32_t late = 0, n = summary__n_processes(s);

	for (uint32_t i = 0; i < n; i++)
		late += summary__process_at(s, i)->attached_late;
	if (late)
		fprintf(out,
			"attached late: %" PRIu32 " of %" PRIu32 " processes ran before the "
			"capture; what they did until then is missing\n",
			late, n);
}

static void print_losses(FILE *out, const struct trace_losses *losses)
{
	char buf[FORMAT_MAX];

	if (!losses) {
		fputs("lost: unknown, the trace does not say\n", out);
		return;
	}
	fprintf(out, "lost: %s\n", format_count(buf, trace_losses__total(losses)));
	for (int i = 0; i < TRACE_LOSS_MAX; i++) {
		if (losses->count[i] && trace_loss_is_lost(i))
			fprintf(out, "  %s: %s\n", trace_loss_text(i),
				format_count(buf, losses->count[i]));
	}
	for (int i = 0; i < TRACE_LOSS_MAX; i++) {
		if (losses->count[i] && !trace_loss_is_lost(i))
			fprintf(out, "%s: %s\n", trace_loss_text(i),
				format_count(buf, losses->count[i]));
	}
}

static void print_notes(FILE *out, const struct summary *s, uint64_t unwound,
			const struct trace_losses *losses, const struct report_options *opt)
{
	char buf[FORMAT_MAX];

	fputc('\n', out);
	if (unwound)
		fprintf(out,
			MARK " includes executions left by unwinding or never ended (%s in all): "
			     "their times run until that was noticed\n",
			format_count(buf, unwound));
	print_late(out, s);
	print_losses(out, losses);
	if (opt->problem)
		fprintf(out, "incomplete: %s\n", opt->problem);
}

int report_text(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct view_names *names, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};
	int err = report_rows__queries(&r, s, SUMMARY_ALL, names, opt);

	if (err)
		return err;
	if (!r.count)
		fputs("no query was executed\n", out);
	else if (opt->groups)
		err = print_groups(out, opt);
	else
		err = print_queries(out, &r, opt) ?: print_processes(out, s, opt);
	if (err)
		return err;
	print_notes(out, s, r.unwound, losses, opt);
	return 0;
}
