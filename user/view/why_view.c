// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/why_view.h"

#include <errno.h>
#include <inttypes.h>

#include "analyze/verdict.h"
#include "base/format.h"
#include "plan/frames.h"
#include "view/plan_view.h"
#include "view/report_columns.h"
#include "view/report_notes.h"
#include "view/verdict_text.h"

#define SCHEMA "qprof-why/1"

/* ---- Numbers of the trace -------------------------------------------------------------------- */

enum source {
	SOURCE_NONE,
	SOURCE_PROBES,
	SOURCE_TABLES,
	SOURCE_READING,
	SOURCE_SEVERAL,
	SOURCES,
};

static const struct {
	const char *name, *text;
} sources[SOURCES] = {
	[SOURCE_NONE] = {"-", "neither recorded nor in a table that was read"},
	[SOURCE_PROBES] = {"probes", "each execution was recorded"},
	[SOURCE_TABLES] = {"tables", "the compiler's tables, when it had executed all its queries"},
	[SOURCE_READING] = {"reading", "the last reading of these tables: there may be more"},
	[SOURCE_SEVERAL] = {"several", "probes in some compilers, tables in others"},
};

static enum source source_of(const struct summary_row *row)
{
	if (row->count)
		return row->results_beside || row->unsure_beside || row->results_missing
			       ? SOURCE_SEVERAL
			       : SOURCE_PROBES;
	if (!row->results)
		return SOURCE_NONE;
	return row->results_missing ? SOURCE_READING : SOURCE_TABLES;
}

static void name_row(struct columns *c, const struct why_row *r)
{
	if (r->process)
		columns__format(c, "%s %" PRIu32, r->process->crate ?: "?", r->process->pid);
	else
		columns__text(c, "all");
}

static void row_columns(struct columns *c, const struct why_row *r)
{
	const struct summary_row *row = r ? &r->row : NULL;
	bool sampled = row && row->self_by == SUMMARY_SELF_SAMPLES;
	uint64_t listed = r ? r->keys[WHY_LISTED] : 0;
	char buf[FORMAT_MAX * 2];

	COLUMN(c, TEXT, NULL, "compiler", NULL, name_row(c, r));
	KNOWN(c, ID, "pid", NULL, r->process, r->process->pid, "null: of all compilers");
	TEXT(c, "crate", NULL, r->process ? r->process->crate : NULL, "null: unknown");
	TEXT(c, "build_id", NULL, r->process ? r->process->build_id : NULL,
	     "of its librustc_driver; null: unknown");
	SOME_BOOL(c, "attached_late", r->process && r->process->attached_late, true,
		  "it ran before its probes were there; missing: it did not");
	CELL(c, "executions", report_count(buf, row));
	TEXT(c, "from", "from", sources[source_of(row)].name,
	     "where that number is from: probes, tables, reading (the last one), several, -");
	NUMBER(c, COUNT, "recorded", "recorded", row->count, "executions, by probes");
	NUMBER(c, COUNT, "results", "in tables", row->results, "in the compilers' tables");
	NUMBER(c, COUNT, "results_unsure", "unsure", row->results_unsure,
	       "of these, may be no executions: fed, or loaded");
	BOOL(c, "results_at_least", row->results_missing, "not all tables were read at the end");
	NUMBER(c, COUNT, "hits", "cache hits", row->hits, "requests answered from the cache");
	NUMBER(c, COUNT, "loads", "loads", row->loads, "attempts to load a result");
	NUMBER(c, COUNT, "unwound", "unwound", row->unwound, "executions without an end");
	NUMBER(c, COUNT, "samples", "samples", row->samples.self[TRACE_SAMPLE_CPU].n,
	       "of the CPU whose innermost query it is");
	MARKED(c, NS, "self_ns", "self", report_self_mark(row->self_by), row->best_self_ns,
	       "the best known self time");
	KNOWN(c, NS, "self_error_ns", "+-", sampled, row->best_error_ns,
	      "its standard error; null: it is exact");
	NUMBER(c, COUNT, "keys_named", "keys", r->keys[WHY_NAMED] + r->keys[WHY_LISTED],
	       "executions and results of which it is known what they were about");
	NUMBER(c, COUNT, "keys_without_id", "no id", r->keys[WHY_NO_ID],
	       "executions whose end shows no invocation id");
	NUMBER(c, COUNT, "keys_without_names", "no names", r->keys[WHY_NO_NAMES],
	       "executions in compilers of whose names nothing was copied");
	NUMBER(c, COUNT, "keys_without_text", "no text", r->keys[WHY_NO_TEXT],
	       "executions whose name was not copied, though others were");
	KNOWN(c, COUNT, "results_unlisted", "unlisted", row->results,
	      row->results > listed ? row->results - listed : 0,
	      "results about other crates' definitions, or about none; null: no results");
	BOOL(c, "list_is_cut", r->cut_list, "lists of results could not be read to their end");
}

static int print_rows(FILE *out, const struct why_view *v)
{
	struct columns c = {.to = COLUMNS_TEXT, .out = out};
	unsigned int used = 0;
	unsigned int late = 0;
	bool cut = false;

	/* The row of all has the sums of the others, so with one there is nothing to add. */
	EACH_ROW (&c, i, v->n == 2 ? 1 : v->n)
		row_columns(&c, ROW(&c, &v->rows[i]));
	for (size_t i = 0; i < v->n; i++) {
		late += v->rows[i].process && v->rows[i].process->attached_late;
		used |= 1u << source_of(&v->rows[i].row);
		cut |= v->rows[i].cut_list;
	}
	for (int i = 0; i < SOURCES; i++)
		if (used & 1u << i)
			fprintf(out, "from %s: %s\n", sources[i].name, sources[i].text);
	if (late)
		fprintf(out, "%u of these compilers ran before their probes were there\n", late);
	if (cut)
		fputs("unlisted: some lists of results could not be read to their end\n", out);
	return c.err;
}

/* ---- The query's plan ------------------------------------------------------------------------ */

/* At sites without a query or a body, tables are read, or any query is fed. */
static bool is_about(const struct why_view *v, const struct plan_site *s)
{
	const struct plan_query *q = &v->plan->queries[v->number];
	uint32_t body = s->body;

	if (s->query != PLAN_NONE)
		return s->query == v->number;
	if (body == PLAN_NONE && s->guard != PLAN_NONE)
		body = v->plan->guards[s->guard].body;
	if (body != PLAN_NONE)
		return plan__serves(v->plan, q, body);
	return s->role == WIRE_ROLE_DROP &&
	       (!plan_site__feeds(s) || plan_query__fed(v->plan, q) == PLAN_FED_SEEN);
}

static void site_columns(struct columns *c, const struct plan_site *s, const struct why_view *v)
{
	static const char *const parts[PLAN_PARTS + 1] = {
		[PLAN_PART_ALWAYS] = "yes",
		[PLAN_PART_THREADS] = "threads",
		[PLAN_PART_INCREMENTAL] = "incremental",
		[PLAN_PARTS] = "no",
	};
	uint32_t body = s ? s->body : PLAN_NONE;

	TEXT(c, "role", "site", plan_site__role_name(s), "what its program does");
	TEXT(c, "attached", "attached", v->attached ? parts[v->attached[s - v->plan->sites]] : NULL,
	     "for the events asked for: yes, no, threads, incremental (in such compilers); null: "
	     "unknown");
	TEXT(c, "class", "class", s->cls == PLAN_STEPPED ? "stepped" : "emulated",
	     "how the kernel runs the instruction");
	COLUMN(c, TEXT, "address", "address", "ELF virtual address", columns__address(c, s->addr));
	COLUMN(c, TEXT, "offset", "offset", "in the file", columns__address(c, s->offset));
	COLUMN(c, TEXT, "body", "body", "address of the body; null: none",
	       columns__address(c, body == PLAN_NONE ? 0 : v->plan->bodies[body].addr));
	TEXT(c, "problem", NULL, body == PLAN_NONE ? NULL : v->plan->bodies[body].problem,
	     "why not all ends of its body are known; null: they are");
	COLUMN(c, BOOL, "key", NULL, "the query's key can be read there",
	       columns__bool(c, plan_site__has_key(s)));
	FORMAT(c, "key", "%s", plan_site__has_key(s) ? "read" : "-");
}

/* Has `c` print the sites in a table or a list. */
static void put_sites(struct columns *c, const struct why_view *v)
{
	uint32_t n = v->plan && v->number != PLAN_NONE ? v->plan->n_sites : 0, used = 0;
	_free_ const struct plan_site **sites = calloc(n + 1UL, sizeof(*sites));

	if (!sites)
		c->err = c->err ?: -ENOMEM;
	for (uint32_t i = 0; sites && i < n; i++)
		if (is_about(v, &v->plan->sites[i]))
			sites[used++] = &v->plan->sites[i];
	EACH_ROW (c, i, used)
		site_columns(c, ROW(c, sites[i]), v);
}

/* A member of JSON, or in text a line. */
static void fact(struct columns *c, const char *key, const char *title, const char *text,
		 const char *help)
{
	_free_ char *clean = NULL;

	if (c->to != COLUMNS_TEXT) {
		TEXT(c, key, NULL, text, help);
		return;
	}
	clean = format_clean(text ?: "-");
	fprintf(c->out, "%-12s%s\n", title, clean ?: "?");
}

static void count_fact(struct columns *c, const char *key, const char *title, uint64_t n,
		       const char *help)
{
	if (c->to != COLUMNS_TEXT)
		NUMBER(c, COUNT, key, NULL, n, help);
	else
		fprintf(c->out, "%-12s%" PRIu64 "\n", title, n);
}

static const char *yes_or(bool yes, const char *problem)
{
	return yes ? "yes" : problem ?: "no";
}

static void query_facts(struct columns *c, const struct plan *plan, uint32_t number)
{
	static const struct plan_query none = {.name = NULL};
	static const struct plan no_plan = {.path = NULL};
	const struct plan_query *q = number == PLAN_NONE ? &none : &plan->queries[number];
	const struct plan *p = plan ?: &no_plan;
	bool there = q != &none;

	fact(c, "key", "key", plan_key_name(q->key), "as the plan reads it; null: not read");
	fact(c, "key_type", "key's type", q->key_type, "in rustc's sources; null: unknown");
	count_fact(c, "start_sites", "start sites", q->n_start, "that see it start");
	fact(c, "start_exact", "all starts", yes_or(q->start_exact, NULL),
	     "yes: these see it start with and without incremental compilation");
	count_fact(c, "key_sites", "with a key", there ? plan__key_sites(p, number) : 0,
		   "start sites at which its key can be read");
	count_fact(c, "end_sites", "end sites", q->n_end, "of its bodies");
	fact(c, "end_exact", "all ends", yes_or(q->end_exact, NULL),
	     "yes: every normal return of its provider meets one");
	fact(c, "invocation_id", "ids", yes_or(q->has_id, NULL),
	     "yes: every end site shows the invocation id");
	count_fact(c, "request_sites", "requests", q->n_request, "wrappers probed for callers");
	fact(c, "cache", "cache",
	     plan_cache_name(q->table.kind) ?: p->tables_problem ?: q->table_problem,
	     "the type of its table of results, or why it is not known");
	fact(c, "result_keys", "its keys",
	     yes_or(there && plan_query__has_keys(q), q->result_keys_problem),
	     "yes: what results are about can be read there; else why not");
	fact(c, "may_be_fed", "fed",
	     !q->table.kind ? NULL
	     : q->table.fed ? p->feeds_problem ?: "perhaps"
			    : "no",
	     "whether results may come from other queries; null: unknown");
	fact(c, "active_jobs", "active jobs", yes_or(q->active.size, p->jobs.problem),
	     "yes: executions can be read while they run; else why not");
	fact(c, "names", "names", yes_or(p->layout.wire.size, p->layout.problem),
	     "yes: names of definitions can be read; else why not");
	fact(c, "in_stacks", "in stacks",
	     there ? plan_shows_name(plan_query__shows(p, number)) : NULL,
	     "whether sampled stacks show it: always, requested, no");
}

static void library_facts(struct columns *c, const struct why_view *v)
{
	fact(c, "library", "library", v->library, "the file that was planned; null: none");
	fact(c, "build_id", "build-id", v->build_id, "of the recorded library; null: unknown");
	fact(c, "rustc_version", "rustc", v->rustc_version, "null: unknown");
	if (c->to != COLUMNS_TEXT || v->no_plan)
		fact(c, "no_plan", "plan", v->no_plan, "why there is none; null: there is one");
}

/* ---- Documents ------------------------------------------------------------------------------- */

int why_text(FILE *out, const struct why_view *v)
{
	struct verdict verdict = verdict_of(v->summary, v->losses);
	struct columns c = {.to = COLUMNS_TEXT, .out = out};
	int err;

	verdict_lead(out, &verdict);
	fact(&c, NULL, "query", v->query, NULL);
	fact(&c, NULL, "trace", v->problem ?: "whole", NULL);
	fact(&c, NULL, "events", v->events ?: "unknown: the trace does not say", NULL);
	fputc('\n', out);
	err = print_rows(out, v);
	if (err)
		return err;
	report_notes__losses(out, v->losses, true);
	fputs("probe hits are those of all sites: a trace does not have them by site\n\n", out);
	library_facts(&c, v);
	if (!v->plan || v->number == PLAN_NONE)
		return 0;
	query_facts(&c, v->plan, v->number);
	fputc('\n', out);
	put_sites(&c, v);
	return c.err;
}

static int put_document(FILE *out, enum columns_to to, const struct why_view *v)
{
	struct columns c = {.to = to, .out = out};

	columns__begin(&c, SCHEMA, SCHEMA);
	TEXT(&c, "query", NULL, v->query, "rustc's name");
	TEXT(&c, "problem", NULL, v->problem, "why the trace is not whole; null: it is");
	TEXT(&c, "events", NULL, v->events, "that were asked for, as record -e; null: unknown");
	losses_columns(&c, v->losses);
	if (LIST(&c, "compilers", true, "the first entry is of all"))
		EACH_ROW (&c, i, v->n)
			row_columns(&c, ROW(&c, &v->rows[i]));
	library_facts(&c, v);
	if (OBJECT_OR_NULL(&c, "plan", v->plan && v->number != PLAN_NONE, "of the query")) {
		query_facts(&c, v->plan, v->number);
		columns__leave(&c);
	}
	if (LIST(&c, "sites", v->plan, "of the plan that are about the query"))
		put_sites(&c, v);
	return columns__end(&c);
}

int why_json(FILE *out, const struct why_view *v)
{
	return put_document(out, COLUMNS_JSON, v);
}

int why_schema(FILE *out)
{
	return put_document(out, COLUMNS_SCHEMA, &(struct why_view){.number = PLAN_NONE});
}
