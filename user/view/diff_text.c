// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "view/columns.h"
#include "view/diff_rows.h"

#define CRATE_KEPT   20
#define NAME_KEPT    40 /* minimum columns of a name; other columns are left out first */
#define NAME_COLUMNS 14 /* of a metric, in the first lines */

/* ---- The first lines ------------------------------------------------------------------------ */

/* The first trace of a side with reused results, or the first of all. */
static const struct diff_trace *reusing_of(const struct diff_view *v, enum compare_side side)
{
	const struct diff_trace *first = NULL;

	for (size_t i = 0; i < v->n_traces; i++) {
		const struct diff_trace *t = &v->traces[i];

		if (t->side != side)
			continue;
		if (t->recording.reusing)
			return t;
		first = first ?: t;
	}
	return first;
}

static void print_reuse(FILE *out, const struct diff_view *v)
{
	const struct diff_trace *base = reusing_of(v, COMPARE_BASE);
	enum compare_side incremental = base->recording.reusing ? COMPARE_BASE : COMPARE_NEW;
	const struct diff_trace *t = reusing_of(v, incremental);

	fprintf(out,
		"different work: %s is a clean build; in %s %" PRIu32 " of %" PRIu32
		" compiles reused results (incremental): neither times nor executions say which "
		"is better\n",
		diff_sides[!incremental], diff_sides[incremental], t->recording.reusing,
		t->recording.compiles);
}

/* The consequence for CPU and wall times. */
static const char *recording_verdict(const struct compare_result *r)
{
	if (!r->without_cost)
		return "CPU and wall time hold the cost of recording, which differs, and are not "
		       "compared; record all with --exact and the same options to compare them";
	if (r->mixed_cpu)
		return "CPU times are not compared: those of a trace are counted by samples";
	return "the cost of recording differs, and is taken out of CPU times";
}

/* The first trace with compiles, and the first that was recorded in another way. */
static void print_recordings(FILE *out, const struct diff_view *v)
{
	char a[COMPARE_RECORDING_TEXT], b[COMPARE_RECORDING_TEXT];
	const struct diff_trace *first;
	size_t at = 0;

	/* A trace without compiles does not show how it was recorded. */
	while (at + 1 < v->n_traces && !v->traces[at].recording.compiles)
		at++;
	first = &v->traces[at];
	for (size_t i = at + 1; i < v->n_traces; i++) {
		const struct diff_trace *t = &v->traces[i];

		struct compare_recording both[] = {first->recording, t->recording};

		if (!compare_sides_differ(both, 1, 1))
			continue;
		fprintf(out, "recorded differently: %s with %s, %s with %s: %s\n",
			diff_sides[first->side], compare_recording_text(a, &first->recording),
			t->side == first->side ? "another of it" : diff_sides[t->side],
			compare_recording_text(b, &t->recording), recording_verdict(v->result));
		return;
	}
}

bool diff_head__differences(FILE *out, const struct diff_view *v, const char *lead)
{
	const struct diff_trace *const *other = v->other_compilers;
	bool base = diff_has_beside(v, COMPARE_BASE), new = diff_has_beside(v, COMPARE_NEW);
	bool any = false;

	if (v->differences & COMPARE_CLEAN_AND_INCREMENTAL) {
		fputs(lead, out);
		print_reuse(out, v);
		any = true;
	}
	if (v->result->few_crates) {
		fprintf(out,
			"%sdifferent work: crates compiled: %zu in base, %zu in new, %zu in both: "
			"the whole build is not compared\n",
			lead, v->result->n_crates_in[COMPARE_BASE],
			v->result->n_crates_in[COMPARE_NEW], v->result->n_crates_in_both);
		any = true;
	}
	if (other[COMPARE_BASE]) {
		fprintf(out, "%sdifferent compilers: %s by ", lead,
			diff_sides[other[COMPARE_BASE]->side]);
		diff_print_raw(out, other[COMPARE_BASE]->compiler, *lead);
		fprintf(out, ", %s by ", diff_sides[other[COMPARE_NEW]->side]);
		diff_print_raw(out, other[COMPARE_NEW]->compiler, *lead);
		fputc('\n', out);
		any = true;
	}
	if (v->differences & COMPARE_OTHER_RECORDING) {
		fputs(lead, out);
		print_recordings(out, v);
		any = true;
	}
	if (base || new)
		fprintf(out,
			"%sother recordings ran beside %s: their probes make compilers slower, so "
			"times may differ without a change\n",
			lead, base && new ? "both" : diff_sides[base ? COMPARE_BASE : COMPARE_NEW]);
	return any || base || new;
}

/* The crate whose compiler had the most memory. */
static const char *peak_crate(const struct compare_result *r)
{
	uint64_t most = r->build.of[COMPARE_PEAK][COMPARE_NEW].median;

	for (size_t i = 0; i < r->n_crates; i++)
		if (r->n_crates > 1 && r->crates[i].of[COMPARE_PEAK][COMPARE_NEW].median == most)
			return r->crates[i].unit->name;
	return NULL;
}

static void print_cost(FILE *out, const struct diff_view *v, enum compare_metric metric,
		       const char *lead)
{
	const struct compare_result *r = v->result;
	const struct spread *of = r->build.of[metric];
	const char *crate = metric == COMPARE_PEAK ? peak_crate(r) : NULL;
	int len;

	if (!of[COMPARE_BASE].median && !of[COMPARE_NEW].median && metric != r->rules.metric)
		return;
	len = fprintf(out, "%s%s:", lead, diff_metric_text(metric)) - (int)strlen(lead);
	fprintf(out, "%*s", len < NAME_COLUMNS ? NAME_COLUMNS - len : 1, "");
	diff_print_change(out, &r->build, metric, r);
	if (crate) {
		fputs(", most in ", out);
		diff_print_raw(out, crate, *lead);
	}
	fputc('\n', out);
}

void diff_head__costs(FILE *out, const struct diff_view *v, const char *lead)
{
	static const enum compare_metric costs[] = {COMPARE_WALL, COMPARE_CPU, COMPARE_PEAK};
	const struct compare_result *r = v->result;
	const uint64_t *recording_ns = r->build.recording_ns;
	bool compared = !r->rules.different_work && !r->mixed_cpu;
	char base[FORMAT_MAX], new[FORMAT_MAX];

	if (r->rules.metric != COMPARE_SELF)
		print_cost(out, v, r->rules.metric, lead);
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
		if (costs[i] != r->rules.metric)
			print_cost(out, v, costs[i], lead);
	if (r->rules.metric == COMPARE_SELF)
		print_cost(out, v, COMPARE_SELF, lead);
	if (diff_has_counts(r))
		print_cost(out, v, COMPARE_COUNT, lead);
	if (r->n_uncounted && r->rules.metric != COMPARE_RESULTS)
		print_cost(out, v, COMPARE_RESULTS, lead);
	/* The part of the cost of recording that is in no CPU time; nothing if all is in it. */
	if (r->without_cost && (recording_ns[COMPARE_BASE] || recording_ns[COMPARE_NEW]))
		fprintf(out,
			"%sCPU times are without what recording added in compilers: %s in base, "
			"%s in new%s\n",
			lead, format_duration(base, recording_ns[COMPARE_BASE]),
			format_duration(new, recording_ns[COMPARE_NEW]),
			compared ? "; half of the difference counts as noise" : "");
}

const char *diff_verdict_text(enum diff_verdict verdict)
{
	static const char *const texts[] = {
		[DIFF_PASSED] = "passed",
		[DIFF_EXCEEDED] = "FAILED",
		[DIFF_NO_VERDICT] = "NO VERDICT",
	};

	return texts[verdict];
}

void diff_head__status(FILE *out, const struct diff_view *v)
{
	size_t n[DIFF_NO_VERDICT + 1] = {};

	for (size_t i = 0; i < v->n_gates; i++)
		n[v->gates[i].verdict]++;
	if (n[DIFF_EXCEEDED])
		fprintf(out, "exit status %d: %zu of %zu limits exceeded\n", v->status,
			n[DIFF_EXCEEDED], v->n_gates);
	else if (n[DIFF_NO_VERDICT])
		fprintf(out, "exit status %d: no verdict on %zu of %zu limits\n", v->status,
			n[DIFF_NO_VERDICT], v->n_gates);
	else if (v->n_gates)
		fprintf(out, "exit status %d: no limit exceeded\n", v->status);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Where a row begins; in Markdown behind its name, both as code. NULL: no memory. */
static char *place_of(const struct columns *c, const struct compare_row *row, const char *name)
{
	_free_ char *text = NULL, *place = NULL;
	size_t size;
	FILE *to = NULL;

	if (row->file && asprintf(&place, "%s:%" PRIu32, row->file, row->line) < 0)
		return NULL;
	if (c->to == COLUMNS_TEXT)
		return place ? take_ptr(place) : strdup("");
	to = name ? open_memstream(&text, &size) : NULL;
	if (!to)
		return NULL;
	diff_print_raw(to, name, true);
	if (place) {
		fputs(" at ", to);
		diff_print_raw(to, place, true);
	}
	return fclose(to) ? NULL : take_ptr(text);
}

/* The first columns of all tables. */
static void change_columns(struct columns *c, const struct compare_row *row, const char *title,
			   enum compare_metric metric)
{
	char buf[DIFF_CELL_MAX];

	CELL(c, title, diff_change(buf, row, metric));
	/* Words are for crates that are not, or only, in the new build. */
	CELL(c, "%",
	     c->to == COLUMNS_TEXT && !row->query && diff_is_one_sided(row)
		     ? row->in[COMPARE_NEW] ? "new" : "gone"
		     : diff_percent(buf, row, metric));
	CELL(c, "base", diff_value(buf, &row->of[metric][COMPARE_BASE], metric));
	CELL(c, "new", diff_value(buf, &row->of[metric][COMPARE_NEW], metric));
}

static void row_columns(struct columns *c, const struct compare_row *row,
			const struct diff_rows *rows, bool places, const struct compare_result *r)
{
	bool md = c->to == COLUMNS_MARKDOWN;
	bool several = r->traces[COMPARE_BASE] > 1 || r->traces[COMPARE_NEW] > 1;
	/* LLVM's work has no executions. */
	bool counts = (md || diff_has_counts(r)) && !compare_is_of_llvm(rows->of);
	enum compare_metric metric = compare_rules__of_queries(&r->rules);
	_free_ char *name = row ? diff_name(row) : NULL;
	char buf[DIFF_CELL_MAX];

	if (row && !name)
		c->err = -ENOMEM;
	change_columns(c, row, "change", metric);
	CELL(c, md || several ? "spread" : NULL, diff_width(buf, row, metric));
	CELL(c, counts ? "executions" : NULL, diff_count(buf, row));
	/* Where an item begins, as terminals link it. */
	OWNED(c, NULL, places ? TEXTUAL(c, "at") : NULL, place_of(c, row, NULL), NULL);
	NAME(c, NULL, TEXTUAL(c, diff_name_title(rows->of)), name, NULL);
	OWNED(c, NULL, MARKDOWN(c, diff_name_title(rows->of)), place_of(c, row, name), NULL);
}

static int print_rows(FILE *out, enum columns_to to, const struct diff_rows *rows,
		      const struct diff_view *v)
{
	static const char *const spare[] = {"executions", "spread", "base", NULL};
	struct columns c = {.to = to,
			    .out = out,
			    .width = v->width,
			    .option = "--wide",
			    .name_last = true,
			    .keep_of_name = NAME_KEPT,
			    .spare = spare};
	bool places = false;

	if (!rows->n)
		return 0;
	for (size_t i = 0; i < rows->n_shown; i++)
		places |= rows->rows[i]->file != NULL;
	fputs(to == COLUMNS_TEXT ? "\n" : "", out);
	EACH_ROW (&c, i, rows->n_shown)
		row_columns(&c, ROW(&c, rows->rows[i]), rows, places, v->result);
	if (rows->n > rows->n_shown && to == COLUMNS_TEXT)
		fprintf(out, "  and %zu more; --top 0 shows all\n", rows->n - rows->n_shown);
	else if (rows->n > rows->n_shown)
		fprintf(out, "\nand %zu more\n", rows->n - rows->n_shown);
	fputs(to == COLUMNS_TEXT ? "" : "\n", out);
	return c.err;
}

static bool is_measured(const struct compare_row *row, enum compare_metric metric)
{
	return row->of[metric][COMPARE_BASE].median && row->of[metric][COMPARE_NEW].median;
}

/* A cost of crates beside the one that the table is about. `row` of all others has none. */
static void other_column(struct columns *c, const struct compare_row *row, bool is_crate,
			 const char *title, enum compare_metric metric,
			 const struct compare_result *r)
{
	bool md = c->to == COLUMNS_MARKDOWN;
	char buf[DIFF_CELL_MAX];

	CELL(c, md || is_measured(&r->build, metric) ? title : NULL,
	     is_crate && is_measured(row, metric) ? diff_change(buf, row, metric)
	     : is_crate && !md			  ? "-"
						  : "");
}

static void crate_columns(struct columns *c, const struct compare_row *row,
			  const struct diff_crates *crates, const struct compare_result *r)
{
	bool md = c->to == COLUMNS_MARKDOWN;

	change_columns(c, row, md ? diff_metric_text(crates->metric) : "change", crates->metric);
	other_column(c, row, true, "wall change", COMPARE_WALL, r);
	other_column(c, row, true, "peak change", COMPARE_PEAK, r);
	OWNED_NAME(c, NULL, "crate", md ? diff_name(row) : strdup(row->unit->name), NULL);
}

/* The crates that are not shown, as one row. Peaks do not add up. */
static void others_columns(struct columns *c, const struct diff_crates *crates,
			   const struct compare_result *r)
{
	struct compare_row row = {};

	for (int side = 0; side < COMPARE_N_SIDES; side++)
		row.of[crates->metric][side].median = crates->others[side];
	if (crates->metric != COMPARE_PEAK)
		change_columns(c, &row, "change", crates->metric);
	for (int i = 0; i < 4 && crates->metric == COMPARE_PEAK; i++)
		CELL(c, "", "");
	other_column(c, &row, false, "wall change", COMPARE_WALL, r);
	other_column(c, &row, false, "peak change", COMPARE_PEAK, r);
	FORMAT(c, "crate", "%zu %s", crates->n_others, crates->n_others == 1 ? "other" : "others");
}

static int print_crates(FILE *out, enum columns_to to, const struct diff_view *v)
{
	static const char *const spare[] = {"wall change", NULL};
	struct columns c = {.to = to,
			    .out = out,
			    .width = v->width,
			    .option = "--wide",
			    .name_last = true,
			    .keep_of_name = CRATE_KEPT,
			    .spare = spare};
	_diff_crates_ struct diff_crates crates = {};
	int err = diff_crates__init(&crates, v->result);
	size_t n;

	if (err || !diff_crates_any(v->result))
		return err;
	if (!crates.n_shown) {
		if (to == COLUMNS_TEXT)
			fprintf(out, "crates: %zu, none of which changed by more than noise\n",
				(size_t)v->result->n_crates);
		return 0;
	}
	if (to == COLUMNS_TEXT)
		fprintf(out, "\n%s of crates\n", diff_metric_text(crates.metric));
	n = crates.n_shown + (to == COLUMNS_TEXT && crates.n_others);
	EACH_ROW (&c, i, n) {
		if (c.describes || i < crates.n_shown)
			crate_columns(&c, ROW(&c, crates.rows[i]), &crates, v->result);
		else
			others_columns(&c, &crates, v->result);
	}
	if (to == COLUMNS_MARKDOWN && crates.n_others)
		fprintf(out, "\nand %zu more crates\n", crates.n_others);
	fputs(to == COLUMNS_TEXT ? "" : "\n", out);
	return c.err;
}

static int print_tables(FILE *out, enum columns_to to, const struct diff_tables *tables,
			const struct diff_view *v)
{
	int err = print_crates(out, to, v);

	for (unsigned int of = 0; of < COMPARE_TABLES && !err; of++)
		err = print_rows(out, to, &tables->of[of], v);
	return err;
}

int diff_text(FILE *out, const struct diff_view *v)
{
	const struct compare_result *r = v->result;
	_diff_tables_ struct diff_tables tables;
	int err = diff_tables__init(&tables, v);
	bool any_shown = false; /* not all metrics have tables */
	size_t recount = 0;

	if (err)
		return err;
	diff_head__differences(out, v, "");
	diff_head__costs(out, v, "");
	err = print_tables(out, COLUMNS_TEXT, &tables, v);
	if (err)
		return err;

	for (unsigned int of = 0; of < COMPARE_TABLES; of++)
		any_shown |= diff_shows(v, of);
	if (any_shown) {
		fputc('\n', out);
		diff_print_within(out, &tables);
		for (unsigned int of = 0; of < COMPARE_TABLES; of++) {
			diff_print_uncompared(out, &tables.of[of], r, false);
			recount += tables.of[of].recount;
		}
		if (diff_has_counts(r) && recount)
			fputs("executions changed, too: --metric count shows of what\n", out);
		diff_print_errors(out, &tables, r);
		diff_print_noise(out, r);
	}

	for (size_t i = 0; i < v->n_gates; i++) {
		const struct diff_gate *gate = &v->gates[i];

		fprintf(out, "%s --fail-above %s: %s ", diff_verdict_text(gate->verdict),
			gate->text, diff_metric_text(gate->metric));
		diff_print_change(out, &gate->row, gate->metric, r);
		if (gate->why)
			fprintf(out, " (%s)", gate->why);
		fputc('\n', out);
	}
	diff_head__status(out, v);
	return 0;
}

int diff_markdown(FILE *out, const struct diff_view *v)
{
	const struct compare_result *r = v->result;
	_diff_tables_ struct diff_tables tables;
	int err = diff_tables__init(&tables, v);
	bool any = false;

	if (err)
		return err;
	fputs("### rustc: two builds compared\n\n", out);
	diff_head__differences(out, v, "- ");
	diff_head__costs(out, v, "- ");
	for (size_t i = 0; i < v->n_gates; i++) {
		const struct diff_gate *gate = &v->gates[i];
		const char *mark = gate->verdict == DIFF_PASSED ? "" : "**";

		fprintf(out, "- %s%s%s ", mark, diff_verdict_text(gate->verdict), mark);
		diff_print_raw(out, gate->text, true);
		fprintf(out, ": %s ", diff_metric_text(gate->metric));
		diff_print_change(out, &gate->row, gate->metric, r);
		if (gate->why)
			fprintf(out, " (%s)", gate->why);
		fputc('\n', out);
	}
	fputc('\n', out);
	err = print_tables(out, COLUMNS_MARKDOWN, &tables, v);
	if (err)
		return err;

	for (unsigned int of = 0; of < COMPARE_TABLES; of++) {
		diff_print_uncompared(out, &tables.of[of], r, true);
		any |= tables.of[of].uncompared;
	}
	if (any)
		fputc('\n', out);
	diff_print_within(out, &tables);
	diff_print_errors(out, &tables, r);
	diff_print_noise(out, r);
	return 0;
}
