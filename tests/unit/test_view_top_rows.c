// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/top_rows.h"

#include "../fixtures/llvm_build.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/temporary.h"
#include "../fixtures/top_data.h"
#include "trace/writer.h"

static void assert_cell(const struct top_rows *rows, enum top_table table, size_t row,
			const char *title, const char *want)
{
	const struct top_layout *layout = top_layout(table);
	char got[TOP_CELL_MAX] = "no such column";

	assert_true(row < rows->n);
	for (size_t i = 0; i < layout->n; i++) {
		if (!strcmp(layout->columns[i].title, title))
			top_rows__show(rows, row, table, i, got);
	}
	assert_string_equal(got, want);
}

static size_t column_of(enum top_table table, const char *title)
{
	const struct top_layout *layout = top_layout(table);
	size_t i = 0;

	while (i < layout->n && strcmp(layout->columns[i].title, title) != 0)
		i++;
	assert_true(i < layout->n);
	return i;
}

TEST_CASE(ends_of_processes_are_reported)
{
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	assert_int_equal(top_rows__make(&w.data, TOP_PROCESSES, SUMMARY_ALL, NULL, &rows), 0);
	assert_int_equal(rows.n, 3);
	assert_cell(&rows, TOP_PROCESSES, 0, "crate", "regex_syntax");
	assert_cell(&rows, TOP_PROCESSES, 0, "pid", "4711");
	assert_cell(&rows, TOP_PROCESSES, 0, "state", "exit 1");
	assert_cell(&rows, TOP_PROCESSES, 0, "elapsed", "800 ns");
	assert_cell(&rows, TOP_PROCESSES, 0, "on-cpu", "1.00 ms");
	assert_cell(&rows, TOP_PROCESSES, 0, "rate/s", "-");
	assert_cell(&rows, TOP_PROCESSES, 0, "now, or top query", "typeck");
	assert_cell(&rows, TOP_PROCESSES, 0, "count", "3");
	assert_cell(&rows, TOP_PROCESSES, 1, "state", "signal 9");
	assert_cell(&rows, TOP_PROCESSES, 2, "crate", "rustc --crate-name x");
	assert_cell(&rows, TOP_PROCESSES, 2, "state", "running");
	assert_cell(&rows, TOP_PROCESSES, 2, "elapsed", "3.00 s");
	top_rows__clear(&rows);

	w.data.source = TOP_UNFINISHED;
	assert_int_equal(top_rows__make(&w.data, TOP_PROCESSES, SUMMARY_ALL, NULL, &rows), 0);
	assert_cell(&rows, TOP_PROCESSES, 2, "state", "unknown");
	top_rows__clear(&rows);
}

TEST_CASE(what_is_over_has_the_span_of_the_build)
{
	_top_world_ struct top_world w;
	uint64_t start_ns = UINT64_MAX, n;

	top_world_make(&w);
	n = summary__n_processes(w.summary);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t of = summary__process_at(w.summary, i)->start_ns;

		start_ns = of < start_ns ? of : start_ns;
	}
	w.data.start_ns = start_ns > 5 ? start_ns - 5 : 0;
	/* The third has no end. */
	top_data__span_build(&w.data);
	assert_int_equal(w.data.start_ns, start_ns);
	assert_int_equal(w.data.now_ns, 3 * TOP_SECOND);
}

TEST_CASE(a_process_that_runs_shows_what_it_is_in)
{
	static const struct top_nows nows = {
		.n = 3,
		.at = {{1, "other", ""}, {4713, "typeck", "x::y"}, {4711, "old", "x"}},
	};
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	w.data.now = &nows;
	assert_int_equal(top_rows__make(&w.data, TOP_PROCESSES, SUMMARY_ALL, NULL, &rows), 0);
	assert_cell(&rows, TOP_PROCESSES, 2, "now, or top query", "typeck(x::y)");
	/* It has ended. */
	assert_cell(&rows, TOP_PROCESSES, 0, "now, or top query", "typeck");
	top_rows__clear(&rows);
	w.data.source = TOP_UNFINISHED;
	assert_null(top_now_of(&w.data, summary__process_at(w.summary, 2)));
}

TEST_CASE(a_process_without_a_crate_has_its_command)
{
	const struct trace_process asked = {
		.index = 3,
		.command = (char *)"/opt/rust/bin/rustc -o a/b",
	};
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	assert_int_equal(summary__process(w.summary, &asked), 0);
	assert_int_equal(top_rows__make(&w.data, TOP_PROCESSES, SUMMARY_ALL, NULL, &rows), 0);
	assert_cell(&rows, TOP_PROCESSES, 3, "crate", "rustc -o a/b");
	top_rows__clear(&rows);
}

TEST_CASE(queries_are_of_one_process_or_of_all)
{
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	assert_int_equal(top_rows__make(&w.data, TOP_QUERIES, SUMMARY_ALL, NULL, &rows), 0);
	assert_int_equal(rows.n, 3);
	assert_cell(&rows, TOP_QUERIES, 0, "query", "typeck");
	assert_cell(&rows, TOP_QUERIES, 0, "on-cpu", "4.00 ms");
	assert_cell(&rows, TOP_QUERIES, 0, "count", "2");
	top_rows__clear(&rows);
	assert_int_equal(top_rows__make(&w.data, TOP_QUERIES, 0, NULL, &rows), 0);
	assert_int_equal(rows.n, 2);
	assert_cell(&rows, TOP_QUERIES, 0, "on-cpu", "1.00 ms");
	assert_cell(&rows, TOP_QUERIES, 1, "mean", "1.00 us");
	top_rows__clear(&rows);
}

TEST_CASE(items_are_of_one_process_or_of_all)
{
	struct item_list list = {};
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	assert_int_equal(top_rows__make(&w.data, TOP_ITEMS, SUMMARY_ALL, NULL, &rows), 0);
	assert_int_equal(rows.n, 0);
	top_rows__clear(&rows);
	top_world_items(&w, &list);
	assert_int_equal(top_rows__make(&w.data, TOP_ITEMS, SUMMARY_ALL, NULL, &rows), 0);
	/* All but what is about none. */
	assert_int_equal(rows.n, 5);
	assert_cell(&rows, TOP_ITEMS, 0, "item", "app::shapes::{{impl}}[1]::grow");
	assert_cell(&rows, TOP_ITEMS, 0, "on-cpu", "5.00 ms");
	assert_cell(&rows, TOP_ITEMS, 0, "count", "1");
	assert_cell(&rows, TOP_ITEMS, 0, "at", "link:7");
	assert_cell(&rows, TOP_ITEMS, 0, "most of it", "mir_borrowck");
	assert_cell(&rows, TOP_ITEMS, 1, "item", "app::shapes::area");
	assert_int_equal(rows.at[1].process, 1);
	assert_cell(&rows, TOP_ITEMS, 2, "item", "app::shapes::area");
	assert_int_equal(rows.at[2].process, 0);
	assert_cell(&rows, TOP_ITEMS, 3, "at", "");
	assert_true(top_rows__has(&rows, 0, TOP_ITEMS, "SHAPES"));
	assert_false(top_rows__has(&rows, 3, TOP_ITEMS, "shapes"));
	top_rows__clear(&rows);
	assert_int_equal(top_rows__make(&w.data, TOP_ITEMS, 0, NULL, &rows), 0);
	assert_int_equal(rows.n, 4);
	assert_cell(&rows, TOP_ITEMS, 0, "item", "(no item)");
	assert_cell(&rows, TOP_ITEMS, 0, "at", "");
	top_rows__sort(&rows, TOP_ITEMS, column_of(TOP_ITEMS, "item"), false);
	assert_cell(&rows, TOP_ITEMS, 0, "item", "(no item)");
	assert_cell(&rows, TOP_ITEMS, 1, "item", "app");
	assert_cell(&rows, TOP_ITEMS, 2, "item", "app::shapes::area");
	top_rows__sort(&rows, TOP_ITEMS, column_of(TOP_ITEMS, "at"), true);
	assert_cell(&rows, TOP_ITEMS, 0, "at", "link:12");
	assert_cell(&rows, TOP_ITEMS, 1, "at", "link:7");
	top_rows__clear(&rows);
	item_list__clear(&list);
}

TEST_CASE(items_of_samples_have_no_counts)
{
	struct listed_item item = {.cpu_ns = 2000000, .item = SI_FUNCTION, .sampled = true};
	struct item_list list = {.at = &item, .n = 1};
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	w.data.names = &top_item_texts;
	w.data.items = &list;
	assert_int_equal(top_rows__make(&w.data, TOP_ITEMS, 0, NULL, &rows), 0);
	assert_cell(&rows, TOP_ITEMS, 0, "on-cpu", "~2.00 ms");
	assert_cell(&rows, TOP_ITEMS, 0, "count", "-");
	top_rows__clear(&rows);
}

static const char *long_text(const void *ctx, uint32_t id)
{
	static char text[2 * TOP_CELL_MAX];

	memset(text, 'a', sizeof(text) - 1);
	memcpy(text + sizeof(text) - 6, "::end", 6);
	return text;
}

TEST_CASE(of_a_path_the_end_is_shown)
{
	static const struct trace_texts texts = {.text = long_text};
	struct item_list list = {};
	struct top_rows rows;
	char got[TOP_CELL_MAX];
	_top_world_ struct top_world w;

	top_world_make(&w);
	top_world_items(&w, &list);
	w.data.names = &texts;
	assert_int_equal(top_rows__make(&w.data, TOP_ITEMS, 1, NULL, &rows), 0);
	top_rows__show(&rows, 0, TOP_ITEMS, 0, got);
	assert_int_equal(strlen(got), TOP_CELL_MAX - 1);
	assert_string_equal(got + strlen(got) - 5, "::end");
	top_rows__clear(&rows);
	item_list__clear(&list);
}

TEST_CASE(threads_name_their_process_only_among_others)
{
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	assert_int_equal(top_rows__make(&w.data, TOP_THREADS, SUMMARY_ALL, NULL, &rows), 0);
	assert_int_equal(rows.n, 3);
	assert_cell(&rows, TOP_THREADS, 0, "thread", "regex_syntax: rustc");
	assert_cell(&rows, TOP_THREADS, 2, "thread", "serde: <unnamed>");
	top_rows__clear(&rows);
	assert_int_equal(top_rows__make(&w.data, TOP_THREADS, 0, NULL, &rows), 0);
	assert_int_equal(rows.n, 2);
	assert_cell(&rows, TOP_THREADS, 0, "thread", "rustc");
	assert_cell(&rows, TOP_THREADS, 0, "tid", "10");
	assert_cell(&rows, TOP_THREADS, 0, "ago", "2.00 s");
	assert_cell(&rows, TOP_THREADS, 0, "last ended", "layout_of");
	top_rows__clear(&rows);
}

/* A trace of one process whose invocation ids 1 to 3 stand for these texts. */
static struct trace_reader *named(const char *const texts[3])
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	const struct trace_process p = {.pid = 1};
	struct trace_mapping m = {.first = 1, .n = 1};
	_trace_writer_ struct trace_writer *w = NULL;
	char path[] = "/tmp/qprof-top-XXXXXX.qpt";
	struct trace_reader *r = NULL;

	temporary_name(path);
	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	assert_int_equal(trace_writer__process(w, &p), 0);
	for (int i = 0; i < 3; i++, m.first++) {
		assert_int_equal(trace_writer__intern(w, texts[i], &m.string), 0);
		assert_int_equal(trace_writer__map(w, &m), 0);
	}
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(path, &r, NULL), 0);
	unlink(path);
	return r;
}

TEST_CASE(the_last_interval_has_its_argument)
{
	static const char *const texts[] = {"app.1-cgu.0", "()", ""};
	static const struct {
		uint32_t invocation;
		const char *want;
	} cases[] = {
		{1, "layout_of(app.1-cgu.0)"},
		{2, "layout_of"},
		{3, "layout_of"},
		{4, "layout_of"}, /* it has no text */
		{TRACE_NO_INVOCATION, "layout_of"},
	};
	_trace_reader_ struct trace_reader *r = named(texts);
	_top_world_ struct top_world w;

	top_world_make(&w);
	w.data.reader = r;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct trace_span span = {
			.tid = 10,
			.end_ns = 1,
			.label = SAMPLE_LAYOUT_OF,
			.invocation = cases[i].invocation,
		};
		struct top_rows rows;

		assert_int_equal(pivot__span(w.threads, &span, &(struct trace_times){}), 0);
		assert_int_equal(top_rows__make(&w.data, TOP_THREADS, 0, NULL, &rows), 0);
		assert_cell(&rows, TOP_THREADS, 0, "last ended", cases[i].want);
		top_rows__clear(&rows);
	}
}

/* The trace of sampled_build.h has no intervals: all numbers are those of samples. */
static struct top_data sampled_data(const struct sampled_build *b)
{
	return (struct top_data){
		.summary = b->model.summary,
		.threads = b->model.threads,
		.samples = b->model.samples,
		.hot = b->model.hot,
		.names = &b->model.options.texts,
		.source = TOP_FINISHED,
		.now_ns = 400000000,
	};
}

TEST_CASE(samples_alone_have_rows)
{
	_sampled_build_ struct sampled_build b;
	struct top_data data;
	struct top_rows rows;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	data = sampled_data(&b);
	assert_int_equal(top_rows__make(&data, TOP_PROCESSES, SUMMARY_ALL, NULL, &rows), 0);
	assert_cell(&rows, TOP_PROCESSES, 0, "crate", "app (bin)");
	assert_cell(&rows, TOP_PROCESSES, 0, "on-cpu", "48.0 ms");
	assert_cell(&rows, TOP_PROCESSES, 0, "now, or top query", "typeck");
	assert_cell(&rows, TOP_PROCESSES, 1, "now, or top query", "analysis");
	assert_cell(&rows, TOP_PROCESSES, 1, "hottest function",
		    "rustc_interface passes::analysis");
	top_rows__clear(&rows);
	assert_int_equal(top_rows__make(&data, TOP_QUERIES, SUMMARY_ALL, NULL, &rows), 0);
	top_rows__sort(&rows, TOP_QUERIES, column_of(TOP_QUERIES, "on-cpu"), false);
	assert_cell(&rows, TOP_QUERIES, 0, "query", "typeck");
	assert_cell(&rows, TOP_QUERIES, 0, "on-cpu", "18.0 ms");
	assert_cell(&rows, TOP_QUERIES, 0, "count", "-");
	assert_cell(&rows, TOP_QUERIES, 0, "mean", "-");
	assert_int_equal(rows.at[0].events, 9);
	top_rows__clear(&rows);
	assert_int_equal(top_rows__make(&data, TOP_QUERIES, 1, NULL, &rows), 0);
	assert_int_equal(rows.n, 1);
	assert_cell(&rows, TOP_QUERIES, 0, "query", "analysis");
	assert_cell(&rows, TOP_QUERIES, 0, "total", "8.00 ms");
	top_rows__clear(&rows);
}

static uint32_t label_of(const struct model *m, const char *name)
{
	_free_ struct summary_row *rows = NULL;
	uint32_t label = TRACE_NO_STRING;
	size_t n;

	assert_int_equal(summary__rows(m->summary, SUMMARY_ALL, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(m->options.texts.text(m->options.texts.ctx, rows[i].label), name))
			label = rows[i].label;
	return label;
}

/* As a report has them, after each update: estimates are marked, and the unknown is no 0. */
/* The time of an interval may be that of queries, so that only samples tell it. */
TEST_CASE(queries_without_probes_are_among_passes)
{
	_sampled_build_ struct sampled_build b;
	struct trace_item span = {
		.kind = TRACE_ITEM_SPAN,
		.span = {.end_ns = 15000000, .kind = TRACE_KIND_ACTIVITY},
	};
	struct top_data data;
	struct top_rows rows;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	span.span.label = label_of(&b.model, "analysis");
	assert_int_equal(model__item(&b.model, &span), 0);
	data = sampled_data(&b);
	for (int update = 0; update < 2; update++) {
		assert_int_equal(model__show_samples(&b.model), 0);
		assert_int_equal(top_rows__make(&data, TOP_QUERIES, SUMMARY_ALL, NULL, &rows), 0);
		assert_cell(&rows, TOP_QUERIES, 0, "query", "typeck");
		assert_cell(&rows, TOP_QUERIES, 0, "on-cpu", "~18.0 ms");
		assert_cell(&rows, TOP_QUERIES, 0, "off-cpu", "-");
		assert_cell(&rows, TOP_QUERIES, 0, "self", "-");
		assert_cell(&rows, TOP_QUERIES, 0, "count", "1.23k");
		assert_cell(&rows, TOP_QUERIES, 1, "query", "analysis");
		assert_cell(&rows, TOP_QUERIES, 1, "on-cpu", "~10.0 ms");
		top_rows__clear(&rows);
	}
}

TEST_CASE(sampled_threads_show_their_hottest_function)
{
	_sampled_build_ struct sampled_build b;
	struct top_data data;
	struct top_rows rows;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	data = sampled_data(&b);
	assert_int_equal(top_rows__make(&data, TOP_THREADS, 0, NULL, &rows), 0);
	assert_cell(&rows, TOP_THREADS, 0, "thread", "rustc");
	assert_cell(&rows, TOP_THREADS, 0, "on-cpu", "32.0 ms");
	assert_cell(&rows, TOP_THREADS, 0, "off-cpu", "-");
	assert_cell(&rows, TOP_THREADS, 0, "hottest function",
		    "rustc_hir_typeck FnCtxt::check_expr");
	assert_true(top_rows__has_column(&rows, TOP_THREADS,
					 column_of(TOP_THREADS, "hottest function")));
	top_rows__clear(&rows);
	/* Without samples there is no such column. */
	data.samples = NULL;
	data.hot = NULL;
	assert_int_equal(top_rows__make(&data, TOP_THREADS, 0, NULL, &rows), 0);
	assert_cell(&rows, TOP_THREADS, 0, "hottest function", "");
	assert_false(top_rows__has_column(&rows, TOP_THREADS,
					  column_of(TOP_THREADS, "hottest function")));
	assert_true(top_rows__has_column(&rows, TOP_THREADS, column_of(TOP_THREADS, "last ended")));
	top_rows__clear(&rows);
}

/* Instead of one of LLVM's own functions: what it compiles. */
TEST_CASE(threads_in_llvm_show_its_pass_and_function)
{
	static const char *const titles[] = {"hottest function"};
	_sampled_build_ struct sampled_build b = {};
	struct top_data data;
	struct top_rows rows;

	llvm_build__make(&b, MODEL_THREADS | MODEL_HOT, true);
	data = (struct top_data){
		.summary = b.model.summary,
		.threads = b.model.threads,
		.samples = b.model.samples,
		.hot = b.model.hot,
		.llvm = b.model.llvm,
		.names = &b.model.options.texts,
		.source = TOP_FINISHED,
		.now_ns = 400000000,
	};
	assert_int_equal(top_rows__make(&data, TOP_THREADS, SUMMARY_ALL, NULL, &rows), 0);
	top_rows__sort(&rows, TOP_THREADS, column_of(TOP_THREADS, "tid"), true);
	assert_int_equal(rows.n, 2);
	assert_cell(&rows, TOP_THREADS, 0, titles[0], "InstCombine(app::small::s99)");
	assert_cell(&rows, TOP_THREADS, 1, titles[0], "GVN(<u8 as s::Name>::name)");
	top_rows__clear(&rows);
	assert_int_equal(top_rows__make(&data, TOP_PROCESSES, SUMMARY_ALL, NULL, &rows), 0);
	assert_cell(&rows, TOP_PROCESSES, 0, titles[0], "InstCombine(app::small::s99)");
	top_rows__clear(&rows);
	/* Of a compiler that runs, what it did long ago says nothing. */
	data.source = TOP_RECORDING;
	data.now_ns = 3600ull * TOP_SECOND;
	assert_int_equal(top_rows__make(&data, TOP_THREADS, SUMMARY_ALL, NULL, &rows), 0);
	assert_cell(&rows, TOP_THREADS, 0, titles[0], "InstCombine(app::small::s99)");
	top_rows__clear(&rows);
	data.source = TOP_FINISHED;
	data.llvm = NULL;
	assert_int_equal(top_rows__make(&data, TOP_THREADS, SUMMARY_ALL, NULL, &rows), 0);
	top_rows__sort(&rows, TOP_THREADS, column_of(TOP_THREADS, "tid"), true);
	assert_cell(&rows, TOP_THREADS, 1, titles[0], "LLVM PassManagerImpl::run");
	top_rows__clear(&rows);
}

TEST_CASE(rates_are_since_the_past)
{
	struct top_rows before, after;
	struct top_past past = {};
	_top_world_ struct top_world w;

	top_world_make(&w);
	assert_int_equal(top_rows__make(&w.data, TOP_QUERIES, SUMMARY_ALL, NULL, &before), 0);
	assert_int_equal(top_past__set(&past, &before, w.data.now_ns), 0);
	for (int i = 0; i < 10; i++)
		sample_span(w.summary, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	/* No time has passed. */
	assert_int_equal(top_rows__make(&w.data, TOP_QUERIES, SUMMARY_ALL, &past, &after), 0);
	assert_cell(&after, TOP_QUERIES, 1, "rate/s", "-");
	top_rows__clear(&after);
	w.data.now_ns += 2 * TOP_SECOND;
	assert_int_equal(top_rows__make(&w.data, TOP_QUERIES, SUMMARY_ALL, &past, &after), 0);
	assert_cell(&after, TOP_QUERIES, 0, "rate/s", "0");
	assert_cell(&after, TOP_QUERIES, 1, "rate/s", "5");
	top_rows__clear(&before);
	top_rows__clear(&after);
	top_past__clear(&past);
}

TEST_CASE(the_largest_and_the_first_letter_come_first)
{
	size_t name = column_of(TOP_THREADS, "thread"), self = column_of(TOP_THREADS, "on-cpu");
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	assert_int_equal(top_rows__make(&w.data, TOP_THREADS, SUMMARY_ALL, NULL, &rows), 0);
	top_rows__sort(&rows, TOP_THREADS, self, false);
	assert_cell(&rows, TOP_THREADS, 0, "on-cpu", "9.00 us");
	assert_cell(&rows, TOP_THREADS, 2, "on-cpu", "2.00 us");
	top_rows__sort(&rows, TOP_THREADS, self, true);
	assert_cell(&rows, TOP_THREADS, 0, "on-cpu", "2.00 us");
	top_rows__sort(&rows, TOP_THREADS, name, false);
	assert_cell(&rows, TOP_THREADS, 0, "thread", "regex_syntax: <unnamed>");
	assert_cell(&rows, TOP_THREADS, 2, "thread", "serde: <unnamed>");
	/* An unknown value sorts below 0. */
	rows.at[0].cells[self].number = TOP_UNKNOWN;
	rows.at[1].cells[self].number = 0;
	top_rows__sort(&rows, TOP_THREADS, self, false);
	assert_cell(&rows, TOP_THREADS, 1, "on-cpu", "0 ns");
	assert_cell(&rows, TOP_THREADS, 2, "on-cpu", "-");
	top_rows__clear(&rows);
}

TEST_CASE(names_and_numbers_are_looked_through)
{
	struct top_rows rows;
	_top_world_ struct top_world w;

	top_world_make(&w);
	assert_int_equal(top_rows__make(&w.data, TOP_PROCESSES, SUMMARY_ALL, NULL, &rows), 0);
	assert_true(top_rows__has(&rows, 0, TOP_PROCESSES, ""));
	assert_true(top_rows__has(&rows, 0, TOP_PROCESSES, "SYNTAX"));
	assert_true(top_rows__has(&rows, 0, TOP_PROCESSES, "471"));
	assert_false(top_rows__has(&rows, 1, TOP_PROCESSES, "syntax"));
	/* States are not searched. */
	assert_false(top_rows__has(&rows, 0, TOP_PROCESSES, "exit"));
	top_rows__clear(&rows);
}

TEST_MAIN(NULL, NULL)
