// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/export_trace.h"

/* Spans of one thread, each about an item by its own invocation id; NULL: about nothing. */
static const struct {
	uint64_t start_ns, end_ns;
	uint16_t depth;
	const char *query, *path;
} rows[] = {
	{1000, 1100, 1, "mir_built", "a::<b::C as d::E>::f"},
	{1000, 1300, 0, "typeck", "a::<b::C as d::E>::f"},
	{1300, 1700, 0, "typeck", "a::m"},
	{1700, 2500, 0, "typeck", "a::m"},
	{2500, 2600, 1, "layout_of", NULL},
	{2500, 2700, 0, "lint_mod", "a"},
	{2700, 2701, 0, "layout_of", NULL},
	{2800, 2830, 0, "typeck", "c"},
};

static void put_row(struct trace_writer *w, uint32_t i)
{
	struct trace_span span = {
		.start_ns = rows[i].start_ns,
		.end_ns = rows[i].end_ns,
		.tid = 1,
		.depth = rows[i].depth,
		.invocation = i,
		.caller = TRACE_NO_LOCATION,
	};
	uint32_t path;

	assert_int_equal(trace_writer__intern(w, rows[i].query, &span.label), 0);
	if (rows[i].path) {
		const struct trace_mapping event = {0, i, 1, &path, 0, false};

		assert_int_equal(trace_writer__intern(w, rows[i].path, &path), 0);
		assert_int_equal(trace_writer__map(w, &event), 0);
	}
	assert_int_equal(trace_writer__span(w, &span), 0);
}

static void write_trace(const char *path)
{
	const struct trace_info info = {.tool = "-", .kernel = "-", .host = "-"};
	const struct trace_process process = {.pid = 1, .crate = "a", .command = "rustc"};
	_trace_writer_ struct trace_writer *w = NULL;

	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	assert_int_equal(trace_writer__process(w, &process), 0);
	for (uint32_t i = 0; i < N_OF(rows); i++)
		put_row(w, i);
	assert_int_equal(trace_writer__finish(w), 0);
}

static char *folded(void)
{
	char path[] = "/tmp/qprof-items-XXXXXX.qpt";
	struct export_job job = {.by_item = true};
	char *text;
	size_t size;

	temporary_name(path);
	write_trace(path);
	text = export_of(path, export_folded, &job, &size);
	unlink(path);
	return text;
}

/*
 * Time about nothing, or about another crate, is charged to the item around it, or to none; types
 * stay whole.
 */
static void items_lie_in_their_modules(void **state)
{
	_free_ char *text = folded();

	assert_string_equal(text, "a;<b::C as d::E>;f;mir_built 100\n"
				  "a;<b::C as d::E>;f;typeck 200\n"
				  "a;layout_of 100\n"
				  "a;lint_mod 100\n"
				  "a;m;typeck 1200\n"
				  "(no item);layout_of 1\n"
				  "(no item);typeck 30\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_lie_in_their_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
