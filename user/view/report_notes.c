// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/report_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/compile_name.h"
#include "base/array.h"
#include "base/format.h"
#include "view/table.h"

#define NAME_MOST 24 /* columns; with the other columns it fits a terminal line */

static int add_reuse(struct table *t, const struct trace_process *p, const struct reuse *reuse)
{
	_free_ char *name = compile_name(p);
	char buf[FORMAT_MAX];

	if (!name)
		return -ENOMEM;
	table__cellf(t, "%.*s", (int)format_fit(name, NAME_MOST), name);
	table__cellf(t, "%" PRIu32, p->pid);
	table__cell(t, reuse->results ? format_count(buf, reuse->results) : "?");
	table__cell(t, format_count(buf, reuse->executed));
	table__cellf(t, "%s%s", reuse__may_miss(reuse) ? REPORT_ESTIMATE : "",
		     format_count(buf, reuse->loaded));
	table__cell(t, reuse__knows_unseen(reuse) ? format_count(buf, reuse__unseen(reuse)) : "?");
	return 0;
}

static void explain_reuse(FILE *out, const struct reuse *all)
{
	fputs("neither: unchanged, computed within another query, or not a query's result;\n"
	      "  results and neither are lower bounds\n",
	      out);
	if (all->unprobed)
		fputs("some queries have no probes: executed lacks their executions, ~ loaded "
		      "includes loads\n  of theirs that found nothing, and neither is unknown\n",
		      out);
}

int report_notes__reuse(FILE *out, const struct summary *s, const struct report_options *opt)
{
	static const struct table_column columns[] = {
		{"incremental", 0}, {"pid", 0},	   {"results", 0},
		{"executed", 0},    {"loaded", 0}, {"neither", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	struct reuse all = {0};
	size_t more = 0;
	int err;

	for (uint32_t i = 0; i < summary__n_processes(s); i++) {
		struct reuse reuse = summary__reuse(s, i);

		if (!reuse.loads)
			continue;
		all.unprobed |= reuse.unprobed;
		if (opt->top && table__rows(t) == opt->top)
			more++;
		else if (t && add_reuse(t, summary__process_at(s, i), &reuse))
			return -ENOMEM;
	}
	if (!t)
		return -ENOMEM;
	if (!table__rows(t))
		return 0;
	fputc('\n', out);
	err = table__print(t, out, "");
	if (err)
		return err;
	if (more)
		fprintf(out, "  and %zu more %s\n", more, more == 1 ? "process" : "processes");
	explain_reuse(out, &all);
	return 0;
}

/* Apply the row options. A query that no sample met has no row. */
static bool is_watch_wanted(const struct report_rows *queries, const char *name,
			    const struct report_options *opt)
{
	for (size_t i = 0; (opt->min_ns || opt->min_ppm) && i < queries->n; i++)
		if (!strcmp(queries->rows[i].name, name))
			return true;
	if (opt->min_ns || opt->min_ppm)
		return false;
	return !opt->query || opt->query(opt->query_ctx, name);
}

/* The names of all that has no probes. */
static int list_unprobed(FILE *out, const struct report_rows *queries,
			 const struct trace_texts *names, const struct report_options *opt)
{
	static const struct table_column columns[] = {{"not probed", 0}, {"kind", 0}};
	_table_ struct table *t = table__new(columns, N_OF(columns));

	for (uint32_t i = 0; i < opt->decisions->rows.n; i++) {
		const struct decided *row = &opt->decisions->rows.at[i];
		const char *name = names->text(names->ctx, row->label);

		if (row->kind == TRACE_KIND_QUERY && !is_watch_wanted(queries, name, opt))
			continue;
		table__cell(t, name);
		table__cell(t, trace_kind_text(row->kind) ?: "<unknown>");
	}
	return t && !table__rows(t) ? 0 : table__print(t, out, "");
}

/* Print the kinds of other intervals without probes; nothing if all have some. */
static void print_unprobed_kinds(FILE *out, const struct decisions *d)
{
	bool printed[TRACE_KIND_OTHER] = {false};
	const char *before = "not probed: ";
	uint32_t activities = 0;

	for (uint32_t i = 0; i < d->rows.n; i++) {
		uint8_t kind = d->rows.at[i].kind;

		activities += kind == TRACE_KIND_ACTIVITY;
		if (kind == TRACE_KIND_QUERY || kind == TRACE_KIND_ACTIVITY ||
		    kind >= TRACE_KIND_OTHER || printed[kind])
			continue;
		printed[kind] = true;
		fprintf(out, "%s%s", before, trace_kind_text(kind));
		before = ", ";
	}
	if (activities) {
		fprintf(out, "%s%" PRIu32 " kinds of activities", before, activities);
		before = ", ";
	}
	if (*before == ',')
		fputs("; their intervals are missing\n", out);
}

void report_notes__kept_budget(FILE *out, const struct decisions *d, const char *how_to_name)
{
	uint32_t n = decisions__queries(d);
	char percent[FORMAT_MAX];

	fprintf(out, "budget: %s %% of CPU time; ", format_percent(percent, d->ppm, 1000000));
	if (n)
		fprintf(out, "%" PRIu32 " %s no probes%s\n", n,
			n == 1 ? "query has" : "queries have", how_to_name);
	else
		fputs("all queries were recorded\n", out);
	print_unprobed_kinds(out, d);
}

/* "": they are named here. They are many, and of interest where queries are. */
static const char *how_to_name(const struct report_options *opt)
{
	if (!opt->details && report_options__has_other_rows(opt))
		return "; report --by query names them";
	return opt->top ? "; --top 0 names them" : "";
}

int report_notes__budget(FILE *out, const struct report_rows *queries,
			 const struct trace_texts *names, const struct report_options *opt)
{
	const char *how = how_to_name(opt);

	if (!opt->decisions)
		return 0;
	fputc('\n', out);
	report_notes__kept_budget(out, opt->decisions, how);
	return *how ? 0 : list_unprobed(out, queries, names, opt);
}

void divided_note__add(struct divided_note *note, const struct report_rows *r)
{
	bool by_item = r->items || r->modules;

	note->any |= r->n + r->left_out;
	note->by_item |= by_item;
	note->marked |= report_rows__are_shared(r);
	note->others_ns += by_item ? r->others_ns : 0;
}

void divided_note__print(const struct divided_note *note, FILE *out, const struct decisions *d)
{
	char others[FORMAT_MAX];

	if (!note->any || !d || !decisions__queries(d))
		return;
	if (note->marked)
		fputs("~ the part of the time between probes that samples show to be its own; < at "
		      "most this\n",
		      out);
	if (note->others_ns)
		fprintf(out, "of queries without probes, about items that are not known: %s\n",
			format_duration(others, note->others_ns));
	fputs("executions of queries without probes are in no row", out);
	fputs(note->by_item || note->marked ? "\n" : "; their time is in the rows\n", out);
}

void report_notes__unfinished(FILE *out, uint64_t unwound, const struct summary *s)
{
	uint64_t left = summary__left(s), left_off = summary__left_off(s);
	char count[FORMAT_MAX];

	if (unwound)
		fprintf(out,
			REPORT_UNFINISHED " " REPORT_UNWOUND_TEXT
					  ": %s;\n  their times run until that was noticed\n",
			format_count(count, unwound));
	if (left)
		fprintf(out, "intervals " REPORT_LEFT_TEXT ": %s\n", format_count(count, left));
	if (left_off)
		fprintf(out, "times off the CPU " REPORT_LEFT_TEXT ": %s\n",
			format_count(count, left_off));
}

#define BEGUN_NAMED 4

void begun_note__add(struct begun_note *note, FILE *out, const char *name)
{
	_free_ char *clean = NULL;

	if (note->named == BEGUN_NAMED) {
		note->more++;
		return;
	}
	clean = format_clean(name);
	fprintf(out, "%s%s", note->named++ ? ", " : "began before the recording: ", clean ?: "?");
}

void begun_note__end(const struct begun_note *note, FILE *out)
{
	if (note->more)
		fprintf(out, ", and %zu more", note->more);
	if (note->named)
		fputs(";\n  they took at least as long as shown\n", out);
}

void report_notes__late(FILE *out, const struct summary *s)
{
	uint32_t late = 0, n = summary__n_processes(s);

	for (uint32_t i = 0; i < n; i++)
		late += summary__process_at(s, i)->attached_late;
	if (late)
		fprintf(out,
			"attached late: %" PRIu32 " of %" PRIu32
			" processes ran before their probes were there, or their\n"
			"  start was not seen; what they did until then may be missing\n",
			late, n);
}

void report_notes__losses(FILE *out, const struct trace_losses *losses, bool all)
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
	for (int i = 0; all && i < TRACE_LOSS_MAX; i++) {
		/* The notes on intervals already report TRACE_COUNT_LEFT. */
		if (losses->count[i] && !trace_loss_is_lost(i) && i != TRACE_COUNT_LEFT)
			fprintf(out, "%s: %s\n", trace_loss_text(i),
				format_count(buf, losses->count[i]));
	}
}

const char *report_notes__exit(char buf[FORMAT_MAX], const struct trace_process *p)
{
	int32_t status = p->exit_status;
	const char *name;

	if (status == TRACE_EXIT_UNKNOWN)
		return "unknown";
	if (!WIFSIGNALED(status)) {
		snprintf(buf, FORMAT_MAX, "%d", WEXITSTATUS(status));
		return buf;
	}
	if (p->kill == TRACE_KILL_MEMORY)
		return "no memory";
	name = sigabbrev_np(WTERMSIG(status));
	if (name)
		snprintf(buf, FORMAT_MAX, "SIG%s", name);
	else
		snprintf(buf, FORMAT_MAX, "signal %d", WTERMSIG(status));
	return buf;
}
