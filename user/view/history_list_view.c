// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/history_list_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "view/history_cells.h"
#include "view/table.h"
#include "history/columns.h"
#include "view/json.h"

#define NAME_KEPT 24

static const struct table_column columns[] = {
	{.title = "date"},	{.title = "commit"},	{.title = "wall"},
	{.title = "CPU"},	{.title = "peak"},	{.title = "crates"},
	{.title = "toolchain"}, {.title = "workspace"}, {.title = "branch"},
};

/* "  (3 failed)", or nothing. */
static const char *counted(char buf[HISTORY_CELL_MAX], uint64_t n, const char *what)
{
	*buf = '\0';
	if (n && n != HISTORY_UNKNOWN)
		snprintf(buf, HISTORY_CELL_MAX, "  (%" PRIu64 " %s)", n, what);
	return buf;
}

/* The branch, the label, and what makes the build one that does not count. */
static void add_name(struct table *t, const struct history_build *b)
{
	bool whole = !b->state || !strcmp(b->state, "whole");
	char failed[HISTORY_CELL_MAX], lost[HISTORY_CELL_MAX];

	table__cellf(t, "%s%s%s%s%s%s%s%s", b->branch ?: "-", b->label ? "  " : "", b->label ?: "",
		     whole ? "" : "  (", whole ? "" : b->state, whole ? "" : ")",
		     counted(failed, b->failed, "failed"), counted(lost, b->lost, "records lost"));
}

static void add_build(struct table *t, const struct history_build *b)
{
	char buf[HISTORY_CELL_MAX];

	table__cell(t, history_date(buf, b->start_ns));
	table__cell(t, history_commit(buf, b));
	table__cell(t, history_value(buf, TREND_WALL, b->wall_ns));
	table__cell(t, history_value(buf, TREND_CPU, history_build__without_cost(b, b->cpu_ns)));
	table__cell(t, history_value(buf, TREND_MEMORY, b->peak_bytes));
	table__cell(t, history_value(buf, TREND_COUNT, b->compiles));
	table__cell(t, history_toolchain(buf, b->toolchain));
	table__cell(t, b->workspace ?: "-");
	add_name(t, b);
}

int history_list_text(FILE *out, const struct history_builds *builds, uint64_t all, size_t width)
{
	_table_ struct table *t = table__new(columns, N_OF(columns));
	int err;

	if (!builds->n) {
		fputs("No builds. Add one with qprof-bpf history add TRACE, or record it with "
		      "--history.\n",
		      out);
		return 0;
	}
	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	table__spare(t, "workspace");
	table__spare(t, "peak");
	table__spare(t, "toolchain");
	table__spare(t, "crates");
	for (size_t i = 0; i < builds->n; i++)
		add_build(t, &builds->at[i]);
	err = table__print_within(t, out, width, "--wide");
	if (!err && all > builds->n)
		fprintf(out, "  and %" PRIu64 " older: --last %" PRIu64 " shows all\n",
			all - builds->n, all);
	return err;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#define SCHEMA "qprof-history/1"

/* Both as reports and comparisons have them, in place of the columns that the store has. */
static void put_cpu(struct json *j, const struct history_build *b)
{
	uint64_t ns = history_build__without_cost(b, b->cpu_ns);
	bool known = ns != HISTORY_UNKNOWN;

	json__known(j, "cpu_ns", known, ns);
	json__known(j, "in_compilers_ns", known && b->cost_ppm != HISTORY_UNKNOWN, b->cpu_ns - ns);
}

static void put_build(struct json *j, const struct history_build *build)
{
	const struct history_table *t = history_table(HISTORY_BUILD);

	for (size_t i = 0; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];
		uint64_t number;

		if (!strcmp(c->name, "cost_ppm"))
			continue;
		if (!strcmp(c->name, "cpu_ns")) {
			put_cpu(j, build);
			continue;
		}
		if (c->type == HISTORY_TEXT) {
			json__text(j, c->name, history_column__text(c, build));
			continue;
		}
		number = history_column__number(c, build);
		json__known(j, c->name, number != HISTORY_UNKNOWN, number);
	}
	json__put(j);
}

int history_list_json(FILE *out, const struct history_builds *builds)
{
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", SCHEMA);
	json__put_open(&j);
	json__array(&j, "builds");
	for (size_t i = 0; i < builds->n && !j.err; i++) {
		json__line(&j, i);
		put_build(&j, &builds->at[i]);
	}
	json__print(&j, "]}\n");
	return j.err;
}

int history_list_schema(FILE *out)
{
	const struct history_table *t = history_table(HISTORY_BUILD);
	struct schema s;

	schema__begin(&s, out, SCHEMA);
	schema__field(&s, "", "schema", "", SCHEMA);
	schema__field(&s, "", "builds", "", "builds, the newest last; null: not known");
	for (size_t i = 0; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];

		if (!strcmp(c->name, "cost_ppm"))
			continue;
		if (strcmp(c->name, "cpu_ns")) {
			schema__field(&s, "builds[]", c->name, c->unit, c->text);
			continue;
		}
		schema__field(&s, "builds[]", "cpu_ns", "ns",
			      "the CPU time of the compilers, without in_compilers_ns");
		schema__field(&s, "builds[]", "in_compilers_ns", "ns",
			      "what recording added in compilers; null: not known, and in cpu_ns");
	}
	return schema__end(&s);
}
