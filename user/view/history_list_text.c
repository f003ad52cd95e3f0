// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "view/history_cells.h"
#include "view/history_list_view.h"
#include "view/table.h"

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
