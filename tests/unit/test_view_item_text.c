// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "base/format.h"
#include "view/item_text.h"
#include "../fixtures/output.h"

static void assert_text(size_t columns, const char *name, const char *item, const char *want)
{
	char buf[ITEM_TEXT_MAX];

	item_text(buf, columns, name, item);
	assert_string_equal(buf, want);
}

TEST_CASE(what_fits_is_whole)
{
	assert_text(SIZE_MAX, "typeck", "a::b", "typeck(a::b)");
	assert_text(12, "typeck", "a::b", "typeck(a::b)");
	assert_text(80, "expand_crate", NULL, "expand_crate");
	assert_text(80, "expand_crate", "", "expand_crate");
	assert_text(80, "codegen_module",
		    "app-cgu.0\x1e"
		    "12",
		    "codegen_module(app-cgu.0, 12)");
}

TEST_CASE(a_path_keeps_its_end)
{
	assert_text(22, "typeck", "regex_syntax::ast::parse", "typeck(..::ast::parse)");
	assert_text(22, "eval_to_allocation_raw", "a::one::planted", "eval_t..(..e::planted)");
	/* A long name of what has a short path. */
	assert_text(24, "eval_to_allocation_raw", "a::b", "eval_t..(a::b)");
}

TEST_CASE(little_room_has_the_name)
{
	assert_text(10, "typeck", "regex_syntax::ast::parse", "typeck(r..");
	assert_text(4, "expand_crate", NULL, "ex..");
	assert_text(0, "typeck", "a", "");
}

TEST_CASE(any_text_is_clean_and_limited)
{
	char path[1001] = "", buf[ITEM_TEXT_MAX];

	assert_text(30, "a(", "b\n", "a((b?)");
	/* Three bytes each, two columns. */
	while (strlen(path) + 3 < sizeof(path))
		strcat(path, "\u5b57");
	for (size_t columns = 0; columns < 200; columns++) {
		item_text(buf, columns, "typeck", path);
		assert_true(format_width(buf) <= columns);
		assert_true(strlen(buf) < ITEM_TEXT_MAX);
	}
}

TEST_CASE(a_place_keeps_its_end)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *want;
	} cases[] = {
		{"src/lib.rs:12", 13, "src/lib.rs:12"},
		{"src/lib.rs:12", 12, "../lib.rs:12"},
		{"src/lib.rs:12", 4, "..12"},
		{"src/lib.rs:12", 2, "src/lib.rs:12"},
		{"", 0, ""},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char text[ITEM_TEXT_MAX];

		strcpy(text, cases[i].text);
		item_text__cut_start(text, cases[i].columns);
		assert_string_equal(text, cases[i].want);
	}
}

/* ---- Items text ------------------------------------------------------------------------------ */

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const names[] = {"typeck", "mir_borrowck", "evil\033[2J"};

	return names[id];
}

static const struct trace_texts names = {.text = text_of};

static const struct item_row items[] = {
	{.executions = 1200,
	 .self_ns = 900,
	 .queries = {{0, 700, 600}, {1, 200, 200}, {2, 100, 100}},
	 .n_queries = 3},
	{.executions = 3, .self_ns = 90, .queries = {{1, 90, 90}}, .n_queries = 1},
	{.self_ns = 10},
};

static char *printed(size_t n)
{
	static const char *const paths[] = {"a::one", "a::\033two", REPORT_NO_ITEM};
	struct report_row rows[3];
	struct report_rows r = {.rows = rows, .n = 3, .cpu_ns = 1000};

	for (int i = 0; i < 3; i++)
		rows[i] = (struct report_row){
			.name = paths[i],
			.count = items[i].executions,
			.cpu_ns = items[i].self_ns,
			.item = &items[i],
		};
	return printed_text(items_text(out, &r, n, 0, &names));
}

TEST_CASE(rows_list_the_most_expensive_queries)
{
	_free_ char *text = printed(3);

	assert_contains(text, "  self  self %  executions");
	assert_contains(text, "of this  item\n");
	assert_contains(text,
			"900 ns    90.0       1,200  typeck 600 ns, mir_borrowck 200 ns, evil");
	assert_contains(text, "[2J 100 ns  a::one\n");
	assert_contains(text, " 90 ns     9.0           3  ");
	assert_contains(text, "  mir_borrowck 90 ns  a::");
	assert_contains(text, " 10 ns     1.0           0  ");
	assert_contains(text, "  (no item)\n");
	assert_null(strchr(text, '\033'));
}

TEST_CASE(only_as_many_as_asked_for_are_printed)
{
	_free_ char *text = printed(1);

	assert_contains(text, "  a::one\n");
	assert_lacks(text, "two");
	assert_lacks(text, REPORT_NO_ITEM);
}

TEST_CASE(what_no_sample_met_has_no_time)
{
	const struct item_row item = {.results = 5};
	struct report_row row = {.name = "a::two", .item = &item, .self_by = SUMMARY_SELF_SAMPLES};
	const struct report_rows r = {.rows = &row, .n = 1, .cpu_ns = 1000};
	_free_ char *text = printed_text(items_text(out, &r, 1, 0, &names));

	assert_contains(text, "   -       -           5           a::two\n");
}

TEST_CASE(llvm_is_a_column_where_its_time_is_known)
{
	const struct item_row compiled = {.results = 5, .llvm = {3, 6000000}},
			      other = {.results = 5};
	struct report_row rows[] = {
		{.name = "a::one", .item = &compiled, .self_by = SUMMARY_SELF_SAMPLES},
		{.name = "a::two", .item = &other, .self_by = SUMMARY_SELF_SAMPLES},
	};
	const struct report_rows r = {.rows = rows, .n = 2, .cpu_ns = 1000};
	_free_ char *text = printed_text(items_text(out, &r, 2, 0, &names));

	assert_contains(text, "self  self %     LLVM  executions");
	assert_contains(text, "   -       -  6.00 ms           5           a::one\n");
	assert_contains(text, "   -       -        -           5           a::two\n");
}

TEST_CASE(waits_by_samples_are_a_column)
{
	const struct item_row item = {.results = 5};
	struct report_row rows[] = {
		{.name = "a::one",
		 .item = &item,
		 .self_by = SUMMARY_SELF_SAMPLES,
		 .extra[REPORT_SAMPLED_OFF] = 70000},
		{.name = "a::two", .item = &item, .self_by = SUMMARY_SELF_SAMPLES},
	};
	struct report_rows r = {.rows = rows,
				.n = 2,
				.cpu_ns = 1000,
				.by[SUMMARY_SELF_SAMPLES] = 2,
				.extra[REPORT_SAMPLED_OFF] = 70000};
	_free_ char *text = printed_text(items_text(out, &r, 2, 0, &names)), *exact = NULL;

	assert_contains(text, "self  self %  waiting  executions");
	assert_contains(text, "   -       -  70.0 us           5           a::one\n");
	assert_contains(text, "   -       -        -           5           a::two\n");
	/* Beside times of intervals there is off-cpu, which has them. */
	r.by[SUMMARY_SELF_SPANS] = 1;
	exact = printed_text(items_text(out, &r, 2, 0, &names));
	assert_lacks(exact, "waiting");
}

static int print_executions(const struct item_row *rows, size_t n, FILE *out)
{
	struct columns c = {.to = COLUMNS_TEXT, .out = out};

	EACH_ROW (&c, i, n)
		item_executions_column(&c, "n", ROW(&c, &rows[i]));
	return c.err;
}

TEST_CASE(executions_by_tables_may_be_a_lower_limit)
{
	static const struct item_row rows[] = {{.results = 1234},
					       {.results = 27, .at_least = true},
					       {.unsure = 1, .at_least = true},
					       {.sampled[TRACE_SAMPLE_CPU] = {1, 1}}};
	_free_ char *text = printed_text(print_executions(rows, N_OF(rows), out));

	assert_string_equal(text, "n\n1,234\n>= 27\n-\n-\n");
}

TEST_MAIN(NULL, NULL)
