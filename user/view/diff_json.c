// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "view/diff_rows.h"
#include "view/json.h"

static const char *const side_names[] = {[COMPARE_BASE] = "base", [COMPARE_NEW] = "new"};

/* Three decimals: limits have no more; noise is rounded. */
static void add_percent(struct json *j, const char *key, double percent)
{
	char text[400]; /* the longest double has 309 digits before the decimal point */

	snprintf(text, sizeof(text), "%.3f", percent);
	json__value(j, key, json_object_new_double_s(percent, text));
}

static void add_spread(struct json *j, const char *key, const struct spread *s)
{
	struct json object = {};

	json__begin(&object);
	json__number(&object, "n", s->n);
	json__number(&object, "median", s->median);
	json__number(&object, "min", s->min);
	json__number(&object, "max", s->max);
	json__value(j, key, json__take(&object));
}

static void add_cost(struct json *j, const char *key, const struct spread *s)
{
	if (s->median)
		add_spread(j, key, s);
	else
		json__null(j, key);
}

static void add_side(struct json *j, const struct compare_row *row, enum compare_side side)
{
	struct json object = {};

	if (!row->in[side]) {
		json__null(j, side_names[side]);
		return;
	}
	json__begin(&object);
	add_spread(&object, "self_ns", &row->of[COMPARE_SELF][side]);
	/* An item has no total time. */
	if (row->unit || !row->query)
		add_spread(&object, "total_ns", &row->of[COMPARE_TOTAL][side]);
	if (!compare_is_of_llvm(row->table))
		add_spread(&object, "count", &row->of[COMPARE_COUNT][side]);
	if (!row->query) {
		add_cost(&object, "wall_ns", &row->of[COMPARE_WALL][side]);
		add_cost(&object, "cpu_ns", &row->of[COMPARE_CPU][side]);
		json__known(&object, "in_compilers_ns", row->knows_recording,
			    row->recording_ns[side]);
		add_cost(&object, "peak_bytes", &row->of[COMPARE_PEAK][side]);
		add_cost(&object, "results", &row->of[COMPARE_RESULTS][side]);
	}
	json__value(j, side_names[side], json__take(&object));
}

/* The names of the metrics of a set. */
static void add_metrics(struct json *j, const char *key, unsigned int metrics)
{
	struct json_object *names = json_object_new_array();

	for (unsigned int m = 0; names && m < COMPARE_N_METRICS; m++)
		if (metrics >> m & 1)
			json_object_array_add(names, json_new_text(compare_metric_name(m)));
	json__value(j, key, names);
}

static void add_row(struct json *j, const struct compare_row *row, enum compare_metric metric)
{
	int64_t change = compare_row__change(row, metric);
	uint64_t base = row->of[metric][COMPARE_BASE].median;

	json__value(j, "change", json_object_new_int64(change));
	if (base)
		add_percent(j, "change_percent", (double)change * 100 / (double)base);
	else
		json__null(j, "change_percent");
	json__bool(j, "compared", row->compared);
	json__bool(j, "significant", row->significant);
	if (!row->query) {
		add_metrics(j, "compared_metrics", row->known);
		add_metrics(j, "changed_metrics", row->changed);
		add_metrics(j, "doubted_metrics", row->doubted);
	}
	if ((row->by[COMPARE_BASE] | row->by[COMPARE_NEW]) & COMPARE_BY_SAMPLES ||
	    row->error_ns[metric])
		json__number(j, "change_error", row->error_ns[metric]);
	add_side(j, row, COMPARE_BASE);
	add_side(j, row, COMPARE_NEW);
}

static void put_row(struct json *j, const struct compare_row *row, enum compare_metric metric)
{
	if (row->unit) {
		json__text(j, "crate", row->unit->crate);
		json__text(j, "type", row->unit->type);
		json__text(j, "name", row->unit->name);
	}
	if (row->query && compare_is_of_llvm(row->table)) {
		json__text(j, row->table == COMPARE_OF_PASSES ? "pass" : "function", row->query);
	} else if (row->query && !row->unit) {
		bool is_item = strcmp(row->query, COMPARE_NO_ITEM) != 0;

		json__text(j, "item", is_item ? row->query : NULL);
		if (row->file) {
			json__text(j, "file", row->file);
			json__number(j, "line", row->line);
		}
	} else if (row->query) {
		json__text(j, "query", row->query);
		json__text(j, "kind", summary_kind_text(row->kinds));
	}
	add_row(j, row, metric);
	json__put(j);
}

static void put_rows(struct json *j, const char *key, const struct compare_row *rows, size_t n,
		     enum compare_metric metric)
{
	json__array(j, key);
	for (size_t i = 0; i < n && !j->err; i++) {
		json__line(j, i);
		put_row(j, &rows[i], metric);
	}
	json__print(j, "]");
}

static void put_traces(struct json *j, const struct diff_view *v)
{
	json__array(j, "traces");
	for (size_t i = 0; i < v->n_traces && !j->err; i++) {
		const struct diff_trace *t = &v->traces[i];

		json__line(j, i);
		json__text(j, "path", t->path);
		json__text(j, "side", side_names[t->side]);
		json__text(j, "problem", t->problem);
		json__known(j, "lost", t->has_lost, t->lost);
		json__number(j, "compiles", t->compiles);
		json__number(j, "late", t->late);
		json__number(j, "cut", t->cut);
		json__number(j, "killed_for_memory", t->memory_kills);
		json__text(j, "compiler", t->compiler);
		json__number(j, "reusing", t->recording.reusing);
		json__number(j, "other_recordings", t->recording.n_beside);
		json__bool(j, "probed", t->recording.probed);
		json__bool(j, "sampled", t->recording.sampled);
		json__bool(j, "off_cpu", t->recording.off_cpu);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_gates(struct json *j, const struct diff_view *v)
{
	static const char *const verdicts[] = {
		[DIFF_PASSED] = "passed", [DIFF_EXCEEDED] = "exceeded", [DIFF_NO_VERDICT] = "none"};

	json__array(j, "gates");
	for (size_t i = 0; i < v->n_gates && !j->err; i++) {
		const struct diff_gate *gate = &v->gates[i];

		json__line(j, i);
		json__text(j, "text", gate->text);
		if (gate->limit_ns)
			json__number(j, "limit_ns", gate->limit_ns);
		else if (gate->limit_bytes)
			json__number(j, "limit_bytes", gate->limit_bytes);
		else
			add_percent(j, "limit_percent", (double)gate->limit_ppm / 10000);
		json__text(j, "metric", compare_metric_name(gate->metric));
		json__bool(j, "exceeded", gate->verdict == DIFF_EXCEEDED);
		json__text(j, "verdict", verdicts[gate->verdict]);
		json__text(j, "why", gate->why);
		add_row(j, &gate->row, gate->metric);
		json__put(j);
	}
	json__print(j, "]");
}

static void add_noise(struct json *j, const struct compare_result *r)
{
	struct json noise = {};

	if (!r->noise_is_estimated || r->rules.metric == COMPARE_COUNT) {
		json__null(j, "noise");
		return;
	}
	json__begin(&noise);
	if (r->noise_ppm == UINT64_MAX)
		json__null(&noise, "percent");
	else
		add_percent(&noise, "percent", (double)r->noise_ppm / 10000);
	json__value(j, "noise", json__take(&noise));
}

static bool has_beside(const struct diff_view *v)
{
	for (size_t i = 0; i < v->n_traces; i++)
		if (v->traces[i].recording.n_beside)
			return true;
	return false;
}

static void add_differences(struct json *j, const struct diff_view *v)
{
	const struct {
		const char *name;
		bool differs;
	} all[] = {
		{"incremental", v->differences & COMPARE_CLEAN_AND_INCREMENTAL},
		{"crates", v->result->few_crates},
		{"compiler", v->other_compilers[COMPARE_BASE]},
		{"recording", v->differences & COMPARE_OTHER_RECORDING},
		{"other_recordings", has_beside(v)},
	};
	struct json_object *names = json_object_new_array();

	for (size_t i = 0; names && i < N_OF(all); i++)
		if (all[i].differs)
			json_object_array_add(names, json_new_text(all[i].name));
	json__value(j, "differences", names);
}

static void put_table(struct json *j, const char *key, const struct compare_result *r,
		      enum compare_of of)
{
	struct compare_table table = compare_result__table(r, of);

	put_rows(j, key, table.rows, table.n, compare_rules__of_queries(&r->rules));
}

int diff_json(FILE *out, const struct diff_view *v)
{
	static const char *const row_kinds[COMPARE_TABLES] = {
		[COMPARE_OF_ITEMS] = "item",	     [COMPARE_OF_QUERIES] = "query",
		[COMPARE_OF_PASSES] = "pass",	     [COMPARE_OF_GENERICS] = "generic",
		[COMPARE_OF_INSTANCES] = "instance",
	};
	const struct compare_result *r = v->result;
	enum compare_of rows_of = v->by == DIFF_BY_BOTH ? COMPARE_OF_QUERIES : diff_by_of(v->by);
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", "qprof-diff/5");
	json__text(&j, "by", row_kinds[rows_of]);
	json__text(&j, "metric", compare_metric_name(r->rules.metric));
	json__number(&j, "min_ns", r->rules.min_ns);
	add_percent(&j, "min_percent", (double)r->rules.min_ppm / 10000);
	add_noise(&j, r);
	add_differences(&j, v);
	json__number(&j, "exit_status", (uint64_t)v->status);
	json__put_open(&j);
	put_traces(&j, v);
	put_gates(&j, v);
	json__print(&j, ",\"build\":\n");
	json__begin(&j);
	put_row(&j, &r->build, r->rules.metric);
	put_rows(&j, "crates", r->crates, r->n_crates, r->rules.metric);
	put_table(&j, "rows", r, rows_of);
	if (v->by == DIFF_BY_BOTH && r->has_items && r->rules.metric != COMPARE_TOTAL)
		put_table(&j, "items", r, COMPARE_OF_ITEMS);
	if (v->by == DIFF_BY_BOTH && diff_shows(v, COMPARE_OF_PASSES)) {
		put_table(&j, "passes", r, COMPARE_OF_PASSES);
		put_table(&j, "generics", r, COMPARE_OF_GENERICS);
		put_table(&j, "instances", r, COMPARE_OF_INSTANCES);
	}
	json__print(&j, "}\n");
	return j.err;
}
