// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_build.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

/* The output of the last command; the next one frees it. */
static struct output o;

static void run(const struct cli_report_options *options, int expected)
{
	int status;

	output_free(&o);
	output_begin(&o);
	status = cmd_report(options);
	output_end(&o);
	assert_int_equal(status, expected);
}

static const char *report(const struct cli_report_options *options)
{
	run(options, EXIT_CODE_OK);
	return o.text[0];
}

TEST_CASE(a_trace_becomes_a_table)
{
	const struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
						   .by = CLI_BY_QUERY};

	/* typeck: 55 + 50, less the 40 of the mir_built inside it; mir_built: 40 + 700, unended. */
	assert_output(&o, report(&options),
		      "mir_built *      2  740 ns  740 ns    91.9  370 ns  700 ns\n",
		      "typeck *         2  105 ns   65 ns     8.1   52 ns   55 ns\n",
		      "lost: 3\n  ring buffer full: 3\n", "2>=");
}

TEST_CASE(json_goes_to_stdout_alone)
{
	const struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
						   .json = true};
	struct json_object *object;

	report(&options);
	object = json_tokener_parse(o.text[0]);
	assert_non_null(object);
	json_object_put(object);
	assert_output(&o, 0, "\"problem\":null,\"lost\":3", "2>=");
}

TEST_CASE(a_cut_trace_is_reported_and_said_to_be_cut)
{
	struct cli_report_options options = {.file = "tests/golden/bad-killed.qpt"};

	assert_output(&o, report(&options), "typeck", "lost: unknown", "incomplete: unfinished",
		      "2>warning: tests/golden/bad-killed.qpt: unfinished");
	options.json = true;
	assert_contains(report(&options), "\"problem\":\"unfinished");
}

TEST_CASE(a_report_may_be_of_chosen_processes)
{
	const char *crate = "a", *other = "b*";
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
					     .of.crates = {&crate, 1}};

	assert_contains(report(&options), "compile   a: ");
	options.of.crates.texts = &other;
	assert_output(&o, run(&options, EXIT_CODE_FAILURE),
		      "2>no process of tests/golden/good-plain.qpt is chosen");
}

TEST_CASE(rows_can_be_chosen_and_ordered)
{
	const char *glob = "t*ck", *none = "x";
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
					     .queries = {&glob, 1}};

	/* The percentages are of all rows, shown or not. */
	assert_output(&o, report(&options),
		      "typeck *      2  105 ns  65 ns     8.1  52 ns  55 ns\n", "!mir_built");
	options.queries.texts = &none;
	options.json = true;
	assert_output(&o, report(&options), "],\"queries\":[]}\n",
		      "2>nothing in tests/golden/good-plain.qpt is called ");
	options.json = false;
	assert_output(&o, report(&options), "=",
		      "2>nothing in tests/golden/good-plain.qpt is called x");
	options = (struct cli_report_options){.file = options.file, .min = {.ns = 66}};
	assert_output(&o, report(&options), "!typeck", "! more quer");
	options.min = (struct cli_threshold){.ppm = 80000};
	options.sort = CLI_SORT_NAME;
	report(&options);
	assert_true(strstr(o.text[0], "mir_built") < strstr(o.text[0], "typeck"));
	options.sort = CLI_SORT_SELF;
	options.min.ppm = 81000;
	assert_lacks(report(&options), "typeck");
}

TEST_CASE(rows_can_be_crates_processes_and_threads)
{
	const char *glob = "typeck";
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
					     .by = CLI_BY_THREAD};

	assert_output(&o, report(&options),
		      "a 4711/4712 *           1  700 ns  700 ns    87.0  700 ns\n",
		      "a 4711/4711 *           3  110 ns  105 ns    13.0   55 ns\n");
	options.by = CLI_BY_PROCESS;
	assert_contains(report(&options),
			"a 4711 *           4  1.01 us  805 ns   100.0  700 ns\n");
	options.by = CLI_BY_CRATE;
	options.queries = (struct cli_texts){&glob, 1};
	assert_contains(report(&options), "a *             2  110 ns  65 ns     8.1  55 ns\n");
	options.json = true;
	assert_contains(
		report(&options),
		",\"groups\":[\n{\"name\":\"a\",\"processes\":1,\"count\":2,\"activities\":0,"
		"\"unwound\":1,\"wall_ns\":110,\"self_ns\":65,\"max_ns\":55}],\"processes\":[");
}

TEST_CASE(a_build_is_shown_if_asked_for)
{
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
					     .by = CLI_BY_BUILD};

	assert_output(&o, report(&options), "compile   a: 3.00 us, exit: 1\n", "\nquery ");
	options.markdown = true;
	assert_contains(report(&options), "### rustc: ");
	/* One crate is no build. */
	options = (struct cli_report_options){.file = options.file};
	assert_lacks(report(&options), "crates compiled");
	options.json = true;
	assert_contains(report(&options), ",\"build\":{\"wall_ns\":");
}

TEST_CASE(rows_can_be_callers)
{
	const char *glob = "type*";
	struct cli_report_options options = {.file = "tests/golden/good-callers.qpt",
					     .callers = {&glob, 1}};

	assert_contains(report(&options),
			"executions  total   self  self %    max  caller\n"
			"         4  40 ns  40 ns    57.1  10 ns  rustc::ask at src/a.rs:7 and 1 "
			"other line\n"
			"         2  20 ns  20 ns    28.6  10 ns  (unknown)\n"
			"         1  10 ns  10 ns    14.3  10 ns  mir_built at src/a.rs:41\n");
	options.sort = CLI_SORT_NAME;
	options.top = 1;
	options.min.ns = 15;
	assert_contains(report(&options), "(unknown)\n  and 1 more caller\n");
	options = (struct cli_report_options){
		.file = options.file, .callers = options.callers, .json = true};
	assert_contains(report(&options),
			",\"callers\":[\n{\"function\":\"rustc::ask\",\"count\":4,"
			"\"unwound\":0,\"total_ns\":40,\"self_ns\":40,\"max_ns\":10,"
			"\"file\":\"src/a.rs\",\"line\":7,\"line_count\":1,\"lines\":2},"
			"\n{\"function\":null,\"count\":2,");
}

TEST_CASE(callers_that_are_not_there_are_said_not_to_be)
{
	const char *glob = "nobody";
	struct cli_report_options options = {.file = "tests/golden/good-callers.qpt",
					     .callers = {&glob, 1}};

	assert_output(&o, report(&options), "=",
		      "2>nothing in tests/golden/good-callers.qpt is called nobody");
	options.file = "tests/golden/good-plain.qpt";
	assert_output(&o, run(&options, EXIT_CODE_FAILURE), "=",
		      "2>the callers of the queries of tests/golden/good-plain.qpt are "
		      "not recorded; if it was recorded without --callers, record it with them\n");
	/* Without any execution, missing callers are no error. */
	options.file = "tests/golden/good-empty.qpt";
	assert_contains(report(&options), "no compiler ran: ");
}

TEST_CASE(rows_can_be_items)
{
	const char *glob = "typeck";
	struct cli_report_options options = {
		.file = "tests/golden/good-strings.qpt", .by = CLI_BY_ITEM, .wide = true};

	assert_output(&o, report(&options), " 5 ns    25.0           1  ",
		      "typeck 5 ns  regex_syntax::ast::Parser\n", "15 ns    75.0           0  ",
		      "typeck 5 ns  (no item)\n");
	options.top = 1;
	assert_contains(report(&options), "  and 1 more item\n");
	options.queries = (struct cli_texts){&glob, 1};
	options.top = 0;
	assert_contains(report(&options), "5 ns    50.0           0  typeck 5 ns  (no item)\n");
	options.json = true;
	assert_output(&o, report(&options),
		      ",\"items\":[\n{\"name\":\"regex_syntax::ast::Parser\",\"self_ns\":5,"
		      "\"executions\":1,\"charged\":0,",
		      "\n{\"name\":null,\"self_ns\":5,\"executions\":0,\"charged\":1,"
		      "\"instances\":null,\"queries\":[{\"name\":\"typeck\",\"self_ns\":5}]}],",
		      "2>=");
}

TEST_CASE(items_that_are_not_there_are_said_not_to_be)
{
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt",
					     .by = CLI_BY_ITEM};

	for (int i = 0; i < 2; i++) {
		options.json = i;
		assert_output(&o, run(&options, EXIT_CODE_FAILURE), "=",
			      "2>error: tests/golden/good-plain.qpt does not say what its queries "
			      "were about: it was recorded with --no-keys, ");
		assert_ptr_equal(strchr(o.text[1], '\n'), o.text[1] + strlen(o.text[1]) - 1);
	}
	/* Names come last, so what is missing at the end may be these. */
	options = (struct cli_report_options){.file = "tests/golden/bad-killed.qpt",
					      .by = CLI_BY_ITEM};
	assert_output(&o, run(&options, EXIT_CODE_FAILURE), "2> it is incomplete (unfinished: ");
	/* Without any execution, missing items are no error. */
	options = (struct cli_report_options){.file = "tests/golden/good-empty.qpt",
					      .by = CLI_BY_ITEM};
	assert_contains(report(&options), "no compiler ran: ");
}

TEST_CASE(an_unreadable_file_is_reported_in_one_line)
{
	static const char *const files[] = {"/nonexistent.qpt", "tests/golden/bad-not-a-trace.qpt",
					    "tests/golden/bad-newer-version.qpt",
					    "tests/golden/bad-decisions.qpt", "tests"};

	for (size_t i = 0; i < N_OF(files); i++) {
		const struct cli_report_options options = {.file = files[i]};

		assert_output(&o, run(&options, EXIT_CODE_FAILURE), "=");
		assert_contains(o.text[1], files[i]);
		assert_ptr_equal(strchr(o.text[1], '\n'), o.text[1] + strlen(o.text[1]) - 1);
	}
}

TEST_CASE(a_recording_with_a_budget_is_for_the_program_that_wrote_it)
{
	const struct cli_report_options options = {.file = "tests/golden/bad-decisions.qpt"};

	assert_output(&o, run(&options, EXIT_CODE_FAILURE), "2>it was recorded with a budget",
		      "2>use the qprof-bpf that wrote it\n");
}

/* ---- Sampled report -------------------------------------------------------------------------- */

static char path[] = "/tmp/qprof-sampled-XXXXXX.qpt";

static void run_sampled(struct cli_report_options options, int expected)
{
	options.file = options.file ?: path;
	run(&options, expected);
}

#define SAMPLED(...) run_sampled((struct cli_report_options){__VA_ARGS__}, EXIT_CODE_OK)

static int write_trace(void **state)
{
	temporary_name(path);
	sampled_build_write(path);
	return 0;
}

static int remove_trace(void **state)
{
	output_free(&o);
	return unlink(path);
}

TEST_GROUP(write_trace, remove_trace)

TEST_CASE(a_trace_of_samples_becomes_a_table)
{
	assert_output(&o, SAMPLED(.by = CLI_BY_QUERY), "29 samples, 499 a second", "typeck ");
	assert_output(&o, SAMPLED(.by = CLI_BY_QUERY, .min = {.ppm = 100000}), "! more quer");
}

TEST_CASE(functions_are_chosen_by_query)
{
	const char *glob = "type*", *none = "x";

	assert_output(&o, SAMPLED(.functions = true), "29 samples, 58.0 ms on the CPU\n");
	assert_output(&o, SAMPLED(.functions = true, .queries = {&glob, 1}),
		      "13 samples, 26.0 ms on the CPU: 44.8 % of the recording\n");
	assert_output(&o, SAMPLED(.tree = CLI_TREE_UP, .queries = {&glob, 1}, .own = true),
		      "9 samples, 18.0 ms on the CPU", "function, and below it its callers");
	assert_output(
		&o,
		run_sampled((struct cli_report_options){.functions = true, .queries = {&none, 1}},
			    EXIT_CODE_FAILURE),
		"2>is in a query of that name");
}

TEST_CASE(rows_have_a_minimum)
{
	assert_output(&o, SAMPLED(.tree = CLI_TREE_DOWN), "malloc");
	assert_output(&o, SAMPLED(.tree = CLI_TREE_DOWN, .min = {.ppm = 100000}), "!malloc");
	assert_output(&o, SAMPLED(.functions = true, .min = {.ns = 10000000}), "!malloc");
	assert_output(&o, SAMPLED(.functions = true, .sort = CLI_SORT_TOTAL, .top = 1),
		      "rt::lang_start\n  and 10 more functions\n");
}

TEST_CASE(causes_have_reports_of_their_own)
{
	assert_output(&o, SAMPLED(.memory = true), "150 MiB  100\n");
	assert_output(&o, SAMPLED(.waits = true), "a lock or a message");
	assert_output(&o, SAMPLED(.functions = true, .memory = true),
		      "35 samples, 13.7 MiB that page faults made resident\n");
	assert_output(&o, SAMPLED(.tree = CLI_TREE_DOWN, .waits = true),
		      "6 samples, 241 ms of waiting\n");
}

TEST_CASE(each_is_a_document)
{
	static const struct {
		struct cli_report_options options;
		const char *schema;
	} documents[] = {
		{{.functions = true, .json = true}, "qprof-functions/1"},
		{{.memory = true, .json = true}, "qprof-memory/1"},
		{{.waits = true, .json = true}, "qprof-waits/1"},
	};

	for (size_t i = 0; i < N_OF(documents); i++) {
		struct json_object *object, *schema;

		run_sampled(documents[i].options, EXIT_CODE_OK);
		object = json_tokener_parse(o.text[0]);
		assert_true(json_object_object_get_ex(object, "schema", &schema));
		assert_string_equal(json_object_get_string(schema), documents[i].schema);
		json_object_put(object);
		assert_string_equal(o.text[1], "");
	}
}

TEST_CASE(a_trace_without_samples_has_none)
{
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt"};

	options.functions = true;
	assert_output(&o, run_sampled(options, EXIT_CODE_FAILURE),
		      "2>has no such samples: record it with --sample");
	options.memory = true;
	assert_output(&o, run_sampled(options, EXIT_CODE_FAILURE), "2>record it with --memory");
	options.memory = false;
	options.waits = true;
	assert_output(&o, run_sampled(options, EXIT_CODE_FAILURE),
		      "2>record it with --off-cpu-stacks");
}

TEST_MAIN(NULL, NULL)
