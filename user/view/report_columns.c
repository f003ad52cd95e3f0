// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The columns of a report: its document, and the rows of queries, groups, callers and processes. */
#include "view/report_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/wait.h>

#include "analyze/compile_name.h"
#include "analyze/on_cpu.h"
#include "view/build.h"
#include "view/cost_view.h"
#include "view/item_text.h"
#include "view/llvm_view.h"
#include "view/samples_text.h"
#include "view/subjects_view.h"

#define SCHEMA "qprof-report/3"

/* Marks numbers that include executions without an exact end. */
#define MARK CALLERS_TEXT_MARK

/* ---- Queries --------------------------------------------------------------------------------- */

/* Samples met the longest execution first and last so far apart. */
static void max_column(struct columns *c, const struct report_row *row)
{
	if (!columns__wants(c, UNIT_NS, NULL, "max", NULL))
		return;
	if (row->count)
		columns__number(c, row->max_ns);
	else if (row->extra[REPORT_SAMPLED_MAX])
		columns__marked(c, REPORT_ESTIMATE, row->extra[REPORT_SAMPLED_MAX]);
	else
		columns__none(c);
}

static bool has_extra(const struct report_row *row, int extra, const struct samples_totals *sampled)
{
	/* Without stacks it is not known what called the query. */
	if (extra == REPORT_MEMORY_TOTAL && sampled && sampled->light)
		return false;
	return row->extra[extra] || (sampled && extra <= REPORT_SAMPLED_TOTAL_ERROR);
}

static void extra_columns(struct columns *c, const struct report_row *row,
			  const struct report_rows *all, const struct samples_totals *sampled)
{
	for (int i = 0; i < REPORT_N_EXTRAS; i++) {
		const struct report_extra *e = &report_extras[i];
		bool titled = all->extra[i] && i != REPORT_OFF_CPU;

		if (!columns__wants(c, e->unit, e->key, titled ? e->title : NULL, e->text))
			continue;
		if (c->to != COLUMNS_JSON || has_extra(row, i, sampled))
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
	KNOWN(c, NS, NULL, REPORT_OFF, row->self_by != SUMMARY_SELF_SAMPLES,
	      row->extra[REPORT_OFF_CPU], NULL);
	KNOWN(c, NS, NULL, REPORT_SELF, row->self_by != SUMMARY_SELF_SAMPLES, row->self_ns, NULL);
}

void report_query_columns(struct columns *c, const struct report_row *row,
			  const struct report_rows *all, const struct report_options *opt)
{
	const struct samples_totals *sampled = opt->samples ? samples__totals(opt->samples) : NULL;
	bool off_cpu = report_rows__know_off_cpu(all), raw = opt->costs && !opt->raw;
	bool by_spans = row && row->self_by != SUMMARY_SELF_SAMPLES;
	bool has_spans = row && (by_spans || row->raw_total_ns);
	char buf[FORMAT_MAX * 2];

	TEXT(c, "name", NULL, row->name, "rustc's name");
	FORMAT(c, "query", "%s%s%s", row->name, row->instead, row->unwound ? " " MARK : "");
	TEXT(c, "kind", NULL, row->kind,
	     "Query: executions of a query; GenericActivity: an activity; null: private to a file");
	count_columns(c, row, has_spans);
	/* Loaded results have a column of their own. */
	CELL(c, all->extra[REPORT_LOADS] ? "executed" : "count", report_row__count(buf, row));
	NUMBER(c, COUNT, "unwound", NULL, row->unwound, "executions that never reached their end");
	SOME(c, COUNT, "began_before", NULL, row->begun, row->begun,
	     "executions that began before the recording");
	KNOWN(c, NS, "total_ns", NULL, has_spans, row->total_ns,
	      "with what was called; null: unknown");
	MARKED(c, NS, NULL, "total", by_spans ? "" : REPORT_ESTIMATE, report_row__total_ns(row),
	       NULL);
	KNOWN(c, NS, "self_ns", NULL, by_spans, row->exact_self_ns, "without that; null: unknown");
	SOME(c, NS, "self_cpu_ns", NULL, row->extra[REPORT_OFF_CPU], row->exact_cpu_ns,
	     "its part on the CPU; missing: all of it");
	MARKED(c, NS, NULL, report_title_cpu(off_cpu), report_self_mark(row->self_by), row->cpu_ns,
	       NULL);
	PERCENT(c, report_title_share(off_cpu), row->cpu_ns, all->cpu_ns);
	if (off_cpu)
		off_cpu_columns(c, row);
	KNOWN(c, NS, "mean_ns", "mean", row->count, row->mean_ns,
	      "of an execution; null: none was recorded");
	max_column(c, row);
	KNOWN(c, NS, "min_ns", NULL, row->count, row->min_ns,
	      "the shortest execution; null: none was recorded");
	KNOWN(c, NS, "max_ns", NULL, row->count, row->max_ns,
	      "the longest execution; null: none was recorded");
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

	TEXT(c, "name", NULL, row->name, "crate, process or thread");
	FORMAT(c, titles[opt->by], "%s%s", row->name, row->unwound ? " " MARK : "");
	NUMBER(c, COUNT, "processes", NULL, row->processes, "of the crate");
	NUMBER(c, COUNT, "count", NULL, row->count, "executions of queries");
	NUMBER(c, COUNT, NULL, counts ? "count" : "executions",
	       row->count + (counts ? row->activities : 0), NULL);
	NUMBER(c, COUNT, "activities", NULL, row->activities,
	       "besides these: passes, and parts of them");
	NUMBER(c, COUNT, "unwound", NULL, row->unwound, "executions that never reached their end");
	if (c->to == COLUMNS_TEXT && opt->by == GROUP_BY_THREAD && all->off_ns) {
		thread_columns(c, row);
		return;
	}
	NUMBER(c, NS, "wall_ns", "wall", row->total_ns, "from the first start to the last end");
	MARKED(c, NS, NULL, report_title_cpu(off_cpu), report_self_mark(row->self_by), row->cpu_ns,
	       NULL);
	PERCENT(c, report_title_share(off_cpu), row->cpu_ns, all->cpu_ns);
	NUMBER(c, NS, "self_ns", NULL, row->exact_self_ns, "self time of all intervals");
	SOME(c, NS, "self_cpu_ns", NULL, row->extra[REPORT_OFF_CPU], row->exact_cpu_ns,
	     "its part on the CPU; missing: all of it");
	SOME(c, NS, "self_off_ns", NULL, row->extra[REPORT_OFF_CPU], row->extra[REPORT_OFF_CPU],
	     "its part off the CPU; missing: none");
	if (off_cpu)
		off_cpu_columns(c, row);
	NUMBER(c, NS, "max_ns", "max", row->max_ns, "the longest interval");
	SOME(c, NS, "preempted_ns", NULL, row->preempted_ns, row->preempted_ns,
	     "of a thread: ready, while others ran");
	SOME(c, NS, "waiting_ns", NULL, row->waiting_ns, row->waiting_ns, "of a thread: waiting");
	SOME(c, BYTES, "peak_bytes", all->peak_bytes ? "peak" : NULL, row->peak_bytes,
	     row->peak_bytes, "the most resident memory; missing: unknown");
}

static void put_groups(struct columns *c, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};

	if (!LIST(c, "groups", opt->groups, "with --by crate, process, thread"))
		return;
	c->err = c->err ?: c->describes ? 0 : report_rows__groups(&r, opt);
	ROWS (c, i, r.n)
		report_group_columns(c, ROW(c, &r.rows[i]), &r, opt);
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

static void put_callers(struct columns *c, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};

	if (!LIST(c, "callers", opt->callers, "with --callers"))
		return;
	c->err = c->err ?: c->describes ? 0 : report_rows__callers(&r, opt);
	ROWS (c, i, r.n)
		report_caller_columns(c, ROW(c, &r.rows[i]), &r);
}

static void put_items(struct columns *c, bool modules, const struct trace_texts *names,
		      const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};

	if (!LIST(c, modules ? "modules" : "items", opt->items && modules == !!opt->modules,
		  modules ? "with --by module" : "with --by item"))
		return;
	c->err = c->err ?: c->describes ? 0 : report_rows__items(&r, names, opt);
	ROWS (c, i, r.n)
		report_item_columns(c, ROW(c, &r.rows[i]), &r, modules, names, NULL);
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* Of one process or of all. */
static void put_queries(struct columns *c, const struct summary *s, uint32_t process,
			const struct trace_texts *names, const struct report_options *opt,
			const char *help)
{
	_report_rows_ struct report_rows r = {};

	if (!LIST(c, "queries", true, help))
		return;
	c->err = c->err ?: c->describes ? 0 : report_rows__queries(&r, s, process, names, opt);
	ROWS (c, i, r.n)
		report_query_columns(c, ROW(c, &r.rows[i]), &r, opt);
}

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

static void put_process(struct columns *c, const struct trace_process *p, const struct summary *s,
			const struct trace_texts *names, const struct report_options *opt)
{
	struct reuse reuse = p ? summary__reuse(s, p->index) : (struct reuse){};

	OWNED(c, "name", NULL, compile_name(p), "package, target and tool");
	NUMBER(c, ID, "pid", NULL, p->pid, "process");
	NUMBER(c, ID, "parent_pid", NULL, p->parent_pid, "the process that started it");
	TEXT(c, "crate", NULL, p->crate, "null: none");
	TEXT(c, "crate_type", NULL, p->crate_type, "null: none");
	TEXT(c, "command", NULL, p->command, "command line");
	TEXT(c, "rustc_version", NULL, p->rustc_version, "null: unknown");
	TEXT(c, "build_id", NULL, p->build_id, "of librustc_driver; null: unknown");
	exit_columns(c, p);
	BOOL(c, "attached_late", p->attached_late, "it ran before its probes were there");
	NUMBER(c, NS, "start_ns", NULL, p->start_ns, "on the clock of the trace");
	NUMBER(c, NS, "end_ns", NULL, p->end_ns, "on the clock of the trace; 0: not seen");
	KNOWN(c, BYTES, "peak_bytes", NULL, p->peak_bytes, p->peak_bytes,
	      "the most resident memory; null: unknown");
	if (OBJECT(c, "incremental", reuse.loads, "if it loaded results of the last build")) {
		reuse_columns(c, &reuse);
		columns__leave(c);
	}
	put_queries(c, s, p ? p->index : 0, names, opt, "its queries");
}

static void put_processes(struct columns *c, const struct summary *s,
			  const struct trace_texts *names, const struct report_options *opt)
{
	if (!LIST(c, "processes", true, "every compiler"))
		return;
	ROWS (c, i, summary__n_processes(s))
		put_process(c, ROW(c, summary__process_at(s, i)), s, names, opt);
}

static void put_tallies(struct columns *c, const struct summary *s, const struct trace_texts *names)
{
	size_t n = 0;
	const struct trace_tally *all = c->describes ? NULL : summary__tallies(s, &n);

	if (!LIST(c, "tallies", n, "values without times, if there are any"))
		return;
	ROWS (c, i, n) {
		const struct trace_tally *t = ROW(c, &all[i]);

		NUMBER(c, ID, "pid", NULL, summary__process_at(s, t->process)->pid, "process");
		TEXT(c, "kind", NULL,
		     names->kind ? names->kind(names->ctx, t->kind) : trace_kind_text(t->kind),
		     "of the value");
		TEXT(c, "name", NULL, names->text(names->ctx, t->label), "what it is about");
		NUMBER(c, COUNT, "events", NULL, t->events, "values that were added up");
		NUMBER(c, COUNT, "sum", NULL, t->sum, "in the kind's unit");
	}
}

/* ---- The document ---------------------------------------------------------------------------- */

static void put_losses(struct columns *c, const struct trace_losses *losses)
{
	KNOWN(c, COUNT, "lost", NULL, losses, trace_losses__total(losses),
	      "records that were lost; null: unknown");
	if (!OBJECT_OR_NULL(c, "losses", losses, "counts by cause; null: unknown"))
		return;
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		NUMBER(c, COUNT, trace_loss_name(i), NULL, losses->count[i], "docs/losses.md");
	columns__leave(c);
}

static void put_counts(struct columns *c, const struct summary *s)
{
	struct summary_counts counts = {};

	c->err = c->err ?: c->describes ? 0 : summary__counts(s, SUMMARY_ALL, &counts);
	NUMBER(c, COUNT, "query_executions", NULL, counts.queries,
	       "executions of queries: recorded, or by the compilers' tables");
	SOME(c, COUNT, "unsure_results", NULL, counts.unsure, counts.unsure,
	     "results in these tables that may be none; missing: none");
	NUMBER(c, COUNT, "activities", NULL, counts.activities,
	       "activities: passes, and parts of them");
}

static void put_probes(struct columns *c, const struct summary *s, const struct report_options *opt)
{
	const struct trace_costs *costs = opt->costs;
	/* The hits of a part of a trace are not known. */
	uint64_t hits = opt->cost ? opt->cost->hits : 0;
	long double ps = costs ? (long double)hits * costs->ps[TRACE_COST_EMULATED] : 0;

	if (!OBJECT(c, "probes", costs, "what the probes cost, if that was measured"))
		return;
	KNOWN(c, COUNT, "hits", NULL, opt->cost, hits, "of probes; null: of a part of the trace");
	NUMBER(c, PS, "emulated_ps", NULL, costs->ps[TRACE_COST_EMULATED],
	       "what a hit costs on an instruction that the kernel emulates");
	NUMBER(c, PS, "stepped_ps", NULL, costs->ps[TRACE_COST_STEPPED],
	       "what a hit costs on another instruction");
	KNOWN(c, NS, "probe_ns", NULL, opt->cost && ps / 1000 < 0x1p64L, (uint64_t)(ps / 1000),
	      "all hits; null: of a part of the trace");
	NUMBER(c, NS, "wall_ns", NULL, summary__wall_ns(s), "of the compilers, added up");
	BOOL(c, "taken_off", costs->subtracted || !opt->raw,
	     "whether the times of this document are without it");
	columns__leave(c);
}

static int put_document(FILE *out, enum columns_to to, const struct summary *s,
			const struct trace_losses *losses, const struct trace_texts *names,
			const struct report_options *opt)
{
	struct columns c = {.to = to, .out = out};

	columns__begin(&c, SCHEMA, SCHEMA);
	TEXT(&c, "problem", NULL, opt->problem, "why the trace is not whole; null: it is");
	put_losses(&c, losses);
	put_counts(&c, s);
	put_probes(&c, s, opt);
	cost_columns(&c, opt->cost);
	samples_columns(&c, opt->samples ? samples__totals(opt->samples) : NULL);
	put_groups(&c, opt);
	subjects_columns(&c, SUBJECTS_MACROS, opt);
	subjects_columns(&c, SUBJECTS_UNITS, opt);
	llvm_columns(&c, opt);
	put_items(&c, false, names, opt);
	put_items(&c, true, names, opt);
	put_callers(&c, opt);
	build_columns(&c, opt->build);
	put_processes(&c, s, names, opt);
	put_queries(&c, s, SUMMARY_ALL, names, opt, "the rows of the table of queries");
	put_tallies(&c, s, names);
	return columns__end(&c);
}

int report_json(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct trace_texts *names, const struct report_options *opt)
{
	return put_document(out, COLUMNS_JSON, s, losses, names, opt);
}

int report_schema(FILE *out)
{
	return put_document(out, COLUMNS_SCHEMA, NULL, NULL, NULL, &(struct report_options){});
}
