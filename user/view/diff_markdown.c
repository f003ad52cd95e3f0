// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "view/diff_crates.h"
#include "view/diff_head.h"
#include "view/diff_rows.h"
#include "view/table.h"

static void print_change(FILE *out, const struct compare_row *row, enum compare_metric metric)
{
	char change[DIFF_CELL_MAX], percent[DIFF_CELL_MAX];
	char base[DIFF_CELL_MAX], new[DIFF_CELL_MAX];

	fprintf(out, "| %s | %s | %s | %s | ", diff_change(change, row, metric),
		diff_percent(percent, row, metric),
		diff_value(base, &row->of[metric][COMPARE_BASE], metric),
		diff_value(new, &row->of[metric][COMPARE_NEW], metric));
}

static int print_row(FILE *out, const struct compare_row *row, enum compare_metric metric,
		     bool counts)
{
	char width[DIFF_CELL_MAX], count[DIFF_CELL_MAX];
	_free_ char *name = diff_name(row), *place = NULL;
	int err;

	if (!name)
		return -ENOMEM;
	print_change(out, row, metric);
	fprintf(out, "%s | ", diff_width(width, row, metric));
	if (counts)
		fprintf(out, "%s | ", diff_count(count, row));
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
	bool counts = !compare_is_of_llvm(rows->of); /* LLVM's work has no executions */
	int err = 0;

	if (!rows->n)
		return 0;
	fprintf(out,
		"| change | %% | base | new | spread |%s %s |\n"
		"|---:|---:|---:|---:|---:|%s---|\n",
		counts ? " executions |" : "", diff_name_title(rows->of), counts ? "---:|" : "");
	for (size_t i = 0; !err && i < rows->n_shown; i++)
		err = print_row(out, rows->rows[i], compare_rules__of_queries(&r->rules), counts);
	if (rows->n > rows->n_shown)
		fprintf(out, "\nand %zu more\n", rows->n - rows->n_shown);
	fputc('\n', out);
	return err;
}

static int print_gate(FILE *out, const struct diff_gate *gate, const struct compare_result *r)
{
	const char *mark = gate->verdict == DIFF_PASSED ? "" : "**";
	int err;

	fprintf(out, "- %s%s%s ", mark, diff_verdict_text(gate->verdict), mark);
	err = markdown_code(out, gate->text);
	fprintf(out, ": %s ", diff_metric_text(gate->metric));
	diff_print_change(out, &gate->row, gate->metric, r);
	if (gate->why)
		fprintf(out, " (%s)", gate->why);
	fputc('\n', out);
	return err;
}

/* The change of another cost of a crate, or nothing. */
static const char *other_change(char buf[DIFF_CELL_MAX], const struct compare_row *row,
				enum compare_metric metric)
{
	bool known = row->of[metric][COMPARE_BASE].median && row->of[metric][COMPARE_NEW].median;

	return known ? diff_change(buf, row, metric) : "";
}

static int print_crate(FILE *out, const struct compare_row *row, enum compare_metric metric)
{
	char wall[DIFF_CELL_MAX], peak[DIFF_CELL_MAX];
	_free_ char *name = diff_name(row);
	int err;

	if (!name)
		return -ENOMEM;
	print_change(out, row, metric);
	fprintf(out, "%s | %s | ", other_change(wall, row, COMPARE_WALL),
		other_change(peak, row, COMPARE_PEAK));
	err = markdown_code(out, name);
	fputs(" |\n", out);
	return err;
}

static int print_crates(FILE *out, const struct compare_result *r)
{
	_diff_crates_ struct diff_crates crates = {};
	int err = diff_crates__init(&crates, r);

	if (err || !diff_crates_any(r) || !crates.n_shown)
		return err;
	fprintf(out,
		"| %s | %% | base | new | wall change | peak change | crate |\n"
		"|---:|---:|---:|---:|---:|---:|---|\n",
		diff_metric_text(crates.metric));
	for (size_t i = 0; !err && i < crates.n_shown; i++)
		err = print_crate(out, crates.rows[i], crates.metric);
	if (crates.n_others)
		fprintf(out, "\nand %zu more crates\n", crates.n_others);
	fputc('\n', out);
	return err;
}

static void print_notes(FILE *out, const struct diff_tables *tables, const struct compare_result *r)
{
	bool any = false;

	for (unsigned int of = 0; of < COMPARE_TABLES; of++) {
		diff_print_uncompared(out, &tables->of[of], r, true);
		any |= tables->of[of].uncompared;
	}
	if (any)
		fputc('\n', out);
	diff_print_within(out, tables);
	diff_print_errors(out, tables, r);
	diff_print_noise(out, r);
}

int diff_markdown(FILE *out, const struct diff_view *v)
{
	const struct compare_result *r = v->result;
	_diff_tables_ struct diff_tables tables;
	int err = diff_tables__init(&tables, v);

	if (err)
		return err;
	fputs("### rustc: two builds compared\n\n", out);
	diff_head__differences(out, v, "- ");
	diff_head__costs(out, v, "- ");
	for (size_t i = 0; !err && i < v->n_gates; i++)
		err = print_gate(out, &v->gates[i], r);
	fputc('\n', out);
	err = err ?: print_crates(out, r);
	for (unsigned int of = 0; of < COMPARE_TABLES && !err; of++)
		err = print_rows(out, &tables.of[of], r);
	if (!err)
		print_notes(out, &tables, r);
	return err;
}
