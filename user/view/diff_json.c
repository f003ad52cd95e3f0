// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The document of a comparison, and its schema. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "view/columns.h"
#include "view/diff_rows.h"

#define SCHEMA "qprof-diff/5"

/* ---- Rows ------------------------------------------------------------------------------------ */

static void number_column(struct columns *c, enum column_unit unit, const char *key, uint64_t value)
{
	if (columns__wants(c, unit, key, NULL, "of the traces"))
		columns__number(c, value);
}

static void side_columns(struct columns *c, const struct compare_row *row, enum compare_side side)
{
	static const struct {
		const char *key;
		enum column_unit unit;
		const char *help;
		bool cost; /* of whole crates; null if it is 0 */
	} spreads[COMPARE_N_METRICS] = {
		[COMPARE_SELF] = {"self_ns", UNIT_NS,
				  "time without called queries and without probes, on "
				  "the CPU if known; ns",
				  false},
		[COMPARE_TOTAL] = {"total_ns", UNIT_NS,
				   "time with called queries; of crates how long "
				   "compilers ran; ns",
				   false},
		[COMPARE_COUNT] = {"count", UNIT_COUNT,
				   "executions; of crates those of queries, without "
				   "activities; missing of LLVM's work",
				   false},
		[COMPARE_WALL] = {"wall_ns", UNIT_NS, "from start to end; ns", true},
		[COMPARE_CPU] = {"cpu_ns", UNIT_NS,
				 "CPU time of the compiler, without in_compilers_ns unless that is "
				 "null; ns",
				 true},
		[COMPARE_PEAK] = {"peak_bytes", UNIT_BYTES,
				  "the most memory that one compiler had resident; bytes", true},
		[COMPARE_RESULTS] = {"results", UNIT_COUNT,
				     "results of queries that rustc numbered, probed or not", true},
	};
	bool whole = !row || !row->query;

	if (!OBJECT_OR_NULL(c, diff_sides[side], row->in[side],
			    "null: no trace of that side has it"))
		return;
	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		const struct spread *s = row ? &row->of[m][side] : NULL;
		enum column_unit unit = spreads[m].unit;

		/* An item has no total time, and LLVM's work no number. */
		if (spreads[m].cost
			    ? !whole
			    : row && ((m == COMPARE_TOTAL && !row->unit && row->query) ||
				      (m == COMPARE_COUNT && compare_is_of_llvm(row->table))))
			continue;
		if (!OBJECT_OR_NULL(c, spreads[m].key, !spreads[m].cost || (s && s->median),
				    spreads[m].help))
			continue;
		NUMBER(c, COUNT, "n", NULL, s->n, "traces");
		number_column(c, unit, "median", s ? s->median : 0);
		number_column(c, unit, "min", s ? s->min : 0);
		number_column(c, unit, "max", s ? s->max : 0);
		columns__leave(c);
	}
	if (whole)
		KNOWN(c, NS, "in_compilers_ns", NULL, row->knows_recording, row->recording_ns[side],
		      "CPU time that recording added in compilers, median of the traces");
	columns__leave(c);
}

/* The names of the metrics of a set. */
static void put_metrics(struct columns *c, const char *key, bool there, unsigned int metrics,
			const char *help)
{
	size_t n = 0;

	if (!LIST(c, key, there, help))
		return;
	for (unsigned int m = 0; m < COMPARE_N_METRICS; m++)
		if (metrics >> m & 1)
			columns__item(c, n++, compare_metric_name(m));
	columns__leave_list(c);
}

/* Of which crate, item, pass, function or query a row is; of a limit nothing. */
static void identity_columns(struct columns *c, const struct compare_row *row)
{
	const struct compare_unit *unit = row ? row->unit : NULL;
	bool llvm = row && row->query && compare_is_of_llvm(row->table);
	bool item = row && row->query && !llvm && !unit, query = row && row->query && !llvm && unit;
	bool is_pass = row && row->table == COMPARE_OF_PASSES;

	SOME_TEXT(c, "crate", NULL, unit, unit->crate,
		  "crate name; missing of items and of the build");
	SOME_TEXT(c, "type", NULL, unit, unit->type, "crate type");
	SOME_TEXT(c, "name", NULL, unit, unit->name, "name of the unit, which no other has");
	SOME_TEXT(c, "item", NULL, item,
		  strcmp(row->query, COMPARE_NO_ITEM) != 0 ? row->query : NULL,
		  "path of a definition; null: time outside of all");
	SOME_TEXT(c, "file", NULL, item && row->file, row->file, "where the item begins");
	SOME(c, COUNT, "line", NULL, item && row->file, row->line, "where the item begins");
	SOME_TEXT(c, "pass", NULL, llvm && is_pass, row->query, "pass of LLVM");
	SOME_TEXT(c, "function", NULL, llvm && !is_pass, row->query,
		  "path of a function that LLVM compiled, or of an instance");
	SOME_TEXT(c, "query", NULL, query, row->query,
		  "name of a query or activity; missing of whole crates");
	SOME_TEXT(c, "kind", NULL, query, summary_kind_text(row->kinds),
		  "of its intervals: Query, GenericActivity, ...");
}

static void change_columns(struct columns *c, const struct compare_row *row,
			   enum compare_metric metric)
{
	uint64_t base = row ? row->of[metric][COMPARE_BASE].median : 0;
	bool sampled = row && (row->by[COMPARE_BASE] | row->by[COMPARE_NEW]) & COMPARE_BY_SAMPLES;
	bool whole = row && !row->query;

	COLUMN(c, METRIC, "change", NULL, "new less base, of the metric: ns, bytes or a number",
	       columns__signed(c, compare_row__change(row, metric)));
	REAL(c, PERCENT, "change_percent", base,
	     (double)compare_row__change(row, metric) * 100 / (double)base, 3,
	     "percent of base; null: base is 0");
	BOOL(c, "compared", row->compared, "the metric is known on both sides");
	BOOL(c, "significant", row->significant, "the change is more than chance explains");
	put_metrics(c, "compared_metrics", whole, row ? row->known : 0,
		    "of whole crates: known on both sides");
	put_metrics(c, "changed_metrics", whole, row ? row->changed : 0,
		    "of whole crates: changed significantly");
	put_metrics(c, "doubted_metrics", whole, row ? row->doubted : 0,
		    "of whole crates: changed, but what recording cost may explain it");
	SOME(c, NS, "change_error", NULL, sampled || row->error_ns[metric], row->error_ns[metric],
	     "standard error of the change by samples; ns");
	side_columns(c, row, COMPARE_BASE);
	side_columns(c, row, COMPARE_NEW);
}

static void put_rows(struct columns *c, const char *key, bool there, const struct compare_row *rows,
		     size_t n, enum compare_metric metric, const char *help)
{
	if (!LIST(c, key, there, help))
		return;
	EACH_ROW (c, i, n) {
		const struct compare_row *row = ROW(c, &rows[i]);

		identity_columns(c, row);
		change_columns(c, row, metric);
	}
}

static void put_table(struct columns *c, const char *key, bool there,
		      const struct compare_result *r, enum compare_of of, const char *help)
{
	struct compare_table table = r ? compare_result__table(r, of) : (struct compare_table){};

	put_rows(c, key, there, table.rows, table.n,
		 r ? compare_rules__of_queries(&r->rules) : COMPARE_SELF, help);
}

/* ---- The document ---------------------------------------------------------------------------- */

static void put_traces(struct columns *c, const struct diff_view *v)
{
	if (!LIST(c, "traces", true, "base first"))
		return;
	EACH_ROW (c, i, v->n_traces) {
		const struct diff_trace *t = ROW(c, &v->traces[i]);

		TEXT(c, "path", NULL, t->path, "file");
		TEXT(c, "side", NULL, diff_sides[t->side], "base or new");
		TEXT(c, "problem", NULL, t->problem, "damage of the file");
		KNOWN(c, COUNT, "lost", NULL, t->has_lost, t->lost,
		      "records that were lost while it was recorded");
		NUMBER(c, COUNT, "compiles", NULL, t->compiles, "compilers that compiled a crate");
		NUMBER(c, COUNT, "late", NULL, t->late,
		       "of these: ran before their probes were there");
		NUMBER(c, COUNT, "cut", NULL, t->cut,
		       "of these: killed, or their end was not seen");
		NUMBER(c, COUNT, "killed_for_memory", NULL, t->memory_kills,
		       "of these: by the kernel, as memory had run out");
		TEXT(c, "compiler", NULL, t->compiler, "its version; of several the first by name");
		NUMBER(c, COUNT, "reusing", NULL, t->recording.reusing,
		       "compiles that read results of an earlier one (incremental)");
		NUMBER(c, COUNT, "other_recordings", NULL, t->recording.n_beside,
		       "that ran beside it, whose probes make compilers slower");
		BOOL(c, "probed", t->recording.probed, "it has intervals of all queries");
		BOOL(c, "sampled", t->recording.sampled, "it has samples of stacks");
		BOOL(c, "off_cpu", t->recording.off_cpu, "it knows when threads were off the CPU");
	}
}

static void put_gates(struct columns *c, const struct diff_view *v)
{
	static const char *const verdicts[] = {
		[DIFF_PASSED] = "passed", [DIFF_EXCEEDED] = "exceeded", [DIFF_NO_VERDICT] = "none"};

	if (!LIST(c, "gates", true, "the limits of --fail-above"))
		return;
	EACH_ROW (c, i, v->n_gates) {
		const struct diff_gate *g = ROW(c, &v->gates[i]);

		TEXT(c, "text", NULL, g->text, "as given to --fail-above");
		SOME(c, NS, "limit_ns", NULL, g->limit_ns, g->limit_ns,
		     "growth that is allowed: one of these three; ns");
		SOME(c, BYTES, "limit_bytes", NULL, g->limit_bytes, g->limit_bytes, "bytes");
		if (IF(c, !g->limit_ns && !g->limit_bytes))
			REAL(c, PERCENT, "limit_percent", true, (double)g->limit_ppm / 10000, 3,
			     "percent of the value in base");
		TEXT(c, "metric", NULL, compare_metric_name(g->metric), "what is limited");
		BOOL(c, "exceeded", g->verdict == DIFF_EXCEEDED, "verdict is exceeded");
		TEXT(c, "verdict", NULL, verdicts[g->verdict], "passed, exceeded or none");
		TEXT(c, "why", NULL, g->why, "why there is no verdict");
		identity_columns(c, NULL);
		change_columns(c, g ? &g->row : NULL, g ? g->metric : COMPARE_SELF);
	}
}

static void put_differences(struct columns *c, const struct diff_view *v)
{
	const struct {
		const char *name;
		bool differs;
	} all[] = {
		{"incremental", v->differences & COMPARE_CLEAN_AND_INCREMENTAL},
		{"crates", v->result && v->result->few_crates},
		{"compiler", v->other_compilers[COMPARE_BASE]},
		{"recording", v->differences & COMPARE_OTHER_RECORDING},
		{"other_recordings",
		 diff_has_beside(v, COMPARE_BASE) || diff_has_beside(v, COMPARE_NEW)},
	};
	size_t n = 0;

	if (!LIST(c, "differences", true,
		  "what makes the sides hard to compare: incremental, crates, compiler, recording, "
		  "other_recordings"))
		return;
	for (size_t i = 0; i < N_OF(all); i++)
		if (all[i].differs)
			columns__item(c, n++, all[i].name);
	columns__leave_list(c);
}

static int put_document(FILE *out, enum columns_to to, const struct diff_view *v)
{
	static const char *const row_kinds[COMPARE_TABLES] = {
		[COMPARE_OF_ITEMS] = "item",	     [COMPARE_OF_QUERIES] = "query",
		[COMPARE_OF_PASSES] = "pass",	     [COMPARE_OF_GENERICS] = "generic",
		[COMPARE_OF_INSTANCES] = "instance",
	};
	const struct compare_result *r = v->result;
	bool both = v->by == DIFF_BY_BOTH;
	bool llvm = r && both && diff_shows(v, COMPARE_OF_PASSES);
	enum compare_of rows_of = both ? COMPARE_OF_QUERIES : diff_by_of(v->by);
	enum compare_metric metric = r ? r->rules.metric : COMPARE_SELF;
	struct columns c = {.to = to, .out = out};

	columns__begin(&c, SCHEMA, SCHEMA);
	TEXT(&c, "by", NULL, row_kinds[rows_of],
	     "what rows are: query, item, pass, generic or instance");
	TEXT(&c, "metric", NULL, compare_metric_name(metric),
	     "of limits and of the order: self, total, count, cpu, wall, peak, results");
	NUMBER(&c, NS, "min_ns", NULL, r->rules.min_ns,
	       "times that change by less are not significant; ns");
	REAL(&c, PERCENT, "min_percent", true, (double)r->rules.min_ppm / 10000, 3,
	     "the same, percent of the build");
	if (OBJECT_OR_NULL(&c, "noise", r->noise_is_estimated && r->rules.metric != COMPARE_COUNT,
			   "estimated noise of times; null: measured, or none")) {
		REAL(&c, PERCENT, "percent", r->noise_ppm != UINT64_MAX,
		     (double)r->noise_ppm / 10000, 3, "percent of the smaller time; null: unknown");
		columns__leave(&c);
	}
	put_differences(&c, v);
	NUMBER(&c, COUNT, "exit_status", NULL, (uint64_t)v->status, "0, 1 or 125, by the limits");
	put_traces(&c, v);
	put_gates(&c, v);
	if (OBJECT(&c, "build", true, "all compilers of the traces")) {
		identity_columns(&c, r ? &r->build : NULL);
		change_columns(&c, r ? &r->build : NULL, metric);
		columns__leave(&c);
	}
	put_rows(&c, "crates", true, r ? r->crates : NULL, r ? r->n_crates : 0, metric,
		 "units that are paired, the significant ones first");
	put_table(&c, "rows", true, r, rows_of,
		  "queries of crates, or what --by asks for; the significant ones first");
	put_table(&c, "items", r && both && r->has_items && r->rules.metric != COMPARE_TOTAL, r,
		  COMPARE_OF_ITEMS,
		  "items, beside the rows of queries; only without --by, if all traces have some");
	put_table(&c, "passes", llvm, r, COMPARE_OF_PASSES,
		  "CPU time in LLVM by its pass; this and the next two only without --by, of self "
		  "and cpu, if all traces, or builds of a history, know what LLVM did");
	put_table(&c, "generics", llvm, r, COMPARE_OF_GENERICS,
		  "the same by function of the source, with all instances");
	put_table(&c, "instances", llvm && !r->rules.of_history, r, COMPARE_OF_INSTANCES,
		  "the same by instance; not of a history");
	return columns__end(&c);
}

int diff_json(FILE *out, const struct diff_view *v)
{
	return put_document(out, COLUMNS_JSON, v);
}

int diff_schema(FILE *out)
{
	return put_document(out, COLUMNS_SCHEMA, &(struct diff_view){});
}
