// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "base/format.h"
#include "view/item_text.h"
#include "../fixtures/output.h"
#include "view/subjects_view.h"

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
		rows[i] = (struct report_row){.name = paths[i],
					      .count = items[i].executions,
					      .cpu_ns = items[i].self_ns,
					      .item = &items[i]};
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

	assert_shows(printed_text(items_text(out, &r, 1, 0, &names)),
		     "   -       -           5           a::two\n");
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

	assert_shows(printed_text(items_text(out, &r, 2, 0, &names)),
		     "self  self %     LLVM  executions",
		     "   -       -  6.00 ms           5           a::one\n",
		     "   -       -        -           5           a::two\n");
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

	assert_shows(printed_text(items_text(out, &r, 2, 0, &names)),
		     "self  self %  waiting  executions",
		     "   -       -  70.0 us           5           a::one\n",
		     "   -       -        -           5           a::two\n");
	/* Beside times of intervals there is off-cpu, which has them. */
	r.by[SUMMARY_SELF_SPANS] = 1;
	assert_shows(printed_text(items_text(out, &r, 2, 0, &names)), "!waiting");
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

	assert_shows(printed_text(print_executions(rows, N_OF(rows), out)),
		     "=n\n1,234\n>= 27\n-\n-\n");
}

/* ---- Subjects view --------------------------------------------------------------------------- */

static const char *subjects_view_text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {
		"expand_proc_macro",
		"codegen_module",
		"LLVM_module_optimize",
		"#[derive(Slow)]",
		"quick!",
		"app-cgu.0\x1e"
		"30",
		"app-cgu.1",
	};

	return texts[id];
}

/* The text that `print` writes; the caller frees it. */
static char *output_of(int (*print)(FILE *out, const void *arg), const void *arg)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(print(out, arg), 0);
	fclose(out);
	return text;
}

static const struct trace_texts texts = {.text = subjects_view_text_of};

static struct summary *processes;

static int make_processes(void **state)
{
	static const struct trace_process process = {.index = 0, .pid = 42, .crate = "app"};

	return summary__new(&processes) ?: summary__process(processes, &process);
}

static int free_processes(void **state)
{
	summary__free(processes);
	return 0;
}

static struct subjects *sample(enum subjects_of of)
{
	static const struct {
		uint32_t label, event;
		uint64_t ms;
	} spans[] = {{0, 3, 30}, {0, 4, 1}, {0, 3, 10}, {1, 5, 20}, {2, 5, 60}, {1, 6, 20}};
	const struct trace_times times = {0};
	struct subjects *s = NULL;
	uint64_t now = 0;

	assert_int_equal(subjects__new(&texts, processes, of, &s), 0);
	for (size_t i = 0; i < N_OF(spans); i++) {
		const struct trace_span span = {.start_ns = now,
						.end_ns = now + spans[i].ms * 1000000,
						.tid = 7,
						.label = spans[i].label,
						.kind = TRACE_KIND_ACTIVITY};

		now = span.end_ns;
		assert_int_equal(subjects__span(s, &span, &times, spans[i].event), 0);
	}
	return s;
}

static int print_text(FILE *out, const void *arg)
{
	return subjects_text(out, arg);
}

static void subjects_view_assert_text(enum subjects_of of, struct report_options opt,
				      const char *expected)
{
	_subjects_ struct subjects *s = sample(of);
	_free_ char *got = NULL;

	opt.subjects = s;
	got = output_of(print_text, &opt);
	assert_string_equal(got, expected);
}

TEST_GROUP(make_processes, free_processes)

TEST_CASE(macros_are_listed_by_their_time)
{
	subjects_view_assert_text(
		SUBJECTS_MACROS, (struct report_options){.top = 0},
		"  total  total %  expansions      max      of this  macro\n"
		"40.0 ms     97.6           2  30.0 ms  app 40.0 ms  #[derive(Slow)]\n"
		"1.00 ms      2.4           1  1.00 ms  app 1.00 ms  quick!\n");
	subjects_view_assert_text(
		SUBJECTS_MACROS, (struct report_options){.min_ppm = 100000},
		"  total  total %  expansions      max      of this  macro\n"
		"40.0 ms     97.6           2  30.0 ms  app 40.0 ms  #[derive(Slow)]\n");
}

TEST_CASE(units_have_a_column_for_each_step)
{
	subjects_view_assert_text(
		SUBJECTS_UNITS, (struct report_options){.top = 1},
		"  total  total %  codegen  optimize  lto  emit  size  thread  crate  codegen "
		"unit\n"
		"80.0 ms     80.0  20.0 ms   60.0 ms               30       7    app  app-cgu.0\n"
		"  and 1 more codegen unit\n");
	/* The crate stays; a column without any time goes first. */
	subjects_view_assert_text(SUBJECTS_UNITS, (struct report_options){.top = 1, .width = 68},
				  "  total  total %  codegen  optimize  emit  crate  codegen unit\n"
				  "80.0 ms     80.0  20.0 ms   60.0 ms          app  app-cgu.0\n"
				  "  hidden columns: lto, size, thread (report --wide)\n"
				  "  and 1 more codegen unit\n");
}

TEST_CASE(a_trace_without_arguments_says_why)
{
	const struct trace_span span = {
		.end_ns = 20000000, .tid = 7, .label = 0, .kind = TRACE_KIND_ACTIVITY};
	const struct trace_times times = {0};
	_subjects_ struct subjects *s = NULL;
	struct report_options opt = {0};

	assert_int_equal(subjects__new(&texts, processes, SUBJECTS_MACROS, &s), 0);
	opt.subjects = s;
	assert_shows(output_of(print_text, &opt),
		     "=no expansion of a procedural macro was recorded\n");
	assert_int_equal(subjects__span(s, &span, &times, TRACE_NO_STRING), 0);
	assert_shows(output_of(print_text, &opt),
		     "  (unknown)\n  (unknown): recorded with --no-keys, ");
}

TEST_CASE(json_has_all_rows)
{
	struct report_options opt = {.top = 1};
	_subjects_ struct subjects *macros = sample(SUBJECTS_MACROS);
	_subjects_ struct subjects *units = sample(SUBJECTS_UNITS);

	opt.subjects = macros;
	assert_shows(printed_columns(subjects_columns, SUBJECTS_MACROS, &opt), "\"macros\"",
		     "\"name\":\"#[derive(Slow)]\",\"total_ns\":40000000,"
		     "\"cpu_ns\":40000000,\"expansions\":2,\"max_ns\":30000000,\"crate_count\":1,",
		     "\"crates\":[{\"name\":\"app\",\"total_ns\":40000000}]", "quick!");
	opt.subjects = units;
	assert_shows(printed_columns(subjects_columns, SUBJECTS_UNITS, &opt),
		     "\"name\":\"app-cgu.0\",\"crate\":\"app\",\"pid\":42,"
		     "\"tid\":7,\"thread\":null,\"total_ns\":80000000,\"cpu_ns\":80000000,"
		     "\"codegen_ns\":20000000,\"optimize_ns\":60000000,"
		     "\"lto_ns\":0,\"emit_ns\":0,\"copy_ns\":0,\"size\":30",
		     "\"size\":null");
}

/* ---- Callers text ---------------------------------------------------------------------------- */

TEST_CASE(rows_name_the_function_and_its_line)
{
	static const struct caller_row callers[] = {
		{.function = "a", .file = "x.rs", .line = 3, .lines = 1},
		{.function = "b", .file = "x.rs", .line = 4, .lines = 2},
		{.function = "c", .file = "x.rs", .line = 5, .lines = 4, .unwound = 1},
		{.function = "evil\033[2J", .unwound = 2},
	};
	struct report_row all[4] = {{.name = "(unknown)"}};
	struct report_rows r = {.rows = all, .n = 4, .cpu_ns = 1000};
	_free_ char *text = NULL;

	for (int i = 0; i < 4; i++)
		all[i] = (struct report_row){.name = callers[i].function,
					     .count = 10 - i,
					     .unwound = callers[i].unwound,
					     .total_ns = 2000,
					     .cpu_ns = 100 * (i + 1),
					     .max_ns = 50,
					     .caller = &callers[i]};
	text = printed_text(callers_text(out, &r, 4));
	assert_contains(text, "executions    total    self  self %    max  caller\n"
			      "        10  2.00 us  100 ns    10.0  50 ns  a at x.rs:3\n"
			      "         9  2.00 us  200 ns    20.0  50 ns  b at x.rs:4 and 1 other "
			      "line\n"
			      "         8  2.00 us  300 ns    30.0  50 ns  c at x.rs:5 and 3 other "
			      "lines *\n"
			      "         7  2.00 us  400 ns    40.0  50 ns  evil");
	assert_null(strchr(text, '\033'));
}

TEST_CASE(subjects_view_only_as_many_as_asked_for_are_printed)
{
	static const struct caller_row caller = {.function = "a"};
	struct report_row rows[2] = {{.name = "a", .caller = &caller},
				     {.name = "b", .caller = &caller}};
	struct report_rows r = {.rows = rows, .n = 2};

	assert_shows(printed_text(callers_text(out, &r, 1)), "  a\n", "!  b\n");
}

TEST_MAIN(NULL, NULL)
