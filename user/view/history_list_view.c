// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/history_list_view.h"

#include <inttypes.h>
#include <string.h>

#include "view/history_cells.h"
#include "view/columns.h"
#include "history/columns.h"

#define NAME_KEPT 24

/* "  (3 failed)", or nothing. */
static const char *counted(char buf[HISTORY_CELL_MAX], uint64_t n, const char *what)
{
	*buf = '\0';
	if (n && n != HISTORY_UNKNOWN)
		snprintf(buf, HISTORY_CELL_MAX, "  (%" PRIu64 " %s)", n, what);
	return buf;
}

/* The columns that the store has; both of CPU time as reports and comparisons have them. */
static void stored_columns(struct columns *c, const struct history_build *b)
{
	const struct history_table *t = history_table(HISTORY_BUILD);
	uint64_t ns = b ? history_build__without_cost(b, b->cpu_ns) : 0;
	bool known = ns != HISTORY_UNKNOWN;

	for (size_t i = 0; i < t->n; i++) {
		const struct history_column *of = &t->columns[i];
		uint64_t number =
			b && of->type == HISTORY_NUMBER ? history_column__number(of, b) : 0;

		if (!strcmp(of->name, "cost_ppm"))
			continue;
		if (!strcmp(of->name, "cpu_ns")) {
			KNOWN(c, NS, "cpu_ns", NULL, known, ns,
			      "the CPU time of the compilers, without in_compilers_ns");
			KNOWN(c, NS, "in_compilers_ns", NULL,
			      known && b->cost_ppm != HISTORY_UNKNOWN, b->cpu_ns - ns,
			      "what recording added in compilers; null: not known, and in cpu_ns");
		} else if (columns__wants(c, column_unit_of(of->unit), of->name, NULL, of->text)) {
			if (of->type == HISTORY_TEXT)
				columns__text(c, history_column__text(of, b));
			else if (number != HISTORY_UNKNOWN)
				columns__number(c, number);
			else
				columns__unknown(c);
		}
	}
}

static void build_columns(struct columns *c, const struct history_build *b)
{
	bool whole = !b || !b->state || !strcmp(b->state, "whole");
	char buf[HISTORY_CELL_MAX], failed[HISTORY_CELL_MAX], lost[HISTORY_CELL_MAX];

	stored_columns(c, b);
	CELL(c, "date", history_date(buf, b->start_ns));
	CELL(c, "commit", history_commit(buf, b));
	CELL(c, "wall", history_value(buf, TREND_WALL, b->wall_ns));
	CELL(c, "CPU", history_value(buf, TREND_CPU, history_build__without_cost(b, b->cpu_ns)));
	CELL(c, "peak", history_value(buf, TREND_MEMORY, b->peak_bytes));
	CELL(c, "crates", history_value(buf, TREND_COUNT, b->compiles));
	CELL(c, "toolchain", history_toolchain(buf, b->toolchain));
	TEXT(c, NULL, "workspace", b->workspace, NULL);
	/* The branch, the label, and what makes the build one that does not count. */
	FORMAT(c, "branch", "%s%s%s%s%s%s%s%s", b->branch ?: "-", b->label ? "  " : "",
	       b->label ?: "", whole ? "" : "  (", whole ? "" : b->state, whole ? "" : ")",
	       counted(failed, b->failed, "failed"), counted(lost, b->lost, "records lost"));
}

int history_list_text(FILE *out, const struct history_builds *builds, uint64_t all, size_t width)
{
	static const char *const spare[] = {"workspace", "peak", "toolchain", "crates", NULL};
	struct columns c = {.out = out,
			    .width = width,
			    .option = "--wide",
			    .name_last = true,
			    .keep_of_name = NAME_KEPT,
			    .spare = spare};

	if (!builds->n) {
		fputs("No builds. Add one with qprof-bpf history add TRACE, or record it with "
		      "--history.\n",
		      out);
		return 0;
	}
	EACH_ROW (&c, i, builds->n)
		build_columns(&c, ROW(&c, &builds->at[i]));
	if (!c.err && all > builds->n)
		fprintf(out, "  and %" PRIu64 " older: --last %" PRIu64 " shows all\n",
			all - builds->n, all);
	return c.err;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#define SCHEMA "qprof-history/1"

static int put_document(FILE *out, enum columns_to to, const struct history_builds *builds)
{
	struct columns c = {.to = to, .out = out};

	columns__begin(&c, SCHEMA, SCHEMA);
	if (LIST(&c, "builds", true, "builds, the newest last; null: not known"))
		EACH_ROW (&c, i, builds->n)
			build_columns(&c, ROW(&c, &builds->at[i]));
	return columns__end(&c);
}

int history_list_json(FILE *out, const struct history_builds *builds)
{
	return put_document(out, COLUMNS_JSON, builds);
}

int history_list_schema(FILE *out)
{
	return put_document(out, COLUMNS_SCHEMA, &(struct history_builds){});
}
