// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/format.h"
#include "view/diff_rows.h"
#include "view/table.h"

#define N_COLUMNS 8
#define NAME_KEPT 40 /* minimum columns of a name; other columns are left out first */

static bool has_spread(const struct compare_result *r)
{
	return r->traces[COMPARE_BASE] > 1 || r->traces[COMPARE_NEW] > 1;
}

/* Fill in the columns of this comparison; returns their number. */
static size_t make_columns(const struct compare_result *r, bool places,
			   struct table_column columns[N_COLUMNS])
{
	size_t n = 0;

	columns[n++].title = "change";
	columns[n++].title = "%";
	columns[n++].title = "base";
	columns[n++].title = "new";
	if (has_spread(r))
		columns[n++].title = "spread";
	if (diff_has_counts(r))
		columns[n++].title = "executions";
	if (places)
		columns[n++].title = "at";
	columns[n++].title = diff_name_title(r);
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

static int add_row(struct table *t, const struct compare_row *row, bool places,
		   const struct compare_result *r)
{
	enum compare_metric metric = r->rules.metric;
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
	if (diff_has_counts(r))
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
	_table_ struct table *t = table__new(columns, make_columns(r, places, columns));
	int err;

	if (!rows->n)
		return 0;
	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	table__spare(t, "executions");
	table__spare(t, "spread");
	table__spare(t, "base");
	for (size_t i = 0; i < rows->n_shown; i++) {
		if (add_row(t, rows->rows[i], places, r))
			return -ENOMEM;
	}
	fputc('\n', out);
	err = table__print_within(t, out, v->width, "--wide");
	if (rows->n > rows->n_shown)
		fprintf(out, "  and %zu more; --top 0 shows all\n", rows->n - rows->n_shown);
	return err;
}

static void print_rest(FILE *out, const struct diff_rows *rows, const struct compare_result *r)
{
	fputc('\n', out);
	if (rows->within)
		fprintf(out, "within noise, or too small to judge: %zu %s\n", rows->within,
			diff_rows_text(rows, rows->within));
	diff_print_uncompared(out, rows);
	if (diff_has_counts(r)) {
		fputs("executions: ", out);
		diff_print_change(out, &r->build, COMPARE_COUNT, &r->rules);
		fputs(rows->recount && !r->build.unrecorded.rough
			      ? "; --metric count shows of what\n"
			      : "\n",
		      out);
	}
	diff_print_errors(out, r);
	diff_print_noise(out, r);
}

int diff_text(FILE *out, const struct diff_view *v)
{
	const struct compare_result *r = v->result;
	_diff_rows_ struct diff_rows rows = {};
	int err = diff_rows__init(&rows, v);

	if (err)
		return err;
	fprintf(out, "%s: ", diff_metric_text(r->rules.metric));
	diff_print_change(out, &r->build, r->rules.metric, &r->rules);
	fputc('\n', out);
	err = print_rows(out, &rows, v);
	if (err)
		return err;
	print_rest(out, &rows, r);
	for (size_t i = 0; i < v->n_gates; i++) {
		const struct diff_gate *gate = &v->gates[i];

		fprintf(out, "%s --fail-above %s: ", diff_verdict(gate), gate->text);
		diff_print_change(out, &gate->row, r->rules.metric, &r->rules);
		fputc('\n', out);
	}
	return 0;
}
