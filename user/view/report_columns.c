// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The columns of the rows of a report: queries, groups, callers. */
#include "view/report_columns.h"

#include <inttypes.h>
#include <sys/wait.h>

/* Marks numbers that include executions without an exact end. */
#define MARK CALLERS_TEXT_MARK

/* ---- Queries --------------------------------------------------------------------------------- */

/* Samples met the longest execution first and last so far apart. */
static void max_column(struct columns *c, const struct report_row *row)
{
	SOME(c, NS, NULL, ON_PAGE(c, "longest", NULL), row->extra[REPORT_SAMPLED_MAX],
	     row->extra[REPORT_SAMPLED_MAX],
	     "of the executions that several samples met: from the first to the last");
	if (!columns__wants(c, UNIT_NS, NULL, ON_PAGE(c, NULL, "max"), NULL))
		return;
	if (row->count)
		columns__number(c, row->max_ns);
	else if (row->extra[REPORT_SAMPLED_MAX])
		columns__marked(c, REPORT_ESTIMATE, row->extra[REPORT_SAMPLED_MAX]);
	else
		columns__none(c);
}

static void extra_columns(struct columns *c, const struct report_row *row,
			  const struct report_rows *all, const struct samples_totals *sampled)
{
	for (int i = 0; i < REPORT_N_EXTRAS; i++) {
		const struct report_extra *e = &report_extras[i];
		bool titled = all->extra[i] && i != REPORT_OFF_CPU;
		const char *title = titled ? ON_PAGE(c, e->page ?: e->title, e->title) : NULL;
		/* Without stacks it is not known what called the query. */
		bool known = i != REPORT_MEMORY_TOTAL || !sampled || !sampled->light;
		bool always = sampled && i <= REPORT_SAMPLED_TOTAL_ERROR;

		if (!columns__wants(c, e->unit, e->key, title, e->text))
			continue;
		if ((title && columns__has_titles(c)) || (known && (always || row->extra[i])))
			columns__number(c, row->extra[i]);
	}
}

/* Executions; those of a query that is not recorded are its results, if all of these are some. */
static void count_columns(struct columns *c, const struct report_row *row, bool has_spans)
{
	uint64_t results = row ? row->results : 0;
	bool exact = results && !row->results_unsure && !row->results_missing;

	KNOWN(c, COUNT, "count", NULL, exact || row->count || (has_spans && !results),
	      exact ? results : row->count, "executions; null: unknown");
	SOME(c, COUNT, "results", NULL, results, results,
	     "of a query that is not recorded: in the compilers' memory; without a count, some "
	     "may be no executions");
	SOME_BOOL(c, "results_at_least", results && row->results_missing, true,
		  "true: there may be more, as not all that compilers had could be read; else "
		  "missing");
}

static void executions_column(struct columns *c, const struct report_row *row, const char *title)
{
	char buf[FORMAT_MAX * 2];

	if (!columns__wants(c, UNIT_COUNT, NULL, title,
			    "≤: results, which may have other origins; ≥: there may be more"))
		return;
	if (c->to != COLUMNS_PAGE)
		columns__text(c, report_count(buf, &(struct summary_row){
							   .count = row->count,
							   .results = row->results,
							   .results_unsure = row->results_unsure,
							   .results_missing = row->results_missing,
							   .self_by = row->self_by,
						   }));
	else if (row->count || row->self_by != SUMMARY_SELF_SAMPLES)
		columns__number(c, row->count);
	else if (row->results)
		columns__marked(c,
				row->results_missing  ? ">="
				: row->results_unsure ? "<="
						      : "",
				row->results);
	else
		columns__unknown(c);
}

/* By samples it is an estimate, and known where the tables of compilers count all executions. */
static void each_column(struct columns *c, const struct report_row *row,
			const struct report_rows *all)
{
	bool sampled = row && row->self_by == SUMMARY_SELF_SAMPLES;
	uint64_t n = row ? row->known_count : 0;

	COLUMN(c, NS, "each_cpu_ns", ON_PAGE(c, "each", WIDE(c, "each")),
	       "self time on the CPU of an execution, on average; null: one of both is unknown",
	       n && (row->cpu_ns || !sampled)
		       ? columns__marked(c,
					 report_rows__are_sampled(all)
						 ? ""
						 : report_self_mark(row->self_by),
					 row->cpu_ns / n)
		       : columns__unknown(c));
}

/* The best that is known of a self time, beside exact ones. */
void best_columns(struct columns *c, const struct report_row *row, bool there)
{
	SOME_TEXT(c, "self_by", NULL, there, report_self_by(row->self_by),
		  "how best_self_ns is known: spans, samples; missing: by spans");
	SOME(c, NS, "best_self_ns", NULL, there, row->self_ns, "the best known self time");
	SOME(c, NS, "best_self_error_ns", NULL, there, row->self_error_ns, "its standard error");
}

/* The other part of self, and both. */
static void off_cpu_columns(struct columns *c, const struct report_row *row)
{
	KNOWN(c, NS, NULL, ON_PAGE(c, "off the CPU", REPORT_OFF),
	      row->self_by != SUMMARY_SELF_SAMPLES, row->extra[REPORT_OFF_CPU],
	      "the other part of self: waiting, or ready but waiting for a CPU");
	KNOWN(c, NS, NULL, ON_PAGE(c, NULL, REPORT_SELF), row->self_by != SUMMARY_SELF_SAMPLES,
	      row->self_ns, NULL);
}

static void known_time(struct columns *c, const char *title, uint64_t ns)
{
	SOME(c, NS, NULL, title, ns, ns, NULL);
}

/* Of text, where only samples show what queries cost. */
static void sampled_columns(struct columns *c, const struct report_row *row,
			    const struct report_rows *all)
{
	const uint64_t *extra = row ? row->extra : all->extra;

	NAME(c, NULL, "query", row->name, NULL);
	executions_column(c, row, "count");
	known_time(c, "total", row ? report_row__total_ns(row) : 0);
	known_time(c, "self", row ? row->self_ns : 0);
	known_time(c, "+-", row ? row->self_error_ns : 0);
	COLUMN(c, PERCENT, NULL, "self %", NULL,
	       row->self_ns ? columns__percent(c, row->self_ns, all->self_ns)
			    : columns__unknown(c));
	each_column(c, row, all);
	known_time(c, all->extra[REPORT_SAMPLED_MAX] ? "max" : NULL,
		   row && row->count ? row->max_ns : extra[REPORT_SAMPLED_MAX]);
	known_time(c, all->extra[REPORT_SAMPLED_OFF] ? REPORT_WAITING : NULL,
		   extra[REPORT_SAMPLED_OFF]);
}

void report_query_columns(struct columns *c, const struct report_row *row,
			  const struct report_rows *all, const struct report_options *opt)
{
	const struct samples_totals *sampled = opt->samples ? samples__totals(opt->samples) : NULL;
	bool off_cpu = report_rows__know_off_cpu(all), raw = opt->costs && !opt->raw;
	bool by_spans = row && row->self_by != SUMMARY_SELF_SAMPLES;
	bool has_spans = row && (by_spans || row->raw_total_ns);

	if (c->to == COLUMNS_TEXT && report_rows__are_sampled(all)) {
		sampled_columns(c, row, all);
		return;
	}
	TEXT(c, "name", ON_PAGE(c, "query", NULL), row->name, "rustc's name");
	FORMAT(c, ON_PAGE(c, NULL, "query"), "%s%s%s", row->name, row->instead,
	       row->unwound ? " " MARK : "");
	TEXT(c, "kind", NULL, row->kind,
	     "Query: executions of a query; GenericActivity: an activity; null: private to a file");
	count_columns(c, row, has_spans);
	/* Loaded results have a column of their own. */
	executions_column(
		c, row, ON_PAGE(c, "executions", all->extra[REPORT_LOADS] ? "executed" : "count"));
	NUMBER(c, COUNT, "unwound", NULL, row->unwound, "executions that never reached their end");
	SOME(c, COUNT, "began_before", NULL, row->begun, row->begun,
	     "executions that began before the recording");
	KNOWN(c, NS, "total_ns", NULL, has_spans, row->total_ns,
	      "with what was called; null: unknown");
	MARKED(c, NS, NULL, "total", by_spans ? "" : REPORT_ESTIMATE, report_row__total_ns(row),
	       "with the queries that it called");
	MARKED(c, NS, NULL, ON_PAGE(c, REPORT_SELF, NULL), report_self_mark(row->self_by),
	       row->self_ns, "without the queries that it called");
	KNOWN(c, NS, "self_ns", NULL, by_spans, row->exact_self_ns, "without that; null: unknown");
	SOME(c, NS, "self_cpu_ns", NULL, row->extra[REPORT_OFF_CPU], row->exact_cpu_ns,
	     "its part on the CPU; missing: all of it");
	MARKED(c, NS, NULL, ON_PAGE(c, "on the CPU", report_title_cpu(off_cpu)),
	       report_self_mark(row->self_by), row->cpu_ns, "the part of self in which it ran");
	COLUMN(c, PERCENT, NULL, ON_PAGE(c, "CPU %", report_title_share(off_cpu)),
	       "of all queries and passes", columns__percent(c, row->cpu_ns, all->cpu_ns));
	if (off_cpu)
		off_cpu_columns(c, row);
	KNOWN(c, NS, "mean_ns", "mean", row->count, row->mean_ns,
	      "of an execution; null: none was recorded");
	each_column(c, row, all);
	KNOWN(c, NS, "min_ns", NULL, row->count, row->min_ns,
	      "the shortest execution; null: none was recorded");
	KNOWN(c, NS, "max_ns", ON_PAGE(c, "max", NULL), row->count, row->max_ns,
	      "the longest execution; null: none was recorded");
	max_column(c, row);
	SOME(c, NS, "raw_total_ns", NULL, raw, row->raw_total_ns,
	     "total_ns with the time of probes");
	SOME(c, NS, "raw_self_ns", NULL, raw, row->raw_self_ns, "self_ns with the time of probes");
	best_columns(c, row, sampled);
	extra_columns(c, row, all, sampled);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Of threads whose off-CPU times are known. */
static void thread_columns(struct columns *c, const struct report_row *row)
{
	NUMBER(c, NS, NULL, "wall", row->total_ns, NULL);
	NUMBER(c, NS, NULL, "on-cpu", on_cpu_ns(row->total_ns, row->preempted_ns + row->waiting_ns),
	       NULL);
	NUMBER(c, NS, NULL, "preempted", row->preempted_ns, NULL);
	NUMBER(c, NS, NULL, "waiting", row->waiting_ns, NULL);
	MARKED(c, NS, NULL, "self", report_self_mark(row->self_by), row->self_ns, NULL);
	NUMBER(c, NS, NULL, "off-cpu", row->extra[REPORT_OFF_CPU], NULL);
}

void report_group_columns(struct columns *c, const struct report_row *row,
			  const struct report_rows *all, const struct report_options *opt)
{
	static const char *const titles[] = {
		[GROUP_BY_CRATE] = "crate",
		[GROUP_BY_PROCESS] = "process",
		[GROUP_BY_THREAD] = "thread",
	};
	/* Asked for by name, activities count, as in the table of queries. */
	bool counts = all->activities && opt->query, off_cpu = report_rows__know_off_cpu(all);

	TEXT(c, "name", ON_PAGE(c, titles[opt->by], NULL), row->name, "crate, process or thread");
	FORMAT(c, ON_PAGE(c, NULL, titles[opt->by]), "%s%s", row->name,
	       row->unwound ? " " MARK : "");
	NUMBER(c, COUNT, "processes", ON_PAGE(c, "compilers", NULL), row->processes,
	       "of the crate");
	NUMBER(c, COUNT, "count", ON_PAGE(c, "executions", NULL), row->count,
	       "executions of queries");
	NUMBER(c, COUNT, NULL, ON_PAGE(c, NULL, counts ? "count" : "executions"),
	       row->count + (counts ? row->activities : 0), NULL);
	NUMBER(c, COUNT, "activities", NULL, row->activities,
	       "besides these: passes, and parts of them");
	NUMBER(c, COUNT, "unwound", NULL, row->unwound, "executions that never reached their end");
	if (c->to == COLUMNS_TEXT && opt->by == GROUP_BY_THREAD && all->off_ns) {
		thread_columns(c, row);
		return;
	}
	NUMBER(c, NS, "wall_ns", "wall", row->total_ns, "from the first start to the last end");
	MARKED(c, NS, NULL, ON_PAGE(c, NULL, report_title_cpu(off_cpu)),
	       report_self_mark(row->self_by), row->cpu_ns, NULL);
	PERCENT(c, ON_PAGE(c, NULL, report_title_share(off_cpu)), row->cpu_ns, all->cpu_ns);
	NUMBER(c, NS, "self_ns", ON_PAGE(c, REPORT_SELF, NULL), row->exact_self_ns,
	       "self time of all intervals");
	SOME(c, NS, "self_cpu_ns", NULL, row->extra[REPORT_OFF_CPU], row->exact_cpu_ns,
	     "its part on the CPU; missing: all of it");
	SOME(c, NS, "self_off_ns", NULL, row->extra[REPORT_OFF_CPU], row->extra[REPORT_OFF_CPU],
	     "its part off the CPU; missing: none");
	if (off_cpu && c->to != COLUMNS_PAGE)
		off_cpu_columns(c, row);
	NUMBER(c, NS, "max_ns", ON_PAGE(c, "longest", "max"), row->max_ns, "the longest interval");
	SOME(c, NS, "preempted_ns", NULL, row->preempted_ns, row->preempted_ns,
	     "of a thread: ready, while others ran");
	SOME(c, NS, "waiting_ns", NULL, row->waiting_ns, row->waiting_ns, "of a thread: waiting");
	SOME(c, BYTES, "peak_bytes", all->peak_bytes ? ON_PAGE(c, "peak memory", "peak") : NULL,
	     row->peak_bytes, row->peak_bytes, "the most resident memory; missing: unknown");
}

/* ---- Callers --------------------------------------------------------------------------------- */

/* The function, and the line with most of its requests. */
static void name_caller(struct columns *c, const struct report_row *row)
{
	const struct caller_row *k = row->caller;
	const char *mark = row->unwound ? " " MARK : "";

	if (!k->file)
		columns__format(c, "%s%s", row->name, mark);
	else if (k->lines == 1)
		columns__format(c, "%s at %s:%" PRIu32 "%s", row->name, k->file, k->line, mark);
	else
		columns__format(c, "%s at %s:%" PRIu32 " and %" PRIu32 " other line%s%s", row->name,
				k->file, k->line, k->lines - 1, k->lines == 2 ? "" : "s", mark);
}

void report_caller_columns(struct columns *c, const struct report_row *row,
			   const struct report_rows *all)
{
	const struct caller_row *k = row ? row->caller : NULL;
	bool off_cpu = report_rows__know_off_cpu(all);

	TEXT(c, "function", NULL, k->function, "of the compiler; null: unknown");
	NUMBER(c, COUNT, "count", "executions", row->count, "executions that it requested");
	NUMBER(c, COUNT, "unwound", NULL, row->unwound, "executions that never reached their end");
	NUMBER(c, NS, "total_ns", "total", row->total_ns, "with what was called");
	NUMBER(c, NS, "self_ns", NULL, k->self_ns, "without that");
	SOME(c, NS, "self_cpu_ns", NULL, k->cpu_ns != k->self_ns, k->cpu_ns,
	     "its part on the CPU; missing: all of it");
	MARKED(c, NS, NULL, report_title_cpu(off_cpu), report_self_mark(row->self_by), row->cpu_ns,
	       NULL);
	PERCENT(c, report_title_share(off_cpu), row->cpu_ns, all->cpu_ns);
	NUMBER(c, NS, "max_ns", "max", row->max_ns, "the longest execution");
	TEXT(c, "file", NULL, k->file, "of the line with most requests; null: unknown");
	KNOWN(c, COUNT, "line", NULL, k->file, k->line, "that line, from 1; null: unknown");
	NUMBER(c, COUNT, "line_count", NULL, k->line_count, "executions requested there");
	NUMBER(c, COUNT, "lines", NULL, k->lines, "different lines that request it");
	COLUMN(c, TEXT, NULL, "caller", NULL, name_caller(c, row));
}

/* ---- Processes ------------------------------------------------------------------------------- */

void exit_columns(struct columns *c, const struct trace_process *p)
{
	int32_t status = p ? p->exit_status : 0;
	bool known = status != TRACE_EXIT_UNKNOWN;

	KNOWN(c, COUNT, "exit", NULL, known && WIFEXITED(status), WEXITSTATUS(status),
	      "exit status; null: killed, or unknown");
	KNOWN(c, ID, "signal", NULL, known && WIFSIGNALED(status), WTERMSIG(status),
	      "that killed it; null: none, or unknown");
	KNOWN_BOOL(c, "killed_for_memory", p->kill, p->kill == TRACE_KILL_MEMORY,
		   "by the kernel, as memory had run out; null: unknown, or no SIGKILL");
}

void reuse_columns(struct columns *c, const struct reuse *reuse)
{
	NUMBER(c, COUNT, "executed", NULL, reuse->executed, "executions of queries");
	NUMBER(c, COUNT, "loads", NULL, reuse->loads, "attempts to load a result");
	KNOWN(c, COUNT, "loaded", NULL, !reuse__may_miss(reuse), reuse->loaded,
	      "results that were loaded; null: unknown");
	KNOWN(c, COUNT, "results", NULL, reuse->results, reuse->results,
	      "results that the compile numbered; null: unknown");
}

void losses_columns(struct columns *c, const struct trace_losses *losses)
{
	KNOWN(c, COUNT, "lost", NULL, losses, trace_losses__total(losses),
	      "records that were lost; null: unknown");
	if (!OBJECT_OR_NULL(c, "losses", losses, "counts by cause; null: unknown"))
		return;
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		NUMBER(c, COUNT, trace_loss_name(i), NULL, losses->count[i], "docs/losses.md");
	columns__leave(c);
}
