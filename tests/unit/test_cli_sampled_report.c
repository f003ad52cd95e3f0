// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_build.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

static char path[] = "/tmp/qprof-sampled-XXXXXX.qpt";

/* The output of the last command; the next one frees it. */
static struct output o;

static const char *run(struct cli_report_options options, int expected)
{
	int status;

	options.file = options.file ?: path;
	output_free(&o);
	output_begin(&o);
	status = cmd_report(&options);
	output_end(&o);
	assert_int_equal(status, expected);
	return o.text[0];
}

static const char *report(struct cli_report_options options)
{
	return run(options, EXIT_CODE_OK);
}

static void a_trace_of_samples_becomes_a_table(void **state)
{
	report((struct cli_report_options){.by = CLI_BY_QUERY});
	assert_contains(o.text[0], "29 samples, 499 a second");
	assert_contains(o.text[0], "typeck ");
	report((struct cli_report_options){.by = CLI_BY_QUERY, .min = {.ppm = 100000}});
	assert_lacks(o.text[0], " more quer");
}

static void functions_are_chosen_by_query(void **state)
{
	const char *glob = "type*", *none = "x";

	assert_contains(report((struct cli_report_options){.functions = true}),
			"29 samples, 58.0 ms on the CPU\n");
	report((struct cli_report_options){.functions = true, .queries = {&glob, 1}});
	assert_contains(o.text[0], "13 samples, 26.0 ms on the CPU: 44.8 % of the recording\n");
	report((struct cli_report_options){
		.tree = CLI_TREE_UP, .queries = {&glob, 1}, .own = true});
	assert_contains(o.text[0], "9 samples, 18.0 ms on the CPU");
	assert_contains(o.text[0], "function, and below it its callers");
	run((struct cli_report_options){.functions = true, .queries = {&none, 1}},
	    EXIT_CODE_FAILURE);
	assert_contains(o.text[1], "is in a query of that name");
}

static void rows_have_a_minimum(void **state)
{
	assert_contains(report((struct cli_report_options){.tree = CLI_TREE_DOWN}), "malloc");
	report((struct cli_report_options){.tree = CLI_TREE_DOWN, .min = {.ppm = 100000}});
	assert_lacks(o.text[0], "malloc");
	report((struct cli_report_options){.functions = true, .min = {.ns = 10000000}});
	assert_lacks(o.text[0], "malloc");
	report((struct cli_report_options){.functions = true, .sort = CLI_SORT_TOTAL, .top = 1});
	assert_contains(o.text[0], "rt::lang_start\n  and 10 more functions\n");
}

static void causes_have_reports_of_their_own(void **state)
{
	assert_contains(report((struct cli_report_options){.memory = true}), "150 MiB  100\n");
	assert_contains(report((struct cli_report_options){.waits = true}), "a lock or a message");
	report((struct cli_report_options){.functions = true, .memory = true});
	assert_contains(o.text[0], "35 samples, 13.7 MiB that page faults made resident\n");
	report((struct cli_report_options){.tree = CLI_TREE_DOWN, .waits = true});
	assert_contains(o.text[0], "6 samples, 241 ms of waiting\n");
}

static void each_is_a_document(void **state)
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

		object = json_tokener_parse(report(documents[i].options));
		assert_true(json_object_object_get_ex(object, "schema", &schema));
		assert_string_equal(json_object_get_string(schema), documents[i].schema);
		json_object_put(object);
		assert_string_equal(o.text[1], "");
	}
}

static void a_trace_without_samples_has_none(void **state)
{
	struct cli_report_options options = {.file = "tests/golden/good-plain.qpt"};

	options.functions = true;
	run(options, EXIT_CODE_FAILURE);
	assert_contains(o.text[1], "has no such samples: record it with --sample");
	options.memory = true;
	run(options, EXIT_CODE_FAILURE);
	assert_contains(o.text[1], "record it with --memory");
	options.memory = false;
	options.waits = true;
	run(options, EXIT_CODE_FAILURE);
	assert_contains(o.text[1], "record it with --off-cpu-stacks");
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_of_samples_becomes_a_table),
		cmocka_unit_test(functions_are_chosen_by_query),
		cmocka_unit_test(rows_have_a_minimum),
		cmocka_unit_test(causes_have_reports_of_their_own),
		cmocka_unit_test(each_is_a_document),
		cmocka_unit_test(a_trace_without_samples_has_none),
	};

	return cmocka_run_group_tests(tests, write_trace, remove_trace);
}
