// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "analyze/sample_counts.h"
#include "base/format.h"
#include "base/table.h"
#include "base/writer_thread.h"
#include "view/columns.h"
#include "view/live_rows.h"
#include "view/samples_text.h"
#include "view/screen.h"
#include "view/view.h"

#define BLOCK_ROWS   20
#define BLOCK_WIDTH  120 /* columns of what a compiler is in */
#define HEADER_LINES 2	 /* the totals and the titles */
/* Compilers whose place is shown; on a terminal they take at most this part of the lines. */
#define NOW_MOST 8
#define NOW_PART 4
/* Maximum number of unwritten bytes, except on a terminal: old frames are useless there. */
#define WAITING_MOST (1u << 20)
#define BOLD	     "\033[1m"
#define PLAIN	     "\033[0m"

struct live_view {
	FILE *out;
	enum live_mode mode;
	struct screen *screen;	      /* LIVE_TERMINAL only */
	struct writer_thread *writer; /* or NULL */
	uint64_t n_left_out;
	bool color;
	uint64_t last_ns; /* time of the last draw; 0: never drawn */
	uint64_t last_events, last_queries;
	TABLE(uint64_t) seen; /* counts at the last draw, by label */
	struct live_rates results;
};

/* The values of one interval, for all modes. */
struct frame {
	const struct live_state *state;
	struct summary_row *rows;
	struct live_row *sampled; /* with state->samples, instead of `rows` */
	uint64_t *rates;	  /* per second, one for each row */
	size_t n_rows;
	uint64_t events; /* or samples */
	struct summary_counts counts;
	uint64_t events_rate, queries_rate;
	uint64_t lost;
	struct live_now now[TOP_NOW_MAX];
	size_t n_now;
};

static void frame__clear(struct frame *f)
{
	free(f->rows);
	free(f->sampled);
	free(f->rates);
}

int live_view__new(FILE *out, enum live_mode mode, struct live_view **view)
{
	_live_view_ struct live_view *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	v->out = out;
	v->mode = mode;
	v->color = screen_wants_color();
	if (mode == LIVE_TERMINAL) {
		err = screen__new(out, &v->screen);
		if (err == -ENOTTY)
			v->mode = LIVE_BLOCKS;
		else if (err)
			return err;
	}
	*view = take_ptr(v);
	return 0;
}

static uint32_t row_label(const struct frame *f, size_t i)
{
	return f->sampled ? f->sampled[i].label : f->rows[i].label;
}

static uint64_t row_count(const struct frame *f, size_t i)
{
	return f->sampled ? f->sampled[i].self.n : f->rows[i].count;
}

static int remember(struct live_view *v, const struct frame *f)
{
	for (size_t i = 0; i < f->n_rows; i++) {
		uint64_t *seen = table__get(&v->seen, row_label(f, i), 0);

		if (!seen)
			return -ENOMEM;
		*seen = row_count(f, i);
	}
	v->last_ns = f->state->now_ns;
	v->last_events = f->events;
	v->last_queries = f->counts.queries;
	return 0;
}

static int frame__fill(struct frame *f, struct live_view *v, const struct live_state *state)
{
	uint64_t since = v->last_ns ?: state->start_ns;
	uint64_t ns = state->now_ns > since ? state->now_ns - since : 0;
	uint32_t n = 0;
	int err;

	f->state = state;
	if (state->samples) {
		err = live_rows__make(state, &f->sampled, &n)
			      ?: live_rates__set(&v->results, state, f->sampled, n);
		f->n_rows = n;
	} else {
		err = summary__rows(state->summary, SUMMARY_ALL, &f->rows, &f->n_rows);
	}
	if (err)
		return err;
	f->rates = calloc(f->n_rows ?: 1, sizeof(*f->rates));
	if (!f->rates)
		return -ENOMEM;
	for (size_t i = 0; f->rows && i < f->n_rows; i++)
		summary_counts__add(&f->counts, &f->rows[i]);
	for (size_t i = 0; i < f->n_rows; i++) {
		const uint64_t *seen = table__find(&v->seen, row_label(f, i));

		f->rates[i] = format_rate(row_count(f, i) - (seen ? *seen : 0), ns);
	}
	f->events = state->samples ? state->samples->all.n : summary__spans(state->summary);
	f->events_rate = format_rate(f->events - v->last_events, ns);
	f->queries_rate = format_rate(f->counts.queries - v->last_queries, ns);
	f->lost = state->losses ? trace_losses__total(state->losses) : 0;
	f->n_now = live_now__find(state->now, state->summary, f->now);
	return 0;
}

static const char *row_name(const struct frame *f, size_t i)
{
	uint32_t label = row_label(f, i);

	return label == TRACE_NO_STRING ? "(no query)"
					: f->state->names->text(f->state->names->ctx, label);
}

static void print_header(const struct frame *f, FILE *out)
{
	const struct live_state *s = f->state;
	char elapsed[FORMAT_MAX], count[FORMAT_MAX], rate[FORMAT_MAX], lost[FORMAT_MAX];

	fprintf(out, "%s  processes %u (%u running)  %s %s (%s/s)",
		format_duration(elapsed, s->now_ns - s->start_ns), s->processes, s->running,
		s->samples ? "samples" : "queries",
		format_count(count, s->samples ? f->events : f->counts.queries),
		format_short(rate, s->samples ? f->events_rate : f->queries_rate));
	if (!s->samples)
		fprintf(out, "  activities %s", format_count(count, f->counts.activities));
	fprintf(out, "  lost %s", format_count(lost, f->lost));
}

/* By samples. The place of the rest in `f` is that of the row. */
static void sampled_columns(struct columns *c, const struct live_row *row, const struct frame *f)
{
	size_t i = row ? row - f->sampled : 0;
	bool known = row && row->label != TRACE_NO_STRING;
	char buf[FORMAT_MAX * 2];

	TEXT(c, "name", NULL, known ? row_name(f, i) : NULL, "null: in no query");
	NAME(c, NULL, "query", row_name(f, i), NULL);
	TEXT(c, "kind", NULL, known ? trace_kind_text(row->kind) : NULL, "as in reports");
	KNOWN(c, COUNT, "count", NULL, row->count && !row->unsure, row->count,
	      "null: not known, or results that may be no executions");
	COLUMN(c, COUNT, NULL, "count", NULL,
	       columns__text(c, report_count(buf, &(struct summary_row){
							  .results = row->count,
							  .results_unsure = row->unsure,
							  .results_missing = row->at_least,
							  .self_by = SUMMARY_SELF_SAMPLES,
						  })));
	SOME(c, COUNT, "results", NULL, row->unsure, row->count, "that may be no executions");
	SOME_BOOL(c, "at_least", row->at_least, true, "more may come");
	KNOWN(c, COUNT, "count_rate", NULL, row->is_rated, row->rate, "of count, per second");
	CELL(c, "rate/s", row->is_rated ? format_short(buf, row->rate) : "-");
	NUMBER(c, COUNT, "samples", "samples", row->self.n, "of the CPU");
	NUMBER(c, COUNT, "rate", NULL, f->rates[i], "of samples, per second");
	NUMBER(c, NS, "total_ns", "total", row->total.value, "with what it called");
	NUMBER(c, NS, "self_ns", "self", row->self.value, "without that");
	PERCENT(c, "self %", row->self.value, f->state->samples->all.value);
}

static void row_columns(struct columns *c, const struct summary_row *row, const struct frame *f,
			bool off_cpu)
{
	size_t i = row ? row - f->rows : 0;
	char buf[FORMAT_MAX];

	NAME(c, "name", "query", row_name(f, i), "rustc's name");
	TEXT(c, "kind", NULL, summary_row__kind(row), "as in reports");
	NUMBER(c, COUNT, "count", "count", row->count, "executions");
	NUMBER(c, COUNT, "rate", NULL, f->rates[i], "per second");
	CELL(c, "rate/s", format_short(buf, f->rates[i]));
	NUMBER(c, NS, "total_ns", "total", row->total_ns, "with what it called");
	NUMBER(c, NS, "self_ns", NULL, row->self_ns, "without that");
	NUMBER(c, NS, NULL, off_cpu ? "on-cpu" : "self", row->self_cpu_ns, NULL);
	NUMBER(c, NS, "self_off_ns", off_cpu ? "off-cpu" : NULL, row->self_off_ns,
	       "its part off the CPU");
	NUMBER(c, NS, "mean_ns", "mean", row->count ? row->total_ns / row->count : 0,
	       "of an execution");
	NUMBER(c, NS, "max_ns", "max", row->max_ns, "the longest execution");
}

#define NUMBER_LEAST 7 /* columns, so that a redrawn table stays in place */

static struct table *table_of_rows(const struct frame *f, size_t n)
{
	struct columns c = {.keeps_table = true, .least_of_numbers = NUMBER_LEAST};
	bool off_cpu = false;

	for (size_t i = 0; !f->sampled && i < f->n_rows; i++)
		off_cpu |= f->rows[i].self_off_ns != 0;
	EACH_ROW (&c, i, n) {
		if (f->sampled)
			sampled_columns(&c, ROW(&c, &f->sampled[i]), f);
		else
			row_columns(&c, ROW(&c, &f->rows[i]), f, off_cpu);
	}
	return c.table;
}

static int draw_block(const struct frame *f, FILE *out)
{
	size_t n = f->n_rows < BLOCK_ROWS ? f->n_rows : BLOCK_ROWS;
	size_t n_now = f->n_now < NOW_MOST ? f->n_now : NOW_MOST;
	_table_ struct table *t = table_of_rows(f, n);
	int err;

	if (!t)
		return -ENOMEM;
	print_header(f, out);
	fputc('\n', out);
	err = live_now__print(f->now, n_now, BLOCK_WIDTH, "  ", out);
	if (f->n_now > n_now)
		fprintf(out, "  and %zu more compilers\n", f->n_now - n_now);
	err = err ?: n ? table__print(t, out, "  ", 0, NULL) : 0;
	if (err)
		return err;
	if (n < f->n_rows)
		fprintf(out, "  and %zu more\n", f->n_rows - n);
	return 0;
}

/* Print the header, cut to the terminal's width. */
static int put_header(const struct frame *f, size_t columns, FILE *to)
{
	_free_ char *text = NULL;
	size_t len;
	FILE *line = open_memstream(&text, &len);

	if (!line)
		return -ENOMEM;
	print_header(f, line);
	if (fclose(line))
		return -ENOMEM;
	fprintf(to, "%.*s\n", (int)format_fit(text, columns), text);
	return 0;
}

static int draw_terminal(const struct live_view *v, const struct frame *f)
{
	_table_ struct table *t = NULL;
	_free_ char *text = NULL;
	size_t lines, columns, len, n, n_now;
	FILE *to;
	int err;

	screen__size(v->screen, &lines, &columns);
	n = lines > HEADER_LINES ? lines - HEADER_LINES : 0;
	n_now = n / NOW_PART < NOW_MOST ? n / NOW_PART : NOW_MOST;
	if (n_now > f->n_now)
		n_now = f->n_now;
	n -= n_now;
	if (n > f->n_rows)
		n = f->n_rows;
	t = table_of_rows(f, n);
	to = t ? open_memstream(&text, &len) : NULL;
	if (!to)
		return -ENOMEM;
	err = put_header(f, columns, to) ?: live_now__print(f->now, n_now, columns, "", to);
	err = err ?: table__fit(t, columns);
	if (!err) {
		fputs(v->color ? BOLD : "", to);
		table__print_titles(t, to);
		fputs(v->color ? PLAIN "\n" : "\n", to);
		for (size_t i = 0; i < table__rows(t); i++) {
			table__print_row(t, i, to);
			fputc('\n', to);
		}
	}
	if (fclose(to))
		return -ENOMEM;
	return err ?: screen__draw(v->screen, text, HEADER_LINES + n_now + n);
}

static int draw_json(const struct frame *f, FILE *out)
{
	const struct live_state *s = f->state;
	struct columns c = {.to = COLUMNS_JSON, .out = out, .one_line = true};
	bool sampled = s->samples;

	columns__begin(&c, "qprof-live/2", "qprof-live/2");
	NUMBER(&c, NS, "time_ns", NULL, s->now_ns, "CLOCK_MONOTONIC");
	NUMBER(&c, NS, "elapsed_ns", NULL, s->now_ns - s->start_ns, "since the start");
	NUMBER(&c, COUNT, "processes", NULL, s->processes, "compilers so far");
	NUMBER(&c, COUNT, "running", NULL, s->running, "of these: run");
	NUMBER(&c, COUNT, "events", NULL, sampled ? 0 : f->events, "intervals");
	NUMBER(&c, COUNT, "events_per_s", NULL, sampled ? 0 : f->events_rate, "per second");
	SOME(&c, COUNT, "samples", NULL, sampled, f->events, "of the CPU");
	NUMBER(&c, COUNT, "lost", NULL, f->lost, "records");
	if (s->now)
		live_now__columns(&c, f->now, f->n_now);
	if (LIST(&c, "queries", true, "by intervals"))
		EACH_ROW (&c, i, sampled ? 0 : f->n_rows)
			row_columns(&c, &f->rows[i], f, false);
	if (LIST(&c, "sampled", sampled, "by samples"))
		EACH_ROW (&c, i, f->n_rows)
			sampled_columns(&c, &f->sampled[i], f);
	return columns__end(&c);
}

static int draw_lines(const struct live_view *v, const struct frame *f)
{
	_free_ char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	int err;

	if (!to)
		return -ENOMEM;
	err = v->mode == LIVE_JSON ? draw_json(f, to) : draw_block(f, to);
	if (fclose(to))
		return -ENOMEM;
	if (err)
		return err;
	if (v->writer)
		return writer_thread__put(v->writer, text, len);
	fwrite(text, 1, len, v->out);
	return fflush(v->out) ? -errno : 0;
}

/* Check this before drawing: a screen remembers what it has drawn. */
static bool is_blocked(const struct live_view *v, const struct live_state *state)
{
	size_t most = v->mode == LIVE_TERMINAL ? 0 : WAITING_MOST;

	return v->writer && !state->last && writer_thread__waiting(v->writer) > most;
}

int live_view__draw(struct live_view *v, const struct live_state *state)
{
	__cleanup(frame__clear) struct frame f = {};
	int err;

	if (v->mode == LIVE_NONE)
		return 0;
	if (is_blocked(v, state)) {
		v->n_left_out++;
		return 0;
	}
	err = frame__fill(&f, v, state);
	if (err)
		return err;
	err = v->mode == LIVE_TERMINAL ? draw_terminal(v, &f) : draw_lines(v, &f);
	return err ?: remember(v, &f);
}

void live_view__write_by(struct live_view *v, struct writer_thread *writer)
{
	v->writer = writer;
	if (v->screen)
		screen__write_by(v->screen, writer);
}

uint64_t live_view__left_out(const struct live_view *v)
{
	return v->n_left_out;
}

void live_view__restore(struct live_view *v)
{
	screen__restore(v->screen);
}

void live_view__free(struct live_view *v)
{
	if (!v)
		return;
	screen__free(v->screen);
	table__destroy(&v->seen);
	table__destroy(&v->results.rates);
	free(v);
}
