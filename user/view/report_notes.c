// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/report_notes.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "view/format.h"
#include "view/table.h"

#define NAME_MOST 40 /* columns */

static void add_reuse(struct table *t, const struct trace_process *p, const struct reuse *reuse)
{
	const char *name = p->crate ?: p->command ?: "unknown";
	char buf[FORMAT_MAX];

	table__cellf(t, "%.*s", (int)format_fit(name, NAME_MOST), name);
	table__cellf(t, "%" PRIu32, p->pid);
	table__cell(t, reuse->results ? format_count(buf, reuse->results) : "?");
	table__cell(t, format_count(buf, reuse->executed));
	table__cell(t, format_count(buf, reuse->loaded));
	table__cell(t, reuse->results ? format_count(buf, reuse__unseen(reuse)) : "?");
}

int report_notes__reuse(FILE *out, const struct summary *s, const struct report_options *opt)
{
	static const struct table_column columns[] = {
		{"incremental", 0}, {"pid", 0},	   {"results", 0},
		{"executed", 0},    {"loaded", 0}, {"neither", 0},
	};
	_table_ struct table *t = NULL;
	size_t more = 0;
	int err = table__new(columns, sizeof(columns) / sizeof(*columns), &t);

	for (uint32_t i = 0; !err && i < summary__n_processes(s); i++) {
		struct reuse reuse = summary__reuse(s, i);

		if (!reuse.loads)
			continue;
		if (opt->top && table__rows(t) == opt->top)
			more++;
		else
			add_reuse(t, summary__process_at(s, i), &reuse);
	}
	if (err || !table__rows(t))
		return err;
	fputc('\n', out);
	err = table__print(t, out, "");
	if (more)
		fprintf(out, "  and %zu more %s\n", more, more == 1 ? "process" : "processes");
	fputs("neither: reused as they were, fed by other queries, or of what is no query; that "
	      "and "
	      "results: at least\n",
	      out);
	return err;
}

static void add_watch(struct table *t, const struct budget_row *row, const char *name)
{
	char buf[FORMAT_MAX];

	table__cell(t, name);
	table__cell(t, format_count(buf, row->decisions));
	table__cell(t, format_duration(buf, row->ns[TRACE_WATCH_COUNTED]));
	table__cell(t, format_duration(buf, row->ns[TRACE_WATCH_OFF]));
	table__cell(t, row->watch == TRACE_WATCH_FULL ? "recorded" : trace_watch_name(row->watch));
}

int report_notes__budget(FILE *out, const struct view_names *names,
			 const struct report_options *opt)
{
	static const struct table_column columns[] = {
		{"watched less", 0}, {"decisions", 0}, {"counted for", 0},
		{"off for", 0},	     {"at last", 0},
	};
	const struct budget *b = opt->budget;
	_table_ struct table *t = NULL;
	char percent[FORMAT_MAX], count[FORMAT_MAX];
	uint32_t shown;
	int err;

	if (!b)
		return 0;
	format_percent(percent, b->ppm, 1000000);
	if (!b->n) {
		fprintf(out, "\nbudget: %s %% of CPU time for the probes; all was recorded\n",
			percent);
		return 0;
	}
	err = table__new(columns, sizeof(columns) / sizeof(*columns), &t);
	if (err)
		return err;
	shown = opt->top && opt->top < b->n ? opt->top : b->n;
	for (uint32_t i = 0; i < shown; i++)
		add_watch(t, &b->rows[i], names->text(names->ctx, b->rows[i].label));
	fprintf(out, "\nbudget: %s %% of CPU time for the probes; to keep it, %s %s\n", percent,
		format_count(count, b->decisions), b->decisions == 1 ? "decision" : "decisions");
	err = table__print(t, out, "");
	if (b->n > shown)
		fprintf(out, "  and %" PRIu32 " more %s\n", b->n - shown,
			b->n - shown == 1 ? "query" : "queries");
	return err;
}

static void say_missing(FILE *out, const char *counted, const char *estimated,
			const struct report_options *opt)
{
	if (opt->groups && opt->by != GROUP_BY_THREAD)
		fprintf(out,
			"not recorded: %s executions, which are counted above, and about %s, "
			"which are not\n",
			counted, estimated);
	else
		fprintf(out, "not recorded, and in no row: %s executions, and about %s estimated\n",
			counted, estimated);
}

void report_notes__unrecorded(FILE *out, const struct report_rows *queries,
			      const struct report_options *opt)
{
	char counted[FORMAT_MAX], estimated[FORMAT_MAX];

	if (!queries->extra[REPORT_COUNTED] && !queries->extra[REPORT_ESTIMATED])
		return;
	format_count(counted, queries->extra[REPORT_COUNTED]);
	format_count(estimated, queries->extra[REPORT_ESTIMATED]);
	if (opt->groups || opt->callers)
		say_missing(out, counted, estimated, opt);
	else
		fprintf(out,
			REPORT_ESTIMATE
			" includes executions that were not recorded (%s counted, about %s "
			"estimated): total has an estimate of their time; self has none, that is "
			"in "
			"the self times of who called them\n",
			counted, estimated);
}

void report_notes__late(FILE *out, const struct summary *s)
{
	uint32_t late = 0, n = summary__n_processes(s);

	for (uint32_t i = 0; i < n; i++)
		late += summary__process_at(s, i)->attached_late;
	if (late)
		fprintf(out,
			"attached late: %" PRIu32 " of %" PRIu32
			" processes ran before their probes "
			"were there, or their start was not seen; what they did until then may be "
			"missing\n",
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
		if (losses->count[i] && !trace_loss_is_lost(i))
			fprintf(out, "%s: %s\n", trace_loss_text(i),
				format_count(buf, losses->count[i]));
	}
}

const char *report_notes__exit(char buf[FORMAT_MAX], int32_t status)
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
