// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/format.h"
#include "view/diff_crates.h"
#include "view/diff_head.h"
#include "view/diff_rows.h"
#include "view/table.h"

#define N_COLUMNS  8
#define CRATE_KEPT 20
#define NAME_KEPT  40 /* minimum columns of a name; other columns are left out first */

static bool has_spread(const struct compare_result *r)
{
	return r->traces[COMPARE_BASE] > 1 || r->traces[COMPARE_NEW] > 1;
}

/* LLVM's work has no executions. */
static bool has_counts(const struct diff_rows *rows, const struct compare_result *r)
{
	return diff_has_counts(r) && !compare_is_of_llvm(rows->of);
}

/* Fill in the columns of this comparison; returns their number. */
static size_t make_columns(const struct diff_rows *rows, const struct compare_result *r,
			   bool places, struct table_column columns[N_COLUMNS])
{
	size_t n = 0;

	columns[n++].title = "change";
	columns[n++].title = "%";
	columns[n++].title = "base";
	columns[n++].title = "new";
	if (has_spread(r))
		columns[n++].title = "spread";
	if (has_counts(rows, r))
		columns[n++].title = "executions";
	if (places)
		columns[n++].title = "at";
	columns[n++].title = diff_name_title(rows->of);
	return n;
}

/* Where an item begins, as terminals link it. */
static int add_place(struct table *t, const struct compare_row *row)
{
	_free_ char *file = format_clean(row->file ?: ""), *text = NULL;

	if (!file || (row->file && asprintf(&text, "%s:%" PRIu32, file, row->line) < 0))
		return -ENOMEM;
	table__cell(t, text ?: "");
	return 0;
}

static bool has_places(const struct diff_rows *rows)
{
	for (size_t i = 0; i < rows->n_shown; i++)
		if (rows->rows[i]->file)
			return true;
	return false;
}

static int add_row(struct table *t, const struct compare_row *row, bool counts, bool places,
		   const struct compare_result *r)
{
	enum compare_metric metric = compare_rules__of_queries(&r->rules);
	_free_ char *name = diff_name(row);
	char buf[DIFF_CELL_MAX];

	if (!name)
		return -ENOMEM;
	table__cell(t, diff_change(buf, row, metric));
	table__cell(t, diff_percent(buf, row, metric));
	table__cell(t, diff_value(buf, &row->of[metric][COMPARE_BASE], metric));
	table__cell(t, diff_value(buf, &row->of[metric][COMPARE_NEW], metric));
	if (has_spread(r))
		table__cell(t, diff_width(buf, row, metric));
	if (counts)
		table__cell(t, diff_count(buf, row));
	if (places && add_place(t, row))
		return -ENOMEM;
	table__cell(t, name);
	return 0;
}

static int print_rows(FILE *out, const struct diff_rows *rows, const struct diff_view *v)
{
	const struct compare_result *r = v->result;
	struct table_column columns[N_COLUMNS] = {};
	bool places = has_places(rows);
	_table_ struct table *t = table__new(columns, make_columns(rows, r, places, columns));
	int err;

	if (!rows->n)
		return 0;
	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	table__spare(t, "executions");
	table__spare(t, "spread");
	table__spare(t, "base");
	for (size_t i = 0; i < rows->n_shown; i++) {
		if (add_row(t, rows->rows[i], has_counts(rows, r), places, r))
			return -ENOMEM;
	}
	fputc('\n', out);
	err = table__print_within(t, out, v->width, "--wide");
	if (rows->n > rows->n_shown)
		fprintf(out, "  and %zu more; --top 0 shows all\n", rows->n - rows->n_shown);
	return err;
}

/* Costs of crates beside the one that the table is about. */
static const enum compare_metric other_costs[] = {COMPARE_WALL, COMPARE_PEAK};
static const char *const other_titles[] = {"wall change", "peak change"};

/* In place of a share, of crates that are not, or only, in the new build. */
static const char *const side_words[] = {"gone", "new"};

static bool is_measured(const struct compare_row *row, enum compare_metric metric)
{
	return row->of[metric][COMPARE_BASE].median && row->of[metric][COMPARE_NEW].median;
}

static size_t make_crate_columns(const struct compare_result *r,
				 struct table_column columns[N_COLUMNS])
{
	size_t n = 0;

	columns[n++].title = "change";
	columns[n++].title = "%";
	columns[n++].title = "base";
	columns[n++].title = "new";
	for (size_t i = 0; i < N_OF(other_costs); i++)
		if (is_measured(&r->build, other_costs[i]))
			columns[n++].title = other_titles[i];
	columns[n++].title = "crate";
	return n;
}

static void add_crate(struct table *t, const struct compare_row *row, enum compare_metric metric,
		      const struct compare_result *r)
{
	char buf[DIFF_CELL_MAX];

	table__cell(t, diff_change(buf, row, metric));
	table__cell(t, diff_is_one_sided(row) ? side_words[row->in[COMPARE_NEW]]
					      : diff_percent(buf, row, metric));
	table__cell(t, diff_value(buf, &row->of[metric][COMPARE_BASE], metric));
	table__cell(t, diff_value(buf, &row->of[metric][COMPARE_NEW], metric));
	for (size_t i = 0; i < N_OF(other_costs); i++)
		if (is_measured(&r->build, other_costs[i]))
			table__cell(t, is_measured(row, other_costs[i])
					       ? diff_change(buf, row, other_costs[i])
					       : "-");
	table__cell(t, row->unit->name);
}

/* The crates that are not shown, as one row. */
static void add_other_crates(struct table *t, const struct diff_crates *c,
			     const struct compare_result *r)
{
	struct compare_row row = {};
	char buf[DIFF_CELL_MAX];

	for (int side = 0; side < COMPARE_N_SIDES; side++)
		row.of[c->metric][side].median = c->others[side];
	if (!c->n_others)
		return;
	if (c->metric == COMPARE_PEAK) {
		for (int i = 0; i < 4; i++)
			table__cell(t, "");
	} else {
		table__cell(t, diff_change(buf, &row, c->metric));
		table__cell(t, diff_percent(buf, &row, c->metric));
		table__cell(t, diff_value(buf, &row.of[c->metric][COMPARE_BASE], c->metric));
		table__cell(t, diff_value(buf, &row.of[c->metric][COMPARE_NEW], c->metric));
	}
	for (size_t i = 0; i < N_OF(other_costs); i++)
		if (is_measured(&r->build, other_costs[i]))
			table__cell(t, "");
	table__cellf(t, "%zu %s", c->n_others, c->n_others == 1 ? "other" : "others");
}

static int print_crates(FILE *out, const struct diff_view *v)
{
	_diff_crates_ struct diff_crates crates = {};
	struct table_column columns[N_COLUMNS] = {};
	_table_ struct table *t = table__new(columns, make_crate_columns(v->result, columns));
	int err = diff_crates__init(&crates, v->result);

	if (err || !diff_crates_any(v->result))
		return err;
	if (!crates.n_shown) {
		fprintf(out, "crates: %zu, none of which changed by more than noise\n",
			v->result->n_crates);
		return 0;
	}
	table__name_last(t);
	table__keep_of_name(t, CRATE_KEPT);
	table__spare(t, "wall change");
	for (size_t i = 0; i < crates.n_shown; i++)
		add_crate(t, crates.rows[i], crates.metric, v->result);
	add_other_crates(t, &crates, v->result);
	fprintf(out, "\n%s of crates\n", diff_metric_text(crates.metric));
	return table__print_within(t, out, v->width, "--wide");
}

/* Not all metrics have some. */
static bool has_tables(const struct diff_view *v)
{
	for (unsigned int of = 0; of < COMPARE_TABLES; of++)
		if (diff_shows(v, of))
			return true;
	return false;
}

static void print_rest(FILE *out, const struct diff_tables *tables, const struct compare_result *r)
{
	size_t recount = 0;

	fputc('\n', out);
	diff_print_within(out, tables);
	for (unsigned int of = 0; of < COMPARE_TABLES; of++) {
		diff_print_uncompared(out, &tables->of[of], r, false);
		recount += tables->of[of].recount;
	}
	if (diff_has_counts(r) && recount)
		fputs("executions changed, too: --metric count shows of what\n", out);
	diff_print_errors(out, tables, r);
	diff_print_noise(out, r);
}

static void print_gates(FILE *out, const struct diff_view *v)
{
	const struct compare_result *r = v->result;

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
}

int diff_text(FILE *out, const struct diff_view *v)
{
	_diff_tables_ struct diff_tables tables;
	int err = diff_tables__init(&tables, v);

	if (err)
		return err;
	diff_head__differences(out, v, "");
	diff_head__costs(out, v, "");
	err = print_crates(out, v);
	for (unsigned int of = 0; of < COMPARE_TABLES && !err; of++)
		err = print_rows(out, &tables.of[of], v);
	if (err)
		return err;
	if (has_tables(v))
		print_rest(out, &tables, v->result);
	print_gates(out, v);
	return 0;
}
