// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/top_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"

#define TYPE_WIDTH  10 /* columns: fits proc-macro; cargo may pass several types at once */
#define QUERY_WIDTH 16 /* columns of a query beside a process or thread, whose name needs space */

enum process_column {
	PROCESS_NAME,
	PROCESS_PID,
	PROCESS_STATE,
	PROCESS_ELAPSED,
	PROCESS_ON_CPU,
	PROCESS_TOP,
	PROCESS_RATE,
	PROCESS_TYPE,
	PROCESS_COUNT,
};

enum query_column {
	QUERY_NAME,
	QUERY_SELF,
	QUERY_COUNT,
	QUERY_RATE,
	QUERY_TOTAL,
	QUERY_OFF,
	QUERY_MEAN,
};

enum thread_column {
	THREAD_NAME,
	THREAD_TID,
	THREAD_SELF,
	THREAD_OFF,
	THREAD_RATE,
	THREAD_AGO,
	THREAD_LAST,
	THREAD_COUNT,
};

static const struct top_column process_columns[] = {
	[PROCESS_NAME] = {"crate", 0, TOP_TEXT},
	[PROCESS_TYPE] = {"type", 3, TOP_TEXT},
	[PROCESS_PID] = {"pid", 5, TOP_NUMBER},
	[PROCESS_STATE] = {"state", 7, TOP_TEXT},
	[PROCESS_ELAPSED] = {"elapsed", 7, TOP_TIME},
	[PROCESS_ON_CPU] = {"on-cpu", 7, TOP_TIME},
	[PROCESS_RATE] = {"rate/s", 6, TOP_COUNT},
	[PROCESS_TOP] = {"now, or top query", 10, TOP_INTERVAL},
	[PROCESS_COUNT] = {"count", 6, TOP_COUNT},
};

static const struct top_column query_columns[] = {
	[QUERY_NAME] = {"query", 0, TOP_TEXT},	 [QUERY_SELF] = {"self", 7, TOP_TIME},
	[QUERY_COUNT] = {"count", 6, TOP_COUNT}, [QUERY_RATE] = {"rate/s", 6, TOP_COUNT},
	[QUERY_TOTAL] = {"total", 7, TOP_TIME},	 [QUERY_OFF] = {"off-cpu", 7, TOP_TIME},
	[QUERY_MEAN] = {"mean", 7, TOP_TIME},
};

static const struct top_column thread_columns[] = {
	[THREAD_NAME] = {"thread", 0, TOP_TEXT},  [THREAD_TID] = {"tid", 5, TOP_NUMBER},
	[THREAD_COUNT] = {"count", 6, TOP_COUNT}, [THREAD_RATE] = {"rate/s", 6, TOP_COUNT},
	[THREAD_SELF] = {"self", 7, TOP_TIME},	  [THREAD_OFF] = {"off-cpu", 7, TOP_TIME},
	[THREAD_AGO] = {"ago", 7, TOP_TIME},	  [THREAD_LAST] = {"last ended", 10, TOP_TEXT},
};

static const struct top_layout layouts[TOP_TABLES] = {
	[TOP_PROCESSES] = {"Processes", process_columns, N_OF(process_columns), PROCESS_ON_CPU},
	[TOP_QUERIES] = {"Queries", query_columns, N_OF(query_columns), QUERY_SELF},
	[TOP_THREADS] = {"Threads", thread_columns, N_OF(thread_columns), THREAD_SELF},
};

const struct top_layout *top_layout(enum top_table table)
{
	return &layouts[table];
}

const char *top_process_name(const struct trace_process *p)
{
	const char *name = p->command ?: "<unknown>";
	size_t program = strcspn(name, " ");
	const char *slash = memrchr(name, '/', program);

	return p->crate ?: slash ? slash + 1 : name;
}

__attribute__((format(printf, 2, 3))) static void set_text(struct top_cell *cell, const char *fmt,
							   ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cell->text, sizeof(cell->text), fmt, ap);
	va_end(ap);
}

static const char *label_text(const struct top_data *data, uint32_t label)
{
	return data->names->text(data->names->ctx, label);
}

static uint64_t rate_of(const struct top_row *row, struct top_past *past, uint64_t now_ns)
{
	const uint64_t *before;
	uint64_t events;

	if (!past || !past->time_ns || now_ns <= past->time_ns)
		return TOP_UNKNOWN;
	before = table__find(&past->events, row->id);
	events = before ? *before : 0;
	return row->events > events ? format_rate(row->events - events, now_ns - past->time_ns) : 0;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void set_state(struct top_cell *cell, const struct trace_process *p,
		      const struct top_data *data)
{
	int status = p->exit_status;

	if (!p->end_ns && data->source == TOP_RECORDING)
		set_text(cell, "running");
	else if (status == TRACE_EXIT_UNKNOWN)
		set_text(cell, "unknown");
	else if (WIFSIGNALED(status))
		set_text(cell, "signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		set_text(cell, "exit %d", WEXITSTATUS(status));
	else
		set_text(cell, "done");
}

static void set_cut(struct top_cell *cell, const char *text, size_t columns)
{
	_free_ char *clean = format_clean(text);

	if (clean)
		set_text(cell, "%.*s", (int)format_fit(clean, columns), clean);
}

const struct top_now *top_now_of(const struct top_data *data, const struct trace_process *p)
{
	if (p->end_ns || data->source != TOP_RECORDING)
		return NULL;
	for (uint32_t i = 0; data->now && i < data->now->n; i++)
		if (data->now->at[i].pid == p->pid)
			return &data->now->at[i];
	return NULL;
}

static void set_top(struct top_cell *cell, const struct top_data *data,
		    const struct trace_process *p, const char *most)
{
	const struct top_now *now = top_now_of(data, p);

	item_text(cell->text, SIZE_MAX, now ? now->name : most, now ? now->item : NULL);
}

static int make_process(const struct top_data *data, uint32_t i, struct top_row *row)
{
	const struct trace_process *p = summary__process_at(data->summary, i);
	uint64_t end = p->end_ns ?: data->now_ns;
	_free_ struct summary_row *rows = NULL;
	size_t n;
	int err = summary__rows(data->summary, i, &rows, &n);

	if (err)
		return err;
	row->id = row->process = i;
	for (size_t q = 0; q < n; q++) {
		row->events += rows[q].count + rows[q].unrecorded.counted;
		row->cells[PROCESS_ON_CPU].number += rows[q].self_ns > rows[q].self_off_ns
							     ? rows[q].self_ns - rows[q].self_off_ns
							     : 0;
	}
	set_text(&row->cells[PROCESS_NAME], "%s", top_process_name(p));
	set_cut(&row->cells[PROCESS_TYPE], p->crate_type ?: "", TYPE_WIDTH);
	row->cells[PROCESS_PID].number = p->pid;
	set_state(&row->cells[PROCESS_STATE], p, data);
	row->cells[PROCESS_ELAPSED].number = end > p->start_ns ? end - p->start_ns : 0;
	row->cells[PROCESS_COUNT].number = row->events;
	set_top(&row->cells[PROCESS_TOP], data, p, n ? label_text(data, rows[0].label) : "");
	return 0;
}

static int make_processes(const struct top_data *data, uint32_t process, struct top_rows *out)
{
	uint32_t n = summary__n_processes(data->summary);

	(void)process;
	out->at = calloc(n ?: 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		if (make_process(data, i, &out->at[out->n++]))
			return -ENOMEM;
	}
	return 0;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static void make_query(const struct top_data *data, const struct summary_row *q,
		       struct top_row *row)
{
	row->id = q->label;
	row->events = q->count + q->unrecorded.counted;
	set_text(&row->cells[QUERY_NAME], "%s", label_text(data, q->label));
	row->cells[QUERY_SELF].number = q->self_ns;
	row->cells[QUERY_COUNT].number = row->events;
	row->cells[QUERY_TOTAL].number = q->total_ns;
	row->cells[QUERY_OFF].number = q->self_off_ns;
	row->cells[QUERY_MEAN].number = summary_row__mean_ns(q);
}

static int make_queries(const struct top_data *data, uint32_t process, struct top_rows *out)
{
	_free_ struct summary_row *rows = NULL;
	size_t n;
	int err = summary__rows(data->summary, process, &rows, &n);

	if (err)
		return err;
	out->at = calloc(n ?: 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		make_query(data, &rows[i], &out->at[i]);
		out->at[i].process = process;
	}
	out->n = n;
	return 0;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void make_thread(const struct top_data *data, const struct thread_row *thread, bool alone,
			struct top_row *row)
{
	const char *name = thread->name ?: "<unnamed>";

	row->id = (uint64_t)thread->process << 32 | thread->tid;
	row->process = thread->process;
	row->events = thread->count;
	if (alone)
		set_text(&row->cells[THREAD_NAME], "%s", name);
	else
		set_text(&row->cells[THREAD_NAME], "%s: %s",
			 top_process_name(summary__process_at(data->summary, thread->process)),
			 name);
	row->cells[THREAD_TID].number = thread->tid;
	row->cells[THREAD_COUNT].number = thread->count;
	row->cells[THREAD_SELF].number = thread->self_ns;
	row->cells[THREAD_OFF].number = thread->self_off_ns;
	row->cells[THREAD_AGO].number = TOP_UNKNOWN;
	if (thread->last_label == TRACE_NO_STRING)
		return;
	row->cells[THREAD_AGO].number =
		data->now_ns > thread->last_ns ? data->now_ns - thread->last_ns : 0;
	set_cut(&row->cells[THREAD_LAST], label_text(data, thread->last_label), QUERY_WIDTH);
}

static int make_threads(const struct top_data *data, uint32_t process, struct top_rows *out)
{
	uint32_t n = threads__n(data->threads);

	out->at = calloc(n ?: 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct thread_row thread = threads__at(data->threads, i);

		if (process != SUMMARY_ALL && thread.process != process)
			continue;
		make_thread(data, &thread, process != SUMMARY_ALL, &out->at[out->n++]);
	}
	return 0;
}

/* ---- All of them ----------------------------------------------------------------------------- */

int top_rows__make(const struct top_data *data, enum top_table table, uint32_t process,
		   struct top_past *past, struct top_rows *out)
{
	static const struct {
		int (*make)(const struct top_data *, uint32_t, struct top_rows *);
		size_t rate; /* its column */
	} tables[] = {
		[TOP_PROCESSES] = {make_processes, PROCESS_RATE},
		[TOP_QUERIES] = {make_queries, QUERY_RATE},
		[TOP_THREADS] = {make_threads, THREAD_RATE},
	};
	struct top_rows rows = {};
	int err = tables[table].make(data, process, &rows);

	if (err) {
		top_rows__clear(&rows);
		return err;
	}
	for (size_t i = 0; i < rows.n; i++)
		rows.at[i].cells[tables[table].rate].number =
			rate_of(&rows.at[i], past, data->now_ns);
	*out = rows;
	return 0;
}

int top_past__set(struct top_past *past, const struct top_rows *rows, uint64_t now_ns)
{
	struct top_past now = {.time_ns = now_ns};

	for (size_t i = 0; i < rows->n; i++) {
		if (!table__get(&now.events, rows->at[i].id, rows->at[i].events)) {
			top_past__clear(&now);
			return -ENOMEM;
		}
	}
	top_past__clear(past);
	*past = now;
	return 0;
}

static bool is_text(enum top_kind kind)
{
	return kind == TOP_TEXT || kind == TOP_INTERVAL;
}

struct order {
	size_t column;
	bool text;
	bool reverse;
};

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct top_row *x = a, *y = b;
	const struct order *o = ctx;
	uint64_t m = x->cells[o->column].number, n = y->cells[o->column].number;
	int by;

	if (o->text)
		by = strcasecmp(x->cells[o->column].text, y->cells[o->column].text);
	else
		/* Adding 1 wraps TOP_UNKNOWN to 0, so unknown numbers sort as the smallest. */
		by = (n + 1 > m + 1) - (n + 1 < m + 1);
	if (o->reverse)
		by = -by;
	return by ?: (x->id > y->id) - (x->id < y->id);
}

void top_rows__sort(struct top_rows *rows, enum top_table table, size_t column, bool reverse)
{
	struct order order = {
		.column = column,
		.text = is_text(layouts[table].columns[column].kind),
		.reverse = reverse,
	};

	if (rows->n)
		qsort_r(rows->at, rows->n, sizeof(*rows->at), compare_rows, &order);
}

bool top_row__has(const struct top_row *row, enum top_table table, const char *text)
{
	const struct top_layout *layout = &layouts[table];
	char number[24];

	if (strcasestr(row->cells[0].text, text))
		return true;
	for (size_t i = 0; i < layout->n; i++) {
		if (layout->columns[i].kind != TOP_NUMBER)
			continue;
		snprintf(number, sizeof(number), "%" PRIu64, row->cells[i].number);
		if (strstr(number, text))
			return true;
	}
	return false;
}

void top_row__show(const struct top_row *row, enum top_table table, size_t column,
		   char buf[TOP_CELL_MAX])
{
	const struct top_cell *cell = &row->cells[column];
	enum top_kind kind = layouts[table].columns[column].kind;

	_Static_assert(TOP_CELL_MAX >= FORMAT_MAX, "a number fits where a text does");
	if (is_text(kind))
		snprintf(buf, TOP_CELL_MAX, "%s", cell->text);
	else if (cell->number == TOP_UNKNOWN)
		snprintf(buf, TOP_CELL_MAX, "-");
	else if (kind == TOP_NUMBER)
		snprintf(buf, TOP_CELL_MAX, "%" PRIu64, cell->number);
	else if (kind == TOP_TIME)
		format_duration(buf, cell->number);
	else
		format_short(buf, cell->number);
}

void top_rows__clear(struct top_rows *rows)
{
	free(rows->at);
	*rows = (struct top_rows){};
}

void top_past__clear(struct top_past *past)
{
	table__destroy(&past->events);
	past->time_ns = 0;
}
