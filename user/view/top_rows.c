// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/top_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/compile_name.h"
#include "base/array.h"
#include "view/report_rows.h"

/* Columns of an interval beside a process or a thread, whose name needs space. */
#define CRATE_WIDTH 32 /* without a crate it is a command */
#define NOW_WIDTH   28
#define LAST_WIDTH  16
#define HOT_WIDTH   24
#define AT_WIDTH    24
#define PATH_KEPT   30 /* columns of a path: of its end */
#define QUERY_KEPT  24 /* columns of a query's name */

enum process_column {
	PROCESS_NAME,
	PROCESS_PID,
	PROCESS_STATE,
	PROCESS_ELAPSED,
	PROCESS_ON_CPU,
	PROCESS_TOP,
	PROCESS_RATE,
	PROCESS_HOT,
	PROCESS_COUNT,
};

enum query_column {
	QUERY_NAME,
	QUERY_ON_CPU,
	QUERY_OFF,
	QUERY_COUNT,
	QUERY_RATE,
	QUERY_TOTAL,
	QUERY_SELF,
	QUERY_MEAN,
};

enum item_column {
	ITEM_PATH,
	ITEM_ON_CPU,
	ITEM_COUNT,
	ITEM_PLACE,
	ITEM_MOST,
};

enum thread_column {
	THREAD_NAME,
	THREAD_TID,
	THREAD_ON_CPU,
	THREAD_OFF,
	THREAD_RATE,
	THREAD_AGO,
	THREAD_HOT,
	THREAD_LAST,
	THREAD_COUNT,
};

static const struct top_column process_columns[] = {
	[PROCESS_NAME] = {"crate", 0, TOP_TEXT, 0},
	[PROCESS_PID] = {"pid", 5, TOP_NUMBER, 0},
	[PROCESS_STATE] = {"state", 7, TOP_TEXT, 0},
	[PROCESS_ELAPSED] = {"elapsed", 7, TOP_TIME, 0},
	[PROCESS_ON_CPU] = {"on-cpu", 7, TOP_TIME, 0},
	[PROCESS_RATE] = {"rate/s", 6, TOP_COUNT, 0},
	[PROCESS_TOP] = {"now, or top query", 10, TOP_INTERVAL, NOW_WIDTH},
	[PROCESS_HOT] = {"hottest function", 10, TOP_FUNCTION, HOT_WIDTH},
	[PROCESS_COUNT] = {"count", 6, TOP_COUNT, 0},
};

static const struct top_column query_columns[] = {
	[QUERY_NAME] = {"query", 0, TOP_TEXT, 0},   [QUERY_ON_CPU] = {"on-cpu", 7, TOP_TIME, 0},
	[QUERY_OFF] = {"off-cpu", 7, TOP_TIME, 0},  [QUERY_COUNT] = {"count", 6, TOP_COUNT, 0},
	[QUERY_RATE] = {"rate/s", 6, TOP_COUNT, 0}, [QUERY_TOTAL] = {"total", 7, TOP_TIME, 0},
	[QUERY_SELF] = {"self", 7, TOP_TIME, 0},    [QUERY_MEAN] = {"mean", 7, TOP_TIME, 0},
};

static const struct top_column item_columns[] = {
	[ITEM_PATH] = {"item", 0, TOP_PATH, 0},
	[ITEM_ON_CPU] = {"on-cpu", 7, TOP_TIME, 0},
	[ITEM_COUNT] = {"count", 6, TOP_COUNT, 0},
	[ITEM_PLACE] = {"at", 0, TOP_SOURCE, AT_WIDTH},
	[ITEM_MOST] = {"most of it", 0, TOP_LABEL, 0},
};

static const struct top_column thread_columns[] = {
	[THREAD_NAME] = {"thread", 0, TOP_TEXT, 0},
	[THREAD_TID] = {"tid", 5, TOP_NUMBER, 0},
	[THREAD_COUNT] = {"count", 6, TOP_COUNT, 0},
	[THREAD_RATE] = {"rate/s", 6, TOP_COUNT, 0},
	[THREAD_ON_CPU] = {"on-cpu", 7, TOP_TIME, 0},
	[THREAD_OFF] = {"off-cpu", 7, TOP_TIME, 0},
	[THREAD_AGO] = {"ago", 7, TOP_TIME, 0},
	[THREAD_HOT] = {"hottest function", 10, TOP_FUNCTION, HOT_WIDTH},
	[THREAD_LAST] = {"last ended", 10, TOP_INTERVAL, LAST_WIDTH},
};

static const struct top_layout layouts[TOP_TABLES] = {
	[TOP_PROCESSES] = {"Processes", process_columns, N_OF(process_columns), PROCESS_ON_CPU, 0},
	[TOP_QUERIES] = {"Queries", query_columns, N_OF(query_columns), QUERY_ON_CPU, QUERY_KEPT},
	[TOP_ITEMS] = {"Items", item_columns, N_OF(item_columns), ITEM_ON_CPU, PATH_KEPT},
	[TOP_THREADS] = {"Threads", thread_columns, N_OF(thread_columns), THREAD_ON_CPU, 0},
};

const struct top_layout *top_layout(enum top_table table)
{
	return &layouts[table];
}

bool top_rows__has_column(const struct top_rows *rows, enum top_table table, size_t column)
{
	return rows->sampled || layouts[table].columns[column].kind != TOP_FUNCTION;
}

__attribute__((format(printf, 2, 3))) static void set_text(struct top_cell *cell, const char *fmt,
							   ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&cell->text, fmt, ap);
	va_end(ap);
	if (n < 0)
		cell->text = NULL;
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

/* ---- Samples --------------------------------------------------------------------------------- */

static uint64_t self_of(const struct samples_row *row)
{
	return row->sums.self[TRACE_SAMPLE_CPU].value;
}

/* Samples of a running thread that are older do not show what it does now. */
#define HOT_SHOWN_NS 5000000000ull

static bool find_hot(const struct top_data *data, const struct thread_row *thread,
		     struct hot_function *hot)
{
	const struct trace_process *p = summary__process_at(data->summary, thread->process);
	bool runs = !p->end_ns && data->source == TOP_RECORDING;

	return data->hot && hot_functions__of(data->hot, thread->process, thread->tid, hot) &&
	       !(runs && data->now_ns > hot->last_ns && data->now_ns - hot->last_ns > HOT_SHOWN_NS);
}

/* Without memory there is no text. */
static void set_hot(struct top_cell *cell, const struct top_data *data, uint32_t process,
		    const struct hot_function *hot)
{
	_llvm_doing_ struct llvm_doing doing = {};
	_free_ char *clean = NULL, *text = NULL;
	char buf[ITEM_TEXT_MAX];
	int err = -ENOENT; /* the thread was not in LLVM */

	/* LLVM's own functions do not say what it compiles. */
	if (hot->last_ns && data->llvm)
		err = llvm__doing(data->llvm, process, hot->tid, &doing);
	if (!err) {
		item_text(buf, SIZE_MAX, doing.what ?: "LLVM", doing.function);
		set_text(cell, "%s", buf);
	}
	if (err != -ENOENT)
		return;
	if (!hot->name)
		set_text(cell, "%s", "");
	else if (asprintf(&text, "%s %s", hot->part, hot->name) < 0)
		text = NULL;
	else if ((clean = format_clean(text)))
		set_text(cell, "%.*s", (int)format_fit(clean, TOP_CELL_MAX - 1), clean);
}

/* The samples of a recording, by process. */
struct sampled_rows {
	bool only; /* then by query, too */
	struct samples_row *at;
	size_t n;
	struct hot_function *hot; /* by process: of the thread that was sampled last */
};

static void sampled_rows__clear(struct sampled_rows *s)
{
	free(s->at);
	free(s->hot);
}

void top_data__span_build(struct top_data *data)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	uint32_t n = summary__n_processes(data->summary);

	for (uint32_t i = 0; i < n; i++) {
		const struct trace_process *p = summary__process_at(data->summary, i);
		uint64_t end = p->end_ns ?: data->now_ns;

		start_ns = p->start_ns < start_ns ? p->start_ns : start_ns;
		end_ns = end > end_ns ? end : end_ns;
	}
	if (n) {
		data->start_ns = start_ns;
		data->now_ns = end_ns;
	}
}

static int find_sampled(const struct top_data *data, struct sampled_rows *out)
{
	out->only = top_data__has_only_samples(data);
	out->hot = calloc(summary__n_processes(data->summary) + 1UL, sizeof(*out->hot));
	if (!out->hot)
		return -ENOMEM;
	for (uint32_t i = 0; data->hot && i < pivot__n_threads(data->threads); i++) {
		struct thread_row thread = pivot__thread_at(data->threads, i);
		struct hot_function hot;

		if (find_hot(data, &thread, &hot) &&
		    hot.last_ns >= out->hot[thread.process].last_ns)
			out->hot[thread.process] = hot;
	}
	return out->only ? samples__rows(data->samples, NULL, NULL, &out->at, &out->n) : 0;
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
	else if (p->kill == TRACE_KILL_MEMORY)
		set_text(cell, "no memory");
	else if (WIFSIGNALED(status))
		set_text(cell, "signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		set_text(cell, "exit %d", WEXITSTATUS(status));
	else
		set_text(cell, "done");
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

static int make_process(const struct top_data *data, const struct sampled_rows *sampled, uint32_t i,
			struct top_row *row)
{
	const struct trace_process *p = summary__process_at(data->summary, i);
	const struct sample_sum *sums = sampled->only ? samples__process(data->samples, i) : NULL;
	const struct top_now *now = top_now_of(data, p);
	const struct samples_row *most_sampled = NULL;
	_free_ struct summary_row *rows = NULL;
	_free_ char *name = compile_name(p), *clean = name ? format_clean(name) : NULL;
	uint64_t end = p->end_ns ?: data->now_ns;
	uint32_t most = TRACE_NO_STRING; /* the label that took most */
	char buf[ITEM_TEXT_MAX];
	size_t n = 0;
	int err = sampled->only ? 0 : summary__rows(data->summary, i, &rows, &n);

	if (err || !clean)
		return err ?: -ENOMEM;
	if (n)
		most = rows[0].label;
	for (size_t q = 0; q < n; q++) {
		row->events += summary_row__executions(&rows[q]);
		row->cells[PROCESS_ON_CPU].number += rows[q].self_cpu_ns;
	}
	if (sums) {
		row->events = sums[TRACE_SAMPLE_CPU].n;
		row->cells[PROCESS_ON_CPU].number = sums[TRACE_SAMPLE_CPU].value;
	}
	for (size_t q = 0; q < sampled->n; q++)
		if (sampled->at[q].process == i &&
		    (!most_sampled || self_of(&sampled->at[q]) > self_of(most_sampled)))
			most_sampled = &sampled->at[q];
	if (most_sampled)
		most = most_sampled->label;

	row->id = row->process = i;
	format_cut(clean, CRATE_WIDTH);
	set_text(&row->cells[PROCESS_NAME], "%s", clean);
	row->cells[PROCESS_PID].number = p->pid;
	set_state(&row->cells[PROCESS_STATE], p, data);
	row->cells[PROCESS_ELAPSED].number = end > p->start_ns ? end - p->start_ns : 0;
	row->cells[PROCESS_COUNT].number = row->events;
	set_hot(&row->cells[PROCESS_HOT], data, i, &sampled->hot[i]);
	if (now)
		item_text(buf, SIZE_MAX, now->name, now->item);
	else
		item_text(buf, SIZE_MAX, most == TRACE_NO_STRING ? "" : label_text(data, most),
			  NULL);
	set_text(&row->cells[PROCESS_TOP], "%s", buf);
	return 0;
}

static int make_processes(const struct top_data *data, uint32_t process, struct top_rows *out)
{
	__cleanup(sampled_rows__clear) struct sampled_rows sampled = {};
	uint32_t n = summary__n_processes(data->summary);
	int err = find_sampled(data, &sampled);

	(void)process;
	if (err)
		return err;
	out->at = calloc(n ?: 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && !err; i++)
		err = make_process(data, &sampled, i, &out->at[out->n++]);
	return err;
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* By samples there are shares of CPU time, and no executions. */
static int make_sampled_queries(const struct top_data *data, uint32_t process, struct top_rows *out)
{
	_free_ struct samples_row *rows = NULL;
	struct u64_map index_of = {};
	size_t n;
	int err = samples__rows(data->samples, NULL, NULL, &rows, &n);

	if (err)
		return err;
	out->at = calloc(n ?: 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (const struct samples_row *q = rows; n && q < rows + n && !err; q++) {
		uint32_t at = u64_map__get(&index_of, q->label);
		struct top_row *row = at == U64_MAP_NONE ? &out->at[out->n] : &out->at[at];

		if (process != SUMMARY_ALL && q->process != process)
			continue;
		if (at == U64_MAP_NONE) {
			err = u64_map__put(&index_of, q->label, (uint32_t)out->n++);
			row->id = q->label;
			row->process = process;
			set_text(&row->cells[QUERY_NAME], "%s", label_text(data, q->label));
			row->cells[QUERY_COUNT].number = TOP_UNKNOWN;
			row->cells[QUERY_OFF].number = row->cells[QUERY_MEAN].number = TOP_UNKNOWN;
			row->cells[QUERY_SELF].number = TOP_UNKNOWN;
		}
		row->events += q->sums.self[TRACE_SAMPLE_CPU].n;
		row->cells[QUERY_ON_CPU].number += self_of(q);
		row->cells[QUERY_TOTAL].number += q->sums.total[TRACE_SAMPLE_CPU].value;
	}
	u64_map__destroy(&index_of);
	return err;
}

static int make_queries(const struct top_data *data, uint32_t process, struct top_rows *out)
{
	_free_ struct summary_row *rows = NULL;
	size_t n;
	int err;

	if (top_data__has_only_samples(data))
		return make_sampled_queries(data, process, out);
	err = summary__rows(data->summary, process, &rows, &n);
	if (err)
		return err;
	out->at = calloc(n ?: 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (; out->n < n; out->n++) {
		const struct summary_row *q = &rows[out->n];
		bool sampled = q->self_by == SUMMARY_SELF_SAMPLES;
		struct top_row *row = &out->at[out->n];

		row->id = q->label;
		row->process = process;
		row->events = summary_row__executions(q);
		set_text(&row->cells[QUERY_NAME], "%s", label_text(data, q->label));
		row->cells[QUERY_ON_CPU].number = q->best_cpu_ns;
		row->cells[QUERY_ON_CPU].mark = report_self_mark(q->self_by);
		row->cells[QUERY_SELF].number = sampled ? TOP_UNKNOWN : q->self_ns;
		row->cells[QUERY_COUNT].number =
			sampled && !row->events ? TOP_UNKNOWN : row->events;
		row->cells[QUERY_TOTAL].number =
			sampled ? q->samples.total[TRACE_SAMPLE_CPU].value : q->total_ns;
		row->cells[QUERY_TOTAL].mark = sampled ? REPORT_ESTIMATE : NULL;
		row->cells[QUERY_OFF].number = sampled ? TOP_UNKNOWN : q->self_off_ns;
		row->cells[QUERY_MEAN].number = sampled ? TOP_UNKNOWN : summary_row__mean_ns(q);
	}
	return 0;
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Time about no item is much in each compile, and says little of all of them. */
static bool is_shown(const struct listed_item *item, uint32_t process)
{
	return process == SUMMARY_ALL ? item->item != TRACE_NO_STRING : item->process == process;
}

static int make_items(const struct top_data *data, uint32_t process, struct top_rows *out)
{
	uint32_t all = data->items ? data->items->n : 0, n = 0;

	for (uint32_t i = 0; i < all && n < TOP_ITEMS_MAX; i++)
		n += is_shown(&data->items->at[i], process);
	out->at = calloc(n ?: 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (const struct listed_item *item = n ? data->items->at : NULL; out->n < n; item++) {
		struct top_row *row = &out->at[out->n];

		if (!is_shown(item, process))
			continue;
		out->n++;
		row->id = (uint64_t)item->process << 32 | item->item;
		row->process = item->process;
		row->cells[ITEM_PATH].number = row->cells[ITEM_PLACE].number = item->item;
		row->cells[ITEM_ON_CPU].number = item->cpu_ns;
		row->cells[ITEM_ON_CPU].mark = item->sampled ? REPORT_ESTIMATE : NULL;
		row->cells[ITEM_COUNT].number = item->sampled ? TOP_UNKNOWN : item->executions;
		row->cells[ITEM_MOST].number = item->most.label;
	}
	return 0;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* The last interval, and what it was about: a codegen unit, a macro, an item. */
static void set_last(struct top_cell *cell, const struct top_data *data,
		     const struct thread_row *thread)
{
	const struct trace_span last = {
		.process = thread->process,
		.invocation = thread->last_invocation,
	};
	const char *event = data->reader ? trace_reader__event(data->reader, &last) : NULL;
	char buf[ITEM_TEXT_MAX] = "";

	if (event && (!strcmp(event, "()") || !strcmp(event, "<unknown>")))
		event = NULL;
	if (thread->last_label != TRACE_NO_STRING)
		item_text(buf, SIZE_MAX, label_text(data, thread->last_label), event);
	set_text(cell, "%s", buf);
}

static void make_thread(const struct top_data *data, const struct thread_row *thread, bool alone,
			struct top_row *row)
{
	const struct trace_process *p = summary__process_at(data->summary, thread->process);
	const char *name = thread->name ?: "<unnamed>";
	_free_ char *of = alone ? NULL : compile_name(p);
	struct hot_function hot;

	row->id = (uint64_t)thread->process << 32 | thread->tid;
	row->process = thread->process;
	row->events = thread->count;
	if (alone)
		set_text(&row->cells[THREAD_NAME], "%s", name);
	else if (of)
		set_text(&row->cells[THREAD_NAME], "%s: %s", of, name);
	row->cells[THREAD_TID].number = thread->tid;
	row->cells[THREAD_COUNT].number = thread->count;
	row->cells[THREAD_ON_CPU].number = thread->cpu_ns;
	row->cells[THREAD_OFF].number = thread->self_off_ns;
	row->cells[THREAD_AGO].number = TOP_UNKNOWN;
	if (!find_hot(data, thread, &hot))
		hot = (struct hot_function){0};
	set_hot(&row->cells[THREAD_HOT], data, thread->process, &hot);
	set_last(&row->cells[THREAD_LAST], data, thread);
	if (top_data__has_only_samples(data)) {
		row->cells[THREAD_ON_CPU].number =
			data->hot ? hot_functions__cpu_ns(data->hot, thread->process, thread->tid)
				  : 0;
		row->cells[THREAD_OFF].number = TOP_UNKNOWN;
	}
	if (thread->last_label != TRACE_NO_STRING)
		row->cells[THREAD_AGO].number =
			data->now_ns > thread->last_ns ? data->now_ns - thread->last_ns : 0;
}

static int make_threads(const struct top_data *data, uint32_t process, struct top_rows *out)
{
	uint32_t n = pivot__n_threads(data->threads);

	out->at = calloc(n ?: 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct thread_row thread = pivot__thread_at(data->threads, i);

		if (process != SUMMARY_ALL && thread.process != process)
			continue;
		make_thread(data, &thread, process != SUMMARY_ALL, &out->at[out->n++]);
	}
	return 0;
}

/* ---- All of them ----------------------------------------------------------------------------- */

#define NO_COLUMN SIZE_MAX

/* A text that was set is there, even if it is empty. */
static bool has_all_texts(const struct top_row *row, const struct top_layout *layout)
{
	for (size_t c = 0; c < layout->n; c++) {
		enum top_kind kind = layout->columns[c].kind;

		if ((kind == TOP_TEXT || kind == TOP_INTERVAL || kind == TOP_FUNCTION) &&
		    !row->cells[c].text)
			return false;
	}
	return true;
}

int top_rows__make(const struct top_data *data, enum top_table table, uint32_t process,
		   struct top_past *past, struct top_rows *out)
{
	static const struct {
		int (*make)(const struct top_data *, uint32_t, struct top_rows *);
		size_t rate; /* its column */
	} tables[] = {
		[TOP_PROCESSES] = {make_processes, PROCESS_RATE},
		[TOP_QUERIES] = {make_queries, QUERY_RATE},
		[TOP_ITEMS] = {make_items, NO_COLUMN},
		[TOP_THREADS] = {make_threads, THREAD_RATE},
	};
	struct top_rows rows = {.names = data->names, .sampled = data->samples != NULL};
	int err = tables[table].make(data, process, &rows);
	size_t rate = tables[table].rate;

	for (size_t i = 0; i < rows.n && !err; i++) {
		if (!has_all_texts(&rows.at[i], &layouts[table]))
			err = -ENOMEM;
		if (rate != NO_COLUMN)
			rows.at[i].cells[rate].number = rate_of(&rows.at[i], past, data->now_ns);
	}
	if (err)
		top_rows__clear(&rows);
	else
		*out = rows;
	return err;
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

void top_past__clear(struct top_past *past)
{
	table__destroy(&past->events);
	past->time_ns = 0;
}
