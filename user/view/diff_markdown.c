// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "view/diff_rows.h"
#include "view/markdown.h"

static int print_row(FILE *out, const struct compare_row *row, enum compare_metric metric)
{
	char change[DIFF_CELL_MAX], percent[DIFF_CELL_MAX], base[DIFF_CELL_MAX];
	char new[DIFF_CELL_MAX], width[DIFF_CELL_MAX], count[DIFF_CELL_MAX];
	_free_ char *name = diff_name(row), *place = NULL;
	int err;

	if (!name)
		return -ENOMEM;
	fprintf(out, "| %s | %s | %s | %s | %s | %s | ", diff_change(change, row, metric),
		diff_percent(percent, row, metric),
		diff_value(base, &row->of[metric][COMPARE_BASE], metric),
		diff_value(new, &row->of[metric][COMPARE_NEW], metric),
		diff_width(width, row, metric), diff_count(count, row));
	err = markdown_code(out, name);
	if (row->file && asprintf(&place, "%s:%" PRIu32, row->file, row->line) < 0)
		err = -ENOMEM;
	if (!err && place) {
		fputs(" at ", out);
		err = markdown_code(out, place);
	}
	fputs(" |\n", out);
	return err;
}

static int print_rows(FILE *out, const struct diff_rows *rows, const struct compare_result *r)
{
	int err = 0;

	if (!rows->n)
		return 0;
	fprintf(out,
		"| change | %% | base | new | spread | executions | %s |\n"
		"|---:|---:|---:|---:|---:|---:|---|\n",
		diff_name_title(r));
	for (size_t i = 0; !err && i < rows->n_shown; i++)
		err = print_row(out, rows->rows[i], r->rules.metric);
	if (rows->n > rows->n_shown)
		fprintf(out, "\nand %zu more\n", rows->n - rows->n_shown);
	fputc('\n', out);
	return err;
}

static int print_gate(FILE *out, const struct diff_gate *gate, const struct compare_rules *rules)
{
	int err;

	fprintf(out, "- %s ",
		gate->exceeded	     ? "**failed**"
		: gate->row.compared ? "passed"
				     : "**not compared**");
	err = markdown_code(out, gate->text);
	fputs(": ", out);
	diff_print_change(out, &gate->row, rules->metric, rules);
	fputc('\n', out);
	return err;
}

int diff_markdown(FILE *out, const struct diff_view *v)
{
	const struct compare_result *r = v->result;
	_diff_rows_ struct diff_rows rows = {};
	int err = diff_rows__init(&rows, v);

	if (err)
		return err;
	fprintf(out, "### rustc, %s: ", diff_metric_text(r->rules.metric));
	diff_print_change(out, &r->build, r->rules.metric, &r->rules);
	fputs("\n\n", out);
	for (size_t i = 0; !err && i < v->n_gates; i++)
		err = print_gate(out, &v->gates[i], &r->rules);
	if (v->n_gates)
		fputc('\n', out);
	err = err ?: print_rows(out, &rows, r);
	if (err)
		return err;
	diff_print_uncompared(out, &rows);
	if (rows.uncompared)
		fputc('\n', out);
	fprintf(out, "Within noise, or too small to judge: %zu. Executions: ", rows.within);
	diff_print_change(out, &r->build, COMPARE_COUNT, &r->rules);
	fputs(".\n", out);
	diff_print_errors(out, r);
	diff_print_noise(out, r);
	return 0;
}
