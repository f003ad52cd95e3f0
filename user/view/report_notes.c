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
#include "view/columns.h"

#define NAME_MOST 24 /* columns; with the other columns it fits a terminal line */

static const char *known_text(char buf[FORMAT_MAX], bool known, uint64_t n)
{
	return known ? format_count(buf, n) : "?";
}

static int incremental_columns(struct columns *c, const struct trace_process *p,
			       const struct reuse *reuse)
{
	_free_ char *name = p ? compile_name(p) : NULL;
	char buf[FORMAT_MAX];

	if (p && !name)
		return -ENOMEM;
	if (p)
		format_cut(name, NAME_MOST);
	NAME(c, NULL, "incremental", name, NULL);
	NUMBER(c, ID, NULL, "pid", p->pid, NULL);
	CELL(c, "results", known_text(buf, reuse->results, reuse->results));
	CELL(c, "executed", known_text(buf, !reuse->unprobed, reuse->executed));
	MARKED(c, COUNT, NULL, "loaded", reuse__may_miss(reuse) ? REPORT_ESTIMATE : "",
	       reuse->loaded, NULL);
	CELL(c, "neither", known_text(buf, reuse__knows_unseen(reuse), reuse__unseen(reuse)));
	return 0;
}

int report_notes__reuse(FILE *out, const struct summary *s, const struct report_options *opt)
{
	struct columns c = {.out = out};
	_free_ uint32_t *of = calloc(summary__n_processes(s) + 1UL, sizeof(*of));
	struct reuse all = {0}, reuse;
	size_t n = 0, shown;

	if (!of)
		return -ENOMEM;
	for (uint32_t i = 0; i < summary__n_processes(s); i++) {
		reuse = summary__reuse(s, i);
		if (!reuse.loads)
			continue;
		all.unprobed |= reuse.unprobed;
		of[n++] = i;
	}
	if (!n)
		return 0;
	shown = opt->top && opt->top < n ? opt->top : n;
	fputc('\n', out);
	EACH_ROW (&c, i, shown) {
		reuse = c.describes ? all : summary__reuse(s, of[i]);
		c.err = c.err
				?: incremental_columns(&c, ROW(&c, summary__process_at(s, of[i])),
						       &reuse);
	}
	columns__more(&c, n - shown, "process", "processes");
	if (c.err)
		return c.err;
	fputs("neither: unchanged, computed within another query, or not a query's result;\n"
	      "  results and neither are lower bounds\n",
	      out);
	if (all.unprobed)
		fputs("not all queries have probes: ~ loaded includes loads that found nothing, "
		      "and executed\n  and neither are unknown; --exact records each execution\n",
		      out);
	return 0;
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

void report_notes__sampled(FILE *out, const struct summary *s)
{
	fputs(summary__is_outside(s) ? REPORT_OUTSIDE_TEXT "\n" : REPORT_SAMPLED_TEXT "\n", out);
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
