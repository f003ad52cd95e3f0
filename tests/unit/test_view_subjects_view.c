// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/subjects_view.h"

#include "test.h"
#include "../fixtures/output.h"

static const char *text_of(const void *ctx, uint32_t id)
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

static const struct trace_texts texts = {.text = text_of};

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
		const struct trace_span span = {
			.start_ns = now,
			.end_ns = now + spans[i].ms * 1000000,
			.tid = 7,
			.label = spans[i].label,
			.kind = TRACE_KIND_ACTIVITY,
		};

		now = span.end_ns;
		assert_int_equal(subjects__span(s, &span, &times, spans[i].event), 0);
	}
	return s;
}

static int print_text(FILE *out, const void *arg)
{
	return subjects_text(out, arg);
}

static void assert_text(enum subjects_of of, struct report_options opt, const char *expected)
{
	_subjects_ struct subjects *s = sample(of);
	_free_ char *got = NULL;

	opt.subjects = s;
	got = output_of(print_text, &opt);
	assert_string_equal(got, expected);
}

TEST_CASE(macros_are_listed_by_their_time)
{
	assert_text(SUBJECTS_MACROS, (struct report_options){.top = 0},
		    "  total  total %  expansions      max      of this  macro\n"
		    "40.0 ms     97.6           2  30.0 ms  app 40.0 ms  #[derive(Slow)]\n"
		    "1.00 ms      2.4           1  1.00 ms  app 1.00 ms  quick!\n");
	assert_text(SUBJECTS_MACROS, (struct report_options){.min_ppm = 100000},
		    "  total  total %  expansions      max      of this  macro\n"
		    "40.0 ms     97.6           2  30.0 ms  app 40.0 ms  #[derive(Slow)]\n");
}

TEST_CASE(units_have_a_column_for_each_step)
{
	assert_text(SUBJECTS_UNITS, (struct report_options){.top = 1},
		    "  total  total %  codegen  optimize  lto  emit  size  thread  crate  codegen "
		    "unit\n"
		    "80.0 ms     80.0  20.0 ms   60.0 ms               30       7    app  "
		    "app-cgu.0\n"
		    "  and 1 more codegen unit\n");
	/* The crate stays; a column without any time goes first. */
	assert_text(SUBJECTS_UNITS, (struct report_options){.top = 1, .width = 68},
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
	_free_ char *none = NULL, *got = NULL;

	assert_int_equal(subjects__new(&texts, processes, SUBJECTS_MACROS, &s), 0);
	opt.subjects = s;
	none = output_of(print_text, &opt);
	assert_string_equal(none, "no expansion of a procedural macro was recorded\n");
	assert_int_equal(subjects__span(s, &span, &times, TRACE_NO_STRING), 0);
	got = output_of(print_text, &opt);
	assert_non_null(strstr(got, "  (unknown)\n  (unknown): recorded with --no-keys, "));
}

TEST_CASE(json_has_all_rows)
{
	struct report_options opt = {.top = 1};
	_subjects_ struct subjects *macros = sample(SUBJECTS_MACROS);
	_subjects_ struct subjects *units = sample(SUBJECTS_UNITS);
	_free_ char *got = NULL, *of_units = NULL;

	opt.subjects = macros;
	got = printed_columns(subjects_columns, SUBJECTS_MACROS, &opt);
	assert_non_null(strstr(got, "\"macros\""));
	assert_non_null(strstr(
		got,
		"\"name\":\"#[derive(Slow)]\",\"total_ns\":40000000,"
		"\"cpu_ns\":40000000,\"expansions\":2,\"max_ns\":30000000,\"crate_count\":1,"));
	assert_non_null(strstr(got, "\"crates\":[{\"name\":\"app\",\"total_ns\":40000000}]"));
	assert_non_null(strstr(got, "quick!"));
	opt.subjects = units;
	of_units = printed_columns(subjects_columns, SUBJECTS_UNITS, &opt);
	assert_non_null(strstr(of_units, "\"name\":\"app-cgu.0\",\"crate\":\"app\",\"pid\":42,"
					 "\"tid\":7,\"thread\":null,\"total_ns\":80000000,"
					 "\"cpu_ns\":80000000,"
					 "\"codegen_ns\":20000000,\"optimize_ns\":60000000,"
					 "\"lto_ns\":0,\"emit_ns\":0,\"copy_ns\":0,\"size\":30"));
	assert_non_null(strstr(of_units, "\"size\":null"));
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
		all[i] = (struct report_row){
			.name = callers[i].function,
			.count = 10 - i,
			.unwound = callers[i].unwound,
			.total_ns = 2000,
			.cpu_ns = 100 * (i + 1),
			.max_ns = 50,
			.caller = &callers[i],
		};
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

TEST_CASE(only_as_many_as_asked_for_are_printed)
{
	static const struct caller_row caller = {.function = "a"};
	struct report_row rows[2] = {{.name = "a", .caller = &caller},
				     {.name = "b", .caller = &caller}};
	struct report_rows r = {.rows = rows, .n = 2};
	_free_ char *text = printed_text(callers_text(out, &r, 1));

	assert_contains(text, "  a\n");
	assert_lacks(text, "  b\n");
}

TEST_MAIN(make_processes, free_processes)
