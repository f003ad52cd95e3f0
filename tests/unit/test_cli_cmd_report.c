// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

static int report(const struct cli_report_options *options, struct output *o)
{
	int status;

	output_begin(o);
	status = cmd_report(options);
	output_end(o);
	return status;
}

static void a_trace_becomes_a_table(void **state)
{
	const struct cli_report_options options = {.file = "tests/golden/good-plain.qpt"};
	struct output o;

	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	/* typeck: 55 + 50, less the 40 of the mir_built inside it; mir_built: 40 + 700, unended. */
	assert_contains(o.text[0], "mir_built *      2  740 ns  740 ns    91.9  370 ns  700 ns\n");
	assert_contains(o.text[0], "typeck *         2  105 ns   65 ns     8.1   52 ns   55 ns\n");
	assert_contains(o.text[0], "lost: 3\n  ring buffer full: 3\n");
	assert_string_equal(o.text[1], "");
	output_free(&o);
}

static void json_goes_to_stdout_alone(void **state)
{
	const struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
						   .json = true};
	struct json_object *object;
	struct output o;

	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	object = json_tokener_parse(o.text[0]);
	assert_non_null(object);
	json_object_put(object);
	assert_contains(o.text[0], "\"problem\":null,\"lost\":3");
	assert_string_equal(o.text[1], "");
	output_free(&o);
}

static void a_cut_trace_is_reported_and_said_to_be_cut(void **state)
{
	struct cli_report_options options = {.file = "tests/golden/bad-killed.qpt"};
	struct output o;

	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "typeck");
	assert_contains(o.text[0], "lost: unknown");
	assert_contains(o.text[0], "incomplete: unfinished");
	assert_contains(o.text[1], "warning: tests/golden/bad-killed.qpt: unfinished");
	output_free(&o);
	options.json = true;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "\"problem\":\"unfinished");
	output_free(&o);
}

static void rows_can_be_chosen_and_ordered(void **state)
{
	const char *glob = "t*ck", *none = "x";
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
					     .queries = {&glob, 1}};
	struct output o;

	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	/* The percentages are of all rows, shown or not. */
	assert_contains(o.text[0], "typeck *      2  105 ns  65 ns     8.1  52 ns  55 ns\n");
	assert_null(strstr(o.text[0], "mir_built"));
	output_free(&o);
	options.queries.texts = &none;
	options.json = true;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "],\"queries\":[]}\n");
	assert_contains(o.text[1], "nothing in tests/golden/good-plain.qpt is called ");
	output_free(&o);
	options = (struct cli_report_options){.file = options.file, .min = {.ns = 66}};
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_null(strstr(o.text[0], "typeck"));
	assert_contains(o.text[0], "  and 1 more query\n");
	output_free(&o);
	options.min = (struct cli_threshold){.ppm = 80000};
	options.sort = CLI_SORT_NAME;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_true(strstr(o.text[0], "mir_built") < strstr(o.text[0], "typeck"));
	output_free(&o);
	options.sort = CLI_SORT_SELF;
	options.min.ppm = 81000;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_null(strstr(o.text[0], "typeck"));
	output_free(&o);
}

static void rows_can_be_crates_processes_and_threads(void **state)
{
	const char *glob = "typeck";
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
					     .by = CLI_BY_THREAD};
	struct output o;

	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "a 4711/4712 *           1  700 ns  700 ns    87.0  700 ns\n");
	assert_contains(o.text[0], "a 4711/4711 *           3  110 ns  105 ns    13.0   55 ns\n");
	output_free(&o);
	options.by = CLI_BY_PROCESS;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "a 4711 *           4  1.01 us  805 ns   100.0  700 ns\n");
	output_free(&o);
	options.by = CLI_BY_CRATE;
	options.queries = (struct cli_texts){&glob, 1};
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "a *             2  110 ns  65 ns     8.1  55 ns\n");
	output_free(&o);
	options.json = true;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], ",\"groups\":[\n{\"name\":\"a\",\"processes\":1,\"count\":2,"
				   "\"unwound\":1,\"wall_ns\":110,\"self_ns\":65,\"max_ns\":55}],"
				   "\"processes\":[");
	output_free(&o);
}

static void a_build_is_shown_if_asked_for(void **state)
{
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
					     .by = CLI_BY_BUILD};
	struct output o;

	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], ", crates compiled: 1 (1 failed)\n");
	assert_contains(o.text[0], "\nquery ");
	output_free(&o);
	options.markdown = true;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "### rustc: ");
	output_free(&o);
	/* One crate is no build. */
	options = (struct cli_report_options){.file = options.file};
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_null(strstr(o.text[0], "crates compiled"));
	output_free(&o);
	options.json = true;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], ",\"build\":{\"wall_ns\":");
	output_free(&o);
}

static void rows_can_be_callers(void **state)
{
	const char *glob = "type*";
	struct cli_report_options options = {.file = "tests/golden/good-callers.qpt",
					     .callers = {&glob, 1}};
	struct output o;

	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0],
			"executions  total   self  self %    max  caller\n"
			"         4  40 ns  40 ns    57.1  10 ns  rustc::ask at src/a.rs:7 and 1 "
			"other line\n"
			"         2  20 ns  20 ns    28.6  10 ns  (unknown)\n"
			"         1  10 ns  10 ns    14.3  10 ns  mir_built at src/a.rs:41\n");
	output_free(&o);
	options.sort = CLI_SORT_NAME;
	options.top = 2;
	options.min.ns = 15;
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "(unknown)\n         4");
	assert_contains(o.text[0], "  and 1 more caller\n");
	output_free(&o);
	options = (struct cli_report_options){
		.file = options.file, .callers = options.callers, .json = true};
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], ",\"callers\":[\n{\"function\":\"rustc::ask\",\"count\":4,"
				   "\"unwound\":0,\"total_ns\":40,\"self_ns\":40,\"max_ns\":10,"
				   "\"file\":\"src/a.rs\",\"line\":7,\"line_count\":1,\"lines\":2},"
				   "\n{\"function\":null,\"count\":2,");
	output_free(&o);
}

static void callers_that_are_not_there_are_said_not_to_be(void **state)
{
	const char *glob = "nobody";
	struct cli_report_options options = {.file = "tests/golden/good-callers.qpt",
					     .callers = {&glob, 1}};
	struct output o;

	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "none of these queries was executed\n");
	output_free(&o);
	options.file = "tests/golden/good-plain.qpt";
	assert_int_equal(report(&options, &o), EXIT_CODE_FAILURE);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], "the callers of the queries of tests/golden/good-plain.qpt are "
				   "not recorded; if it was recorded without --callers, record it "
				   "with them\n");
	output_free(&o);
	/* Without any execution, missing callers are no error. */
	options.file = "tests/golden/good-empty.qpt";
	assert_int_equal(report(&options, &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "no query was executed\n");
	output_free(&o);
}

static void an_unreadable_file_is_reported_in_one_line(void **state)
{
	static const char *const files[] = {"/nonexistent.qpt", "tests/golden/bad-not-a-trace.qpt",
					    "tests/golden/bad-newer-version.qpt", "tests"};
	struct output o;

	for (size_t i = 0; i < N_OF(files); i++) {
		const struct cli_report_options options = {.file = files[i]};

		assert_int_equal(report(&options, &o), EXIT_CODE_FAILURE);
		assert_string_equal(o.text[0], "");
		assert_contains(o.text[1], files[i]);
		assert_ptr_equal(strchr(o.text[1], '\n'), o.text[1] + strlen(o.text[1]) - 1);
		output_free(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_becomes_a_table),
		cmocka_unit_test(json_goes_to_stdout_alone),
		cmocka_unit_test(a_cut_trace_is_reported_and_said_to_be_cut),
		cmocka_unit_test(rows_can_be_chosen_and_ordered),
		cmocka_unit_test(rows_can_be_crates_processes_and_threads),
		cmocka_unit_test(a_build_is_shown_if_asked_for),
		cmocka_unit_test(rows_can_be_callers),
		cmocka_unit_test(callers_that_are_not_there_are_said_not_to_be),
		cmocka_unit_test(an_unreadable_file_is_reported_in_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
