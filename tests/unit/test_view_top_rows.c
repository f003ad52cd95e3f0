// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/top_rows.h"

#include "../fixtures/llvm_build.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/temporary.h"
#include "../fixtures/top_data.h"
#include "trace/writer.h"

/* The data of a test, and the last rows that were made of it. */
struct rows_test {
	struct top_world world;
	struct top_rows rows;
	enum top_table table;
};

static int begin(void **state)
{
	struct rows_test *t = calloc(1, sizeof(*t));

	top_world_make(&t->world);
	*state = t;
	return 0;
}

static int end(void **state)
{
	struct rows_test *t = *state;

	top_rows__clear(&t->rows);
	top_world_free(&t->world);
	free(t);
	return 0;
}

#define CASE(name) TEST_CASE_OF(name, begin, end, struct rows_test *t)

static void make_of(struct rows_test *t, const struct top_data *data, enum top_table table,
		    uint32_t process)
{
	top_rows__clear(&t->rows);
	t->table = table;
	assert_int_equal(top_rows__make(data, table, process, NULL, &t->rows), 0);
}

static void make(struct rows_test *t, enum top_table table, uint32_t process)
{
	make_of(t, &t->world.data, table, process);
}

static size_t column_of(enum top_table table, const char *title)
{
	const struct top_layout *layout = top_layout(table);
	size_t i = 0;

	while (i < layout->n && strcmp(layout->columns[i].title, title) != 0)
		i++;
	if (i == layout->n)
		fail_msg("no column %s", title);
	return i;
}

static void sort(struct rows_test *t, const char *title, bool reverse)
{
	top_rows__sort(&t->rows, t->table, column_of(t->table, title), reverse);
}

/* The titles of columns and what a row has there, in turn. */
#define assert_cells(t, row, ...) cells_check(t, row, (const char *const[]){__VA_ARGS__, NULL})

static void cells_check(struct rows_test *t, size_t row, const char *const *cells)
{
	char got[TOP_CELL_MAX];

	assert_true(row < t->rows.n);
	for (; *cells; cells += 2) {
		top_rows__show(&t->rows, row, t->table, column_of(t->table, cells[0]), got);
		if (strcmp(got, cells[1]) != 0)
			fail_msg("row %zu, %s: %s, not %s", row, cells[0], got, cells[1]);
	}
}

CASE(ends_of_processes_are_reported)
{
	make(t, TOP_PROCESSES, SUMMARY_ALL);
	assert_int_equal(t->rows.n, 3);
	assert_cells(t, 0, "crate", "regex_syntax", "pid", "4711", "state", "exit 1", "elapsed",
		     "800 ns", "on-cpu", "1.00 ms", "rate/s", "-", "now, or top query", "typeck",
		     "count", "3");
	assert_cells(t, 1, "state", "signal 9");
	assert_cells(t, 2, "crate", "rustc --crate-name x", "state", "running", "elapsed",
		     "3.00 s");
	t->world.data.source = TOP_UNFINISHED;
	make(t, TOP_PROCESSES, SUMMARY_ALL);
	assert_cells(t, 2, "state", "unknown");
}

CASE(what_is_over_has_the_span_of_the_build)
{
	struct top_data *data = &t->world.data;
	uint64_t start_ns = UINT64_MAX, n = summary__n_processes(data->summary);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t of = summary__process_at(data->summary, i)->start_ns;

		start_ns = of < start_ns ? of : start_ns;
	}
	data->start_ns = start_ns > 5 ? start_ns - 5 : 0;
	/* The third has no end. */
	top_data__span_build(data);
	assert_struct(*data, start_ns, start_ns, now_ns, 3 * TOP_SECOND);
}

CASE(a_process_that_runs_shows_what_it_is_in)
{
	static const struct top_nows nows = {
		.n = 3,
		.at = {{1, "other", ""}, {4713, "typeck", "x::y"}, {4711, "old", "x"}},
	};

	t->world.data.now = &nows;
	make(t, TOP_PROCESSES, SUMMARY_ALL);
	assert_cells(t, 2, "now, or top query", "typeck(x::y)");
	/* It has ended. */
	assert_cells(t, 0, "now, or top query", "typeck");
	t->world.data.source = TOP_UNFINISHED;
	assert_null(top_now_of(&t->world.data, summary__process_at(t->world.summary, 2)));
}

CASE(a_process_without_a_crate_has_its_command)
{
	const struct trace_process asked = {.index = 3,
					    .command = (char *)"/opt/rust/bin/rustc -o a/b"};

	assert_int_equal(summary__process(t->world.summary, &asked), 0);
	make(t, TOP_PROCESSES, SUMMARY_ALL);
	assert_cells(t, 3, "crate", "rustc -o a/b");
}

CASE(queries_are_of_one_process_or_of_all)
{
	make(t, TOP_QUERIES, SUMMARY_ALL);
	assert_int_equal(t->rows.n, 3);
	assert_cells(t, 0, "query", "typeck", "on-cpu", "4.00 ms", "count", "2");
	make(t, TOP_QUERIES, 0);
	assert_int_equal(t->rows.n, 2);
	assert_cells(t, 0, "on-cpu", "1.00 ms");
	assert_cells(t, 1, "mean", "1.00 us");
}

CASE(items_are_of_one_process_or_of_all)
{
	struct item_list list = {};

	make(t, TOP_ITEMS, SUMMARY_ALL);
	assert_int_equal(t->rows.n, 0);
	top_world_items(&t->world, &list);
	make(t, TOP_ITEMS, SUMMARY_ALL);
	/* All but what is about none. */
	assert_int_equal(t->rows.n, 5);
	assert_cells(t, 0, "item", "app::shapes::{{impl}}[1]::grow", "on-cpu", "5.00 ms", "count",
		     "1", "at", "link:7", "most of it", "mir_borrowck");
	assert_cells(t, 1, "item", "app::shapes::area");
	assert_cells(t, 2, "item", "app::shapes::area");
	assert_struct(t->rows, at[1].process, 1, at[2].process, 0);
	assert_cells(t, 3, "at", "");
	assert_true(top_rows__has(&t->rows, 0, TOP_ITEMS, "SHAPES"));
	assert_false(top_rows__has(&t->rows, 3, TOP_ITEMS, "shapes"));
	make(t, TOP_ITEMS, 0);
	assert_int_equal(t->rows.n, 4);
	assert_cells(t, 0, "item", "(no item)", "at", "");
	sort(t, "item", false);
	assert_cells(t, 0, "item", "(no item)");
	assert_cells(t, 1, "item", "app");
	assert_cells(t, 2, "item", "app::shapes::area");
	sort(t, "at", true);
	assert_cells(t, 0, "at", "link:12");
	assert_cells(t, 1, "at", "link:7");
	item_list__clear(&list);
}

CASE(items_of_samples_have_no_counts)
{
	struct listed_item item = {.cpu_ns = 2000000, .item = SI_FUNCTION, .sampled = true};
	struct item_list list = {.at = &item, .n = 1};

	t->world.data.names = &top_item_texts;
	t->world.data.items = &list;
	make(t, TOP_ITEMS, 0);
	assert_cells(t, 0, "on-cpu", "~2.00 ms", "count", "-");
}

static const char *long_text(const void *ctx, uint32_t id)
{
	static char text[2 * TOP_CELL_MAX];

	memset(text, 'a', sizeof(text) - 1);
	memcpy(text + sizeof(text) - 6, "::end", 6);
	return text;
}

CASE(of_a_path_the_end_is_shown)
{
	static const struct trace_texts texts = {.text = long_text};
	struct item_list list = {};
	char got[TOP_CELL_MAX];

	top_world_items(&t->world, &list);
	t->world.data.names = &texts;
	make(t, TOP_ITEMS, 1);
	top_rows__show(&t->rows, 0, TOP_ITEMS, 0, got);
	assert_int_equal(strlen(got), TOP_CELL_MAX - 1);
	assert_string_equal(got + strlen(got) - 5, "::end");
	item_list__clear(&list);
}

CASE(threads_name_their_process_only_among_others)
{
	make(t, TOP_THREADS, SUMMARY_ALL);
	assert_int_equal(t->rows.n, 3);
	assert_cells(t, 0, "thread", "regex_syntax: rustc");
	assert_cells(t, 2, "thread", "serde: <unnamed>");
	make(t, TOP_THREADS, 0);
	assert_int_equal(t->rows.n, 2);
	assert_cells(t, 0, "thread", "rustc", "tid", "10", "ago", "2.00 s", "last ended",
		     "layout_of");
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
	must(trace_writer__open(path, &info, &w), trace_writer__process(w, &p));
	for (int i = 0; i < 3; i++, m.first++)
		must(trace_writer__intern(w, texts[i], &m.string), trace_writer__map(w, &m));
	must(trace_writer__finish(w), trace_reader__open(path, &r, NULL));
	unlink(path);
	return r;
}

CASE(the_last_interval_has_its_argument)
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

	t->world.data.reader = r;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct trace_span span = {.tid = 10,
						.end_ns = 1,
						.label = SAMPLE_LAYOUT_OF,
						.invocation = cases[i].invocation};

		assert_int_equal(pivot__span(t->world.threads, &span, &(struct trace_times){}), 0);
		make(t, TOP_THREADS, 0);
		assert_cells(t, 0, "last ended", cases[i].want);
	}
}

/* What samples of a build show; that of sampled_build.h has no intervals. */
static struct top_data sampled_data(const struct sampled_build *b)
{
	return (struct top_data){
		.summary = b->model.summary,
		.threads = b->model.threads,
		.samples = b->model.samples,
		.hot = b->model.hot,
		.llvm = b->model.llvm,
		.names = &b->model.options.texts,
		.source = TOP_FINISHED,
		.now_ns = 400000000,
	};
}

CASE(samples_alone_have_rows)
{
	_sampled_build_ struct sampled_build b;
	struct top_data data;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	data = sampled_data(&b);
	make_of(t, &data, TOP_PROCESSES, SUMMARY_ALL);
	assert_cells(t, 0, "crate", "app (bin)", "on-cpu", "48.0 ms", "now, or top query",
		     "typeck");
	assert_cells(t, 1, "now, or top query", "analysis", "hottest function",
		     "rustc_interface passes::analysis");
	make_of(t, &data, TOP_QUERIES, SUMMARY_ALL);
	sort(t, "on-cpu", false);
	assert_cells(t, 0, "query", "typeck", "on-cpu", "18.0 ms", "count", "-", "mean", "-");
	assert_int_equal(t->rows.at[0].events, 9);
	make_of(t, &data, TOP_QUERIES, 1);
	assert_int_equal(t->rows.n, 1);
	assert_cells(t, 0, "query", "analysis", "total", "8.00 ms");
	make_of(t, &data, TOP_THREADS, 0);
	assert_cells(t, 0, "thread", "rustc", "on-cpu", "32.0 ms", "off-cpu", "-",
		     "hottest function", "rustc_hir_typeck FnCtxt::check_expr");
	assert_true(top_rows__has_column(&t->rows, TOP_THREADS,
					 column_of(TOP_THREADS, "hottest function")));
	/* Without samples there is no such column. */
	data.samples = NULL;
	data.hot = NULL;
	make_of(t, &data, TOP_THREADS, 0);
	assert_cells(t, 0, "hottest function", "");
	assert_false(top_rows__has_column(&t->rows, TOP_THREADS,
					  column_of(TOP_THREADS, "hottest function")));
	assert_true(
		top_rows__has_column(&t->rows, TOP_THREADS, column_of(TOP_THREADS, "last ended")));
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
CASE(queries_without_probes_are_among_passes)
{
	_sampled_build_ struct sampled_build b;
	struct trace_item span = {
		.kind = TRACE_ITEM_SPAN,
		.span = {.end_ns = 15000000, .kind = TRACE_KIND_ACTIVITY},
	};
	struct top_data data;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	span.span.label = label_of(&b.model, "analysis");
	assert_int_equal(model__item(&b.model, &span), 0);
	data = sampled_data(&b);
	for (int update = 0; update < 2; update++) {
		assert_int_equal(model__show_samples(&b.model), 0);
		make_of(t, &data, TOP_QUERIES, SUMMARY_ALL);
		assert_cells(t, 0, "query", "typeck", "on-cpu", "~18.0 ms", "off-cpu", "-", "self",
			     "-", "count", "1.23k");
		assert_cells(t, 1, "query", "analysis", "on-cpu", "~10.0 ms");
	}
}

/* Instead of one of LLVM's own functions: what it compiles. */
CASE(threads_in_llvm_show_its_pass_and_function)
{
	static const char hottest[] = "hottest function";
	_sampled_build_ struct sampled_build b = {};
	struct top_data data;

	llvm_build__make(&b, MODEL_THREADS | MODEL_HOT, true);
	data = sampled_data(&b);
	make_of(t, &data, TOP_THREADS, SUMMARY_ALL);
	sort(t, "tid", true);
	assert_int_equal(t->rows.n, 2);
	assert_cells(t, 0, hottest, "InstCombine(app::small::s99)");
	assert_cells(t, 1, hottest, "GVN(<u8 as s::Name>::name)");
	make_of(t, &data, TOP_PROCESSES, SUMMARY_ALL);
	assert_cells(t, 0, hottest, "InstCombine(app::small::s99)");
	/* Of a compiler that runs, what it did long ago says nothing. */
	data.source = TOP_RECORDING;
	data.now_ns = 3600ull * TOP_SECOND;
	make_of(t, &data, TOP_THREADS, SUMMARY_ALL);
	assert_cells(t, 0, hottest, "InstCombine(app::small::s99)");
	data.source = TOP_FINISHED;
	data.llvm = NULL;
	make_of(t, &data, TOP_THREADS, SUMMARY_ALL);
	sort(t, "tid", true);
	assert_cells(t, 1, hottest, "LLVM PassManagerImpl::run");
}

CASE(rates_are_since_the_past)
{
	struct top_data *data = &t->world.data;
	struct top_rows before;
	struct top_past past = {};

	t->table = TOP_QUERIES;
	assert_int_equal(top_rows__make(data, TOP_QUERIES, SUMMARY_ALL, NULL, &before), 0);
	assert_int_equal(top_past__set(&past, &before, data->now_ns), 0);
	for (int i = 0; i < 10; i++)
		sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	/* No time has passed. */
	assert_int_equal(top_rows__make(data, TOP_QUERIES, SUMMARY_ALL, &past, &t->rows), 0);
	assert_cells(t, 1, "rate/s", "-");
	top_rows__clear(&t->rows);
	data->now_ns += 2 * TOP_SECOND;
	assert_int_equal(top_rows__make(data, TOP_QUERIES, SUMMARY_ALL, &past, &t->rows), 0);
	assert_cells(t, 0, "rate/s", "0");
	assert_cells(t, 1, "rate/s", "5");
	top_rows__clear(&before);
	top_past__clear(&past);
}

CASE(the_largest_and_the_first_letter_come_first)
{
	size_t self = column_of(TOP_THREADS, "on-cpu");

	make(t, TOP_THREADS, SUMMARY_ALL);
	sort(t, "on-cpu", false);
	assert_cells(t, 0, "on-cpu", "9.00 us");
	assert_cells(t, 2, "on-cpu", "2.00 us");
	sort(t, "on-cpu", true);
	assert_cells(t, 0, "on-cpu", "2.00 us");
	sort(t, "thread", false);
	assert_cells(t, 0, "thread", "regex_syntax: <unnamed>");
	assert_cells(t, 2, "thread", "serde: <unnamed>");
	/* An unknown value sorts below 0. */
	t->rows.at[0].cells[self].number = TOP_UNKNOWN;
	t->rows.at[1].cells[self].number = 0;
	sort(t, "on-cpu", false);
	assert_cells(t, 1, "on-cpu", "0 ns");
	assert_cells(t, 2, "on-cpu", "-");
}

CASE(names_and_numbers_are_looked_through)
{
	static const struct {
		size_t row;
		const char *words;
		bool has;
	} cases[] = {
		{0, "", true},	      {0, "SYNTAX", true}, {0, "471", true},
		{1, "syntax", false}, {0, "exit", false}, /* states are not searched */
	};

	make(t, TOP_PROCESSES, SUMMARY_ALL);
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(
			top_rows__has(&t->rows, cases[i].row, TOP_PROCESSES, cases[i].words),
			cases[i].has);
}

TEST_MAIN(NULL, NULL)
