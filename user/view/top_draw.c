// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/top_draw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "view/table.h"
#include "base/array.h"

#define MARK	   "> " /* before the selected row, for terminals without colours and reverse video */
#define NO_MARK	   "  "
#define MARK_WIDTH 2
#define HEAD	   3 /* lines above the rows */
#define TITLE_MAX  32

#define USUAL_WIDTH 80
#define BOTH_LEAST  24
#define IN	    "  in "

static const char *const help_lines[] = {
	"Enter           open the selected process: its queries; then Tab: its items, threads",
	"Esc, Backspace  back; if there is a filter, drop that first",
	"Tab             the next table: processes, queries, items, threads",
	"i               items: what the queries were about; again: queries",
	"p               all processes",
	"j k Up Down     select a row; also PgUp PgDn, Home End, g G",
	"< > S s         sort by the next column to the left, to the right; also arrows",
	"r               reverse the order",
	"/               show only what has a text in its name, or its pid or tid",
	"Space           pause, or go on; what is recorded is not paused",
	"q               leave",
	"",
	"on-cpu          time on a CPU, without what it called: work",
	"off-cpu         the same off the CPU: waiting; self: both",
	"rate/s          since the screen's numbers were last renewed",
	"hottest ..      the function that the thread was in most lately, by its samples;",
	"                of LLVM its pass, and the function that it compiles",
	"last ended      the thread's last interval that did, and how long ago;",
	"                what still runs is known once it ends",
};

void top_screen__clear(struct top_screen *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->lines[i].text);
	free(s->lines);
	*s = (struct top_screen){};
}

/* Put a line, cut to `columns`, at the next position; lines beyond the screen are dropped. */
struct canvas {
	struct top_screen *screen;
	size_t lines;
	size_t columns;
	int err;
};

static void put(struct canvas *c, enum top_style style, const char *text)
{
	char *clean;

	if (c->err || c->screen->n == c->lines)
		return;
	clean = format_clean(text);
	if (!clean) {
		c->err = -ENOMEM;
		return;
	}
	clean[format_fit(clean, c->columns)] = '\0';
	c->screen->lines[c->screen->n++] = (struct top_line){clean, style};
}

/* The caller frees it; without memory it is NULL, and c->err is set. */
static char *text_of(struct canvas *c, const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) >= 0)
		return text;
	c->err = -ENOMEM;
	return NULL;
}

__attribute__((format(printf, 3, 4))) static void putf(struct canvas *c, enum top_style style,
						       const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = text_of(c, fmt, ap);
	va_end(ap);
	if (text)
		put(c, style, text);
}

/* The most important parts come first, for narrow screens. */
static void put_status(const struct top_shown *t, struct canvas *c)
{
	static const char *const states[] = {
		[TOP_RECORDING] = "recording",
		[TOP_FINISHED] = "finished,",
		[TOP_UNFINISHED] = "interrupted,",
	};
	const struct top_data *d = t->data;
	uint64_t lost = d->losses ? trace_losses__total(d->losses) : 0;
	bool samples = top_data__has_only_samples(d);
	char elapsed[FORMAT_MAX], count[FORMAT_MAX] = "?", events[FORMAT_MAX];
	struct summary_counts counts = {};
	uint32_t n = summary__n_processes(d->summary), running = 0;

	for (uint32_t i = 0; i < n; i++)
		running += !summary__process_at(d->summary, i)->end_ns;
	if (d->source != TOP_RECORDING)
		running = 0;
	if (d->losses)
		format_count(count, lost);
	format_duration(elapsed, d->now_ns > d->start_ns ? d->now_ns - d->start_ns : 0);
	if (!samples && summary__counts(d->summary, SUMMARY_ALL, &counts))
		c->err = -ENOMEM;
	format_count(events,
		     samples ? samples_totals__n(samples__totals(d->samples)) : counts.queries);
	putf(c, lost ? TOP_ALERT : TOP_STATUS,
	     "%s %s  lost %s  compilers %u (%u running)  %s %s  %s",
	     t->paused ? "PAUSED at" : states[d->source], elapsed, count, n, running,
	     samples ? "samples" : "queries", events, d->title);
}

/* The interval that the process is in gets the rest of the line. */
__attribute__((format(printf, 3, 4))) static void put_place_of(struct canvas *c, char *in,
							       const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list ap;
	size_t width;

	va_start(ap, fmt);
	text = text_of(c, fmt, ap);
	va_end(ap);
	if (!text)
		return;
	width = format_width(text) + strlen(IN);
	if (c->columns > width)
		item_text__cut(in, c->columns - width);
	putf(c, TOP_PLACE, "%s%s%s", text, in[0] ? IN : "", in);
}

/* Items are those of compilers that have ended. */
static int print_missing(const struct top_shown *t, char **out)
{
	const struct top_data *d = t->data;
	uint32_t n = summary__n_processes(d->summary), running = 0;

	if (t->table != TOP_ITEMS)
		return summary__is_unwatched(d->summary) ? asprintf(out, "  (by samples)") : 0;
	if (t->process != SUMMARY_ALL)
		return 0;
	for (uint32_t i = 0; i < n && d->source == TOP_RECORDING; i++)
		running += !summary__process_at(d->summary, i)->end_ns;
	if (d->items_left)
		return asprintf(out, "  (reading those of %u)", d->items_left);
	return running ? asprintf(out, "  (without %u running)", running) : 0;
}

static void put_place(const struct top_shown *t, struct canvas *c)
{
	const struct top_layout *layout = top_layout(t->table);
	const struct trace_process *p = t->process != SUMMARY_ALL
						? summary__process_at(t->data->summary, t->process)
						: NULL;
	const struct top_order *o = &t->order;
	const struct top_now *now = p ? top_now_of(t->data, p) : NULL;
	_free_ char *of = NULL, *filter = NULL, *missing = NULL, *name = p ? compile_name(p) : NULL;
	char in[ITEM_TEXT_MAX] = "";

	if ((p && (!name || asprintf(&of, " of %s (%u)", name, p->pid) < 0)) ||
	    ((t->filter[0] || t->editing) &&
	     asprintf(&filter, "  filter: %s%s", t->filter, t->editing ? "_" : "") < 0) ||
	    print_missing(t, &missing) < 0) {
		c->err = -ENOMEM;
		return;
	}
	if (now)
		item_text(in, SIZE_MAX, now->name, now->item);
	put_place_of(c, in, "%s%s  %zu of %zu%s  by %s%s%s", layout->title, of ?: "",
		     t->n_shown ? t->selected + 1 : 0, t->n_shown, filter ?: "",
		     layout->columns[o->column].title, o->reverse ? ", reversed" : "",
		     missing ?: "");
}

static void put_row(struct canvas *c, enum top_style style, const struct table *table, size_t row,
		    bool titles)
{
	_free_ char *text = NULL;
	size_t len;
	FILE *line = open_memstream(&text, &len);

	if (!line) {
		c->err = -ENOMEM;
		return;
	}
	fputs(style == TOP_SELECTED ? MARK : NO_MARK, line);
	if (titles)
		table__print_titles(table, line);
	else
		table__print_row(table, row, line);
	if (fclose(line))
		c->err = -ENOMEM;
	else
		put(c, style, text);
}

/* On a wide screen, an interval gets what is more, and a place in the source a third of it. */
static void cut_cell(const struct canvas *c, const struct top_column *column,
		     char cell[TOP_CELL_MAX])
{
	size_t more = c->columns > USUAL_WIDTH ? c->columns - USUAL_WIDTH : 0;

	if (column->kind == TOP_INTERVAL || column->kind == TOP_FUNCTION) {
		/* In few columns, the whole name of an interval is worth more than two parts. */
		if (column->width + more < BOTH_LEAST && format_width(cell) > column->width + more)
			cell[strcspn(cell, "(")] = '\0';
		item_text__cut(cell, column->width + more);
	} else if (column->kind == TOP_SOURCE) {
		item_text__cut_start(cell, column->width + more / 3);
	}
}

static void put_table(const struct top_shown *t, struct canvas *c, size_t rows)
{
	struct table_column columns[TOP_COLUMNS_MAX];
	char titles[TOP_COLUMNS_MAX][TITLE_MAX], cell[TOP_CELL_MAX];
	const struct top_layout *layout = top_layout(t->table);
	size_t n = t->n_shown - t->first < rows ? t->n_shown - t->first : rows, n_columns = 0;
	_table_ struct table *table = NULL;

	if (c->err)
		return;
	/* The title of the sorted column is in brackets. */
	for (size_t i = 0; i < layout->n; i++) {
		const char *fmt = t->order.column == i ? "[%s]" : "%s";

		if (!top_rows__has_column(t->rows, t->table, i))
			continue;
		snprintf(titles[n_columns], TITLE_MAX, fmt, layout->columns[i].title);
		columns[n_columns] =
			(struct table_column){titles[n_columns], layout->columns[i].least};
		n_columns++;
	}
	table = table__new(columns, n_columns);
	if (layout->keep)
		table__keep_of_name(table, layout->keep);
	if (layout->columns[0].kind == TOP_PATH)
		table__cut_beginnings(table);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < layout->n; k++) {
			if (!top_rows__has_column(t->rows, t->table, k))
				continue;
			top_rows__show(t->rows, t->shown[t->first + i], t->table, k, cell);
			cut_cell(c, &layout->columns[k], cell);
			table__cell(table, cell);
		}
	}
	c->err = table__fit(table, c->columns > MARK_WIDTH + 1 ? c->columns - MARK_WIDTH : 1);
	if (c->err)
		return;
	put_row(c, TOP_TITLES, table, 0, true);
	for (size_t i = 0; i < n; i++)
		put_row(c, t->first + i == t->selected ? TOP_SELECTED : TOP_PLAIN, table, i, false);
}

/* Why there are no items. */
static const char *no_items(const struct top_shown *t)
{
	const struct top_data *d = t->data;
	const struct trace_process *p =
		t->process != SUMMARY_ALL ? summary__process_at(d->summary, t->process) : NULL;

	if (!d->items || d->items_left)
		return "  reading what the queries were about";
	if (d->source == TOP_RECORDING && p && !p->end_ns)
		return "  items get their names when the compiler ends";
	if (d->source == TOP_RECORDING && !p)
		return "  nothing yet: items get their names when their compiler ends";
	return "  the trace does not say what the queries were about (--no-keys?)";
}

/* Without space for both, a row is better than the hint. */
static bool has_hint(size_t lines)
{
	return lines > HEAD + 1;
}

size_t top_draw__rows(size_t lines)
{
	size_t last = lines - has_hint(lines);

	return last > HEAD ? last - HEAD : 0;
}

static void put_all(const struct top_shown *t, struct canvas *c)
{
	bool hint = has_hint(c->lines), recording = t->data->source == TOP_RECORDING;
	size_t last = c->lines - hint;

	put_status(t, c);
	if (t->help) {
		for (size_t i = 0; i < N_OF(help_lines) && c->screen->n < last; i++)
			put(c, TOP_PLAIN, help_lines[i]);
	} else {
		put_place(t, c);
		put_table(t, c, top_draw__rows(c->lines));
		if (!t->n_shown)
			put(c, TOP_PLAIN,
			    t->rows->n ? "  no row has that in its name; Esc drops the filter"
			    : t->table == TOP_ITEMS ? no_items(t)
			    : recording		    ? "  nothing yet: no compiler has run"
						    : "  nothing was recorded");
	}
	while (!c->err && c->screen->n < last)
		put(c, TOP_PLAIN, "");
	if (!hint)
		return;
	if (t->editing)
		put(c, TOP_HINT, "type a part of the name  Enter keep  Esc drop");
	else if (t->help)
		put(c, TOP_HINT, "any key: back");
	else if (t->process != SUMMARY_ALL)
		put(c, TOP_HINT,
		    "q quit  ? keys  Esc back  Tab next  i items  < > sort  / filter  Space pause");
	else
		put(c, TOP_HINT,
		    "q quit  ? keys  Enter open  Tab next  i items  < > sort  / filter  Space "
		    "pause");
}

int top_draw(const struct top_shown *t, size_t lines, size_t columns, struct top_screen *out)
{
	struct top_screen screen = {};
	struct canvas c = {.screen = &screen, .lines = lines, .columns = columns};

	screen.lines = calloc(lines ?: 1, sizeof(*screen.lines));
	if (!screen.lines)
		return -ENOMEM;
	if (t->data && lines)
		put_all(t, &c);
	if (c.err) {
		top_screen__clear(&screen);
		return c.err;
	}
	*out = screen;
	return 0;
}
