// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The document of a report, and its schema. */
#include "analyze/compile_name.h"
#include "view/build.h"
#include "view/cost_view.h"
#include "view/item_text.h"
#include "view/llvm_view.h"
#include "view/report_columns.h"
#include "view/samples_text.h"
#include "view/subjects_view.h"

#define SCHEMA "qprof-report/3"

/* ---- Lists ----------------------------------------------------------------------------------- */

static void put_groups(struct columns *c, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};

	if (!LIST(c, "groups", opt->groups, "with --by crate, process, thread"))
		return;
	c->err = c->err ?: c->describes ? 0 : report_rows__groups(&r, opt);
	EACH_ROW (c, i, r.n)
		report_group_columns(c, ROW(c, &r.rows[i]), &r, opt);
}

static void put_callers(struct columns *c, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};

	if (!LIST(c, "callers", opt->callers, "with --callers"))
		return;
	c->err = c->err ?: c->describes ? 0 : report_rows__callers(&r, opt);
	EACH_ROW (c, i, r.n)
		report_caller_columns(c, ROW(c, &r.rows[i]), &r);
}

static void put_items(struct columns *c, bool modules, const struct trace_texts *names,
		      const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};
	struct item_extras has = {};

	if (!LIST(c, modules ? "modules" : "items", opt->items && modules == opt->modules,
		  modules ? "with --by module" : "with --by item"))
		return;
	c->err = c->err ?: c->describes ? 0 : report_rows__items(&r, names, opt);
	/* JSON has no titles. */
	if (c->to == COLUMNS_PAGE)
		has = report_items__extras(&r, r.n, names);
	EACH_ROW (c, i, r.n)
		report_item_columns(c, ROW(c, &r.rows[i]), &r, modules, names, &has);
}

/* Of one process or of all. */
static void put_queries(struct columns *c, const struct summary *s, uint32_t process,
			const struct trace_texts *names, const struct report_options *opt,
			const char *help)
{
	_report_rows_ struct report_rows r = {};

	if (!LIST(c, "queries", true, help))
		return;
	c->err = c->err ?: c->describes ? 0 : report_rows__queries(&r, s, process, names, opt);
	EACH_ROW (c, i, r.n)
		report_query_columns(c, ROW(c, &r.rows[i]), &r, opt);
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

static void put_tallies(struct columns *c, const struct summary *s, const struct trace_texts *names)
{
	size_t n = 0;
	const struct trace_tally *all = c->describes ? NULL : summary__tallies(s, &n);

	if (!LIST(c, "tallies", n, "values without times, if there are any"))
		return;
	EACH_ROW (c, i, n) {
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
	struct summary_counts counts = {};

	columns__begin(&c, SCHEMA, SCHEMA);
	TEXT(&c, "problem", NULL, opt->problem, "why the trace is not whole; null: it is");
	losses_columns(&c, losses);
	c.err = c.err ?: c.describes ? 0 : summary__counts(s, SUMMARY_ALL, &counts);
	NUMBER(&c, COUNT, "query_executions", NULL, counts.queries,
	       "executions of queries: recorded, or by the compilers' tables");
	SOME(&c, COUNT, "unsure_results", NULL, counts.unsure, counts.unsure,
	     "results in these tables that may be none; missing: none");
	NUMBER(&c, COUNT, "activities", NULL, counts.activities,
	       "activities: passes, and parts of them");
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
	if (LIST(&c, "processes", true, "every compiler"))
		EACH_ROW (&c, i, summary__n_processes(s))
			put_process(&c, ROW(&c, summary__process_at(s, i)), s, names, opt);
	put_queries(&c, s, SUMMARY_ALL, names, opt, "the rows of the table of queries");
	put_tallies(&c, s, names);
	return columns__end(&c);
}

int report_json(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct trace_texts *names, const struct report_options *opt)
{
	return put_document(out, opt->page ? COLUMNS_PAGE : COLUMNS_JSON, s, losses, names, opt);
}

int report_schema(FILE *out)
{
	return put_document(out, COLUMNS_SCHEMA, NULL, NULL, NULL, &(struct report_options){});
}
