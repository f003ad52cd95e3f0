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
#include "view/report_columns.h"

#define CUT   ".."
#define SHORT 8 /* columns of a name that are left if the path needs room */

void item_text__cut(char text[ITEM_TEXT_MAX], size_t columns)
{
	char *open = strchr(text, '('), cut[ITEM_TEXT_MAX];
	size_t len = strlen(text), names = columns / 3 > SHORT ? columns / 3 : SHORT, room;
	_free_ char *name = NULL, *item = NULL;
	const char *from, *mark = "";

	if (format_width(text) <= columns)
		return;
	if (open && text[len - 1] == ')' && columns >= 2 * SHORT) {
		name = strndup(text, (size_t)(open - text));
		item = strndup(open + 1, strlen(open) - 2);
	}
	if (!name || !item) {
		format_cut(text, columns);
		return;
	}
	/*
	 * The path gets what the name leaves, but at least two thirds. Its end tells it apart from
	 * others.
	 */
	if (format_width(name) + format_width(item) + 2 > columns && format_width(name) > names) {
		name[format_fit(name, names - strlen(CUT))] = '\0';
		mark = CUT;
	}
	room = columns - format_width(name) - strlen(mark) - strlen("()");
	from = format_width(item) > room ? format_fit_end(item, room - strlen(CUT)) : item;
	snprintf(cut, sizeof(cut), "%s%s(%s%s)", name, mark, from == item ? "" : CUT, from);
	memcpy(text, cut, sizeof(cut));
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

void item_text(char buf[ITEM_TEXT_MAX], size_t columns, const char *name, const char *item)
{
	_free_ char *text = NULL, *clean = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	buf[0] = '\0';
	if (!to)
		return;
	fputs(name, to);
	if (item && *item) {
		fputc('(', to);
		/* "unit, 12" of two arguments. */
		for (; *item; item++) {
			if (*item == MM_SEPARATOR)
				fputs(", ", to);
			else
				fputc(*item, to);
		}
		fputc(')', to);
	}
	if (fclose(to))
		return;
	clean = format_clean(text);
	if (!clean)
		return;
	snprintf(buf, ITEM_TEXT_MAX, "%s", clean);
	item_text__cut(buf, columns);
}

/* ---- Tables of items ------------------------------------------------------------------------- */

/* Minimum columns of a path; other columns are left out first. */
#define PATH_KEPT 40

/* "typeck 41.2 ms, mir_borrowck 12.0 ms"; NULL: no memory. */
static char *queries_text(const struct item_row *item, size_t width,
			  const struct trace_texts *names)
{
	/* Each query takes about 30 columns. */
	uint32_t most = !width || width >= 170 ? ITEM_QUERIES : width >= 140 ? 2 : 1;
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (uint32_t i = 0; i < item->n_queries && i < most; i++)
		fprintf(to, "%s%s %s", i ? ", " : "",
			names->text(names->ctx, item->queries[i].label),
			format_duration(buf, item->queries[i].cpu_ns));
	return fclose(to) ? NULL : take_ptr(text);
}

struct item_extras report_items__extras(const struct report_rows *r, size_t n,
					const struct trace_texts *names)
{
	struct item_extras has = {};

	for (size_t i = 0; i < n && !r->modules; i++) {
		const struct item_row *item = r->rows[i].item;

		has.instances = has.instances || item->instances;
		has.llvm = has.llvm || item->llvm.n;
		has.places = has.places || trace_texts__place(names, item->item);
	}
	return has;
}

/* Where its text begins, and the macro's call that made it. */
static void place_columns(struct columns *c, uint32_t item, const struct trace_texts *names)
{
	const struct trace_place *at = c->describes ? NULL : trace_texts__place(names, item);
	bool called = at && at->call_file != TRACE_NO_STRING;

	SOME_TEXT(c, "file", NULL, at, names->text(names->ctx, at->file),
		  "where it begins; missing: unknown");
	SOME(c, COUNT, "line", NULL, at, at->line, "line there, from 1");
	SOME_TEXT(c, "call_file", NULL, called, names->text(names->ctx, at->call_file),
		  "where the macro was called that made it; missing: none, or unknown");
	SOME(c, COUNT, "call_line", NULL, called, at->call_line, "line there, from 1");
}

/* The time on the CPU, and its share. What no sample met has none. */
static void cpu_columns(struct columns *c, const struct report_row *row,
			const struct report_rows *all)
{
	bool off_cpu = report_rows__know_off_cpu(all);
	bool met = row && (row->self_by != SUMMARY_SELF_SAMPLES || row->cpu_ns);
	const char *mark =
		!row || report_rows__are_sampled(all) ? "" : report_self_mark(row->self_by);

	COLUMN(c, NS, NULL, ON_PAGE(c, REPORT_SELF, NULL), "of the queries about it",
	       met ? columns__marked(c, mark, row->self_ns) : columns__unknown(c));
	COLUMN(c, NS, NULL, ON_PAGE(c, "on the CPU", report_title_cpu(off_cpu)),
	       "the part of self in which they ran",
	       met ? columns__marked(c, mark, row->cpu_ns) : columns__unknown(c));
	COLUMN(c, PERCENT, NULL, ON_PAGE(c, "CPU %", report_title_share(off_cpu)),
	       "of all queries and passes",
	       met ? columns__percent(c, row->cpu_ns, all->cpu_ns) : columns__unknown(c));
}

void report_item_columns(struct columns *c, const struct report_row *row,
			 const struct report_rows *all, bool modules,
			 const struct trace_texts *names, const struct item_extras *has)
{
	const struct item_row *item = row ? row->item : NULL;
	bool waits = report_rows__are_sampled(all) && all->extra[REPORT_SAMPLED_OFF];

	TEXT(c, "name", ON_PAGE(c, "item", NULL), item->item == TRACE_NO_STRING ? NULL : row->name,
	     "path; null: what no item is around");
	if (!modules)
		place_columns(c, item ? item->item : TRACE_NO_STRING, names);
	item_executions_column(c, ON_PAGE(c, "executions", NULL), item);
	cpu_columns(c, row, all);
	NUMBER(c, NS, "self_ns", NULL, item->self_ns, "of all of these, and of activities within");
	SOME(c, NS, "self_cpu_ns", NULL, item->cpu_ns != item->self_ns, item->cpu_ns,
	     "its part on the CPU; missing: all of it");
	best_columns(c, row, row && row->self_by == SUMMARY_SELF_SAMPLES);
	NUMBER(c, NS, NULL, report_rows__know_off_cpu(all) ? ON_PAGE(c, NULL, REPORT_OFF) : NULL,
	       row->extra[REPORT_OFF_CPU], NULL);
	SOME(c, NS, "sampled_off_ns", waits ? ON_PAGE(c, NULL, REPORT_WAITING) : NULL,
	     row->extra[REPORT_SAMPLED_OFF], row->extra[REPORT_SAMPLED_OFF], "waits in these");
	SOME(c, BYTES, "memory_bytes", NULL, row->extra[REPORT_MEMORY], row->extra[REPORT_MEMORY],
	     "memory that page faults made resident in these");
	SOME(c, NS, "llvm_ns", has->llvm ? "LLVM" : NULL, item->llvm.n, item->llvm.value,
	     "time of LLVM for it, by samples; missing: none, or unknown");
	SOME(c, NS, "llvm_error_ns", NULL, item->llvm.n, sample_sum__error(&item->llvm),
	     "standard error of that");
	KNOWN(c, COUNT, "executions", NULL, item_row__is_counted(item), item_row__executions(item),
	      "of queries about it; null: unknown");
	item_executions_column(c, ON_PAGE(c, NULL, "executions"), item);
	SOME_BOOL(c, "executions_at_least", item->at_least, true,
		  "true: there may be more, by the compilers' tables; else missing");
	KNOWN(c, COUNT, "charged", NULL, item_row__knows_charged(item), item->charged,
	      "executions without an item of their own, within; null");
	if (modules)
		NUMBER(c, COUNT, "items", "items", row->items, "in it");
	else
		KNOWN(c, COUNT, "instances", has->instances ? "instances" : NULL, item->instances,
		      item->instances, "of a generic function; null: none, or unknown");
	OWNED(c, NULL, ON_PAGE(c, NULL, "of this"), queries_text(item, c->width, names), NULL);
	OWNED(c, NULL, has->places ? ON_PAGE(c, NULL, "at") : NULL, place_text(names, item->item),
	      NULL);
	NAME(c, NULL, ON_PAGE(c, NULL, modules ? "module" : "item"), row->name, NULL);
	if (!LIST(c, "queries", true, "the three with the most time on the CPU"))
		return;
	EACH_ROW (c, i, item->n_queries) {
		const struct item_part *part = ROW(c, &item->queries[i]);

		TEXT(c, "name", NULL, names->text(names->ctx, part->label), "query or activity");
		NUMBER(c, NS, "self_ns", NULL, part->self_ns, "for the item");
		SOME(c, NS, "self_cpu_ns", NULL, part->cpu_ns != part->self_ns, part->cpu_ns,
		     "its part on the CPU; missing: all of it");
	}
}

int items_text(FILE *out, const struct report_rows *r, size_t n, size_t width,
	       const struct trace_texts *names)
{
	static const char *const spare[] = {"of this", "executions", REPORT_OFF, "instances", NULL};
	const struct item_extras has = report_items__extras(r, n, names);
	struct columns c = {
		.out = out,
		.width = width,
		.name_last = true,
		.keep_of_name = PATH_KEPT,
		.spare = spare,
	};

	EACH_ROW (&c, i, n)
		report_item_columns(&c, ROW(&c, &r->rows[i]), r, r->modules, names, &has);
	columns__more(&c, r->n - n, r->modules ? "module" : "item",
		      r->modules ? "modules" : "items");
	return c.err;
}
