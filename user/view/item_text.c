// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/item_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "qprof/measureme_format.h"
#include "base/array.h"
#include "view/place_text.h"
#include "view/table.h"

#define CUT   ".."
#define SHORT 8 /* columns of a name that are left if the path needs room */

/*
 * The path gets what the name leaves, but at least two thirds. Its end tells it apart from
 * others.
 */
static void cut_both(const char *text, const char *open, size_t columns, char out[ITEM_TEXT_MAX])
{
	_free_ char *name = strndup(text, (size_t)(open - text));
	_free_ char *item = strndup(open + 1, strlen(open) - 2);
	size_t names = columns / 3 > SHORT ? columns / 3 : SHORT, room;
	const char *from, *mark = "";

	if (!name || !item)
		return;
	if (format_width(name) + format_width(item) + 2 > columns && format_width(name) > names) {
		name[format_fit(name, names - strlen(CUT))] = '\0';
		mark = CUT;
	}
	room = columns - format_width(name) - strlen(mark) - strlen("()");
	from = format_width(item) > room ? format_fit_end(item, room - strlen(CUT)) : item;
	snprintf(out, ITEM_TEXT_MAX, "%s%s(%s%s)", name, mark, from == item ? "" : CUT, from);
}

void item_text__cut(char text[ITEM_TEXT_MAX], size_t columns)
{
	char *open = strchr(text, '('), cut[ITEM_TEXT_MAX] = "";
	size_t len = strlen(text);

	if (format_width(text) <= columns)
		return;
	if (open && text[len - 1] == ')' && columns >= 2 * SHORT)
		cut_both(text, open, columns, cut);
	if (cut[0])
		memcpy(text, cut, sizeof(cut));
	else
		format_cut(text, columns);
}

void item_text__cut_start(char text[ITEM_TEXT_MAX], size_t columns)
{
	const char *end = text;

	if (format_width(text) > columns && columns > strlen(CUT))
		end = format_fit_end(text, columns - strlen(CUT));
	if (end == text)
		return;
	memmove(text + strlen(CUT), end, strlen(end) + 1);
	memcpy(text, CUT, strlen(CUT));
}

/* "unit, 12" of two arguments. */
static char *join(const char *item)
{
	_free_ char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	for (; *item; item++) {
		if (*item == MM_SEPARATOR)
			fputs(", ", to);
		else
			fputc(*item, to);
	}
	return fclose(to) ? NULL : take_ptr(text);
}

void item_text(char buf[ITEM_TEXT_MAX], size_t columns, const char *name, const char *item)
{
	bool about = item && *item;
	_free_ char *joined = about ? join(item) : NULL;
	_free_ char *text = NULL, *clean = NULL;
	int n = joined ? asprintf(&text, "%s(%s)", name, joined) : asprintf(&text, "%s", name);

	buf[0] = '\0';
	if (n < 0)
		text = NULL;
	else
		clean = format_clean(text);
	if (!clean)
		return;
	snprintf(buf, ITEM_TEXT_MAX, "%s", clean);
	item_text__cut(buf, columns);
}

/* ---- Tables of items ------------------------------------------------------------------------- */

/* Minimum columns of a path; other columns are left out first. */
#define PATH_KEPT 40

/* Each query takes about 30 columns. */
static uint32_t queries_that_fit(size_t width)
{
	if (!width || width >= 170)
		return ITEM_QUERIES;
	return width >= 140 ? 2 : 1;
}

/* "typeck 41.2 ms, mir_borrowck 12.0 ms" */
static int add_queries(struct table *t, const struct item_row *item, uint32_t most,
		       const struct trace_texts *names)
{
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < item->n_queries && i < most; i++)
		fprintf(to, "%s%s %s", i ? ", " : "",
			names->text(names->ctx, item->queries[i].label),
			format_duration(buf, item->queries[i].cpu_ns));
	if (fclose(to))
		return -ENOMEM;
	table__cell(t, text);
	return 0;
}

/* Columns that only some traces have. */
struct extras {
	bool off_cpu, waiting, instances, places, llvm;
};

static struct extras extras_of(const struct report_rows *r, size_t n,
			       const struct trace_texts *names)
{
	struct extras has = {
		.off_cpu = report_rows__know_off_cpu(r),
		.waiting = report_rows__are_sampled(r) && r->extra[REPORT_SAMPLED_OFF],
	};

	for (size_t i = 0; i < n && !r->modules; i++) {
		const struct item_row *item = r->rows[i].item;

		has.instances = has.instances || item->instances;
		has.llvm = has.llvm || item->llvm.n;
		has.places = has.places || trace_texts__place(names, item->item);
	}
	return has;
}

static int add_place(struct table *t, const struct item_row *item, const struct trace_texts *names)
{
	_free_ char *text = NULL;

	if (place_text(names, item->item, &text))
		return -ENOMEM;
	table__cell(t, text);
	return 0;
}

/* What no sample met has no time. */
static void add_time(struct table *t, const struct report_row *row, const struct report_rows *all)
{
	char buf[FORMAT_MAX];

	if (row->self_by == SUMMARY_SELF_SAMPLES && !row->cpu_ns) {
		table__cell(t, "-");
		table__cell(t, "-");
		return;
	}
	table__cellf(t, "%s%s", report_rows__are_sampled(all) ? "" : report_self_mark(row->self_by),
		     format_duration(buf, row->cpu_ns));
	table__cell(t, format_percent(buf, row->cpu_ns, all->cpu_ns));
}

static void add_waiting(struct table *t, const struct report_row *row)
{
	uint64_t ns = row->extra[REPORT_SAMPLED_OFF];
	char buf[FORMAT_MAX];

	table__cell(t, ns ? format_duration(buf, ns) : "-");
}

#define COLUMNS_MAX 10

static size_t choose_columns(struct table_column columns[COLUMNS_MAX], bool modules,
			     const struct extras *has)
{
	size_t n = 0;

	columns[n++] = (struct table_column){report_title_cpu(has->off_cpu), 0};
	columns[n++] = (struct table_column){report_title_share(has->off_cpu), 0};
	if (has->off_cpu)
		columns[n++] = (struct table_column){REPORT_OFF, 0};
	if (has->waiting)
		columns[n++] = (struct table_column){REPORT_WAITING, 0};
	if (has->llvm)
		columns[n++] = (struct table_column){"LLVM", 0};
	columns[n++] = (struct table_column){"executions", 0};
	if (modules)
		columns[n++] = (struct table_column){"items", 0};
	if (has->instances)
		columns[n++] = (struct table_column){"instances", 0};
	columns[n++] = (struct table_column){"of this", 0};
	if (has->places)
		columns[n++] = (struct table_column){"at", 0};
	columns[n++] = (struct table_column){modules ? "module" : "item", 0};
	return n;
}

int items_text(FILE *out, const struct report_rows *r, size_t n, size_t width,
	       const struct trace_texts *names)
{
	const struct extras has = extras_of(r, n, names);
	struct table_column columns[COLUMNS_MAX];
	size_t n_columns = choose_columns(columns, r->modules, &has);
	_table_ struct table *t = table__new(columns, n_columns);
	char buf[FORMAT_MAX], executions[REPORT_EXECUTIONS_MAX];

	table__name_last(t);
	table__keep_of_name(t, PATH_KEPT);
	table__spare(t, "of this");
	table__spare(t, "executions");
	if (has.off_cpu)
		table__spare(t, REPORT_OFF);
	if (has.instances)
		table__spare(t, "instances");
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = &r->rows[i];

		add_time(t, row, r);
		if (has.off_cpu)
			table__cell(t, format_duration(buf, row->extra[REPORT_OFF_CPU]));
		if (has.waiting)
			add_waiting(t, row);
		if (has.llvm)
			table__cell(t, row->item->llvm.n
					       ? format_duration(buf, row->item->llvm.value)
					       : "-");
		table__cell(t, report_item_executions(executions, row->item));
		if (r->modules)
			table__cell(t, format_count(buf, row->items));
		else if (has.instances)
			table__cell(t, row->item->instances
					       ? format_count(buf, row->item->instances)
					       : "-");
		if (add_queries(t, row->item, queries_that_fit(width), names))
			return -ENOMEM;
		if (has.places && add_place(t, row->item, names))
			return -ENOMEM;
		table__cell(t, row->name);
	}
	return table__print_within(t, out, width, "report --wide");
}
