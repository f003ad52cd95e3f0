// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/llvm_build.h"
#include "../fixtures/output.h"
#include "../fixtures/schema_fields.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "view/view.h"

/* With LLVM's entries, and without. */
static char path[] = "/tmp/qprof-llvm-XXXXXX.qpt", unknown[] = "/tmp/qprof-llvm-XXXXXX.qpt";

/* The output of the last command; the next one frees it. */
static struct output o;

static const char *report_of(struct cli_report_options options)
{
	int status;

	options.file = options.file ?: path;
	output_free(&o);
	output_begin(&o);
	status = cmd_report(&options);
	output_end(&o);
	assert_int_equal(status, EXIT_CODE_OK);
	assert_string_equal(o.text[1], "");
	return o.text[0];
}

#define REPORT(...) report_of((struct cli_report_options){__VA_ARGS__})

TEST_CASE(passes_are_a_table)
{
	assert_golden("view/llvm_passes.txt", REPORT(.by = CLI_BY_PASS, .wide = true));
}

TEST_CASE(functions_are_a_table_with_their_instances)
{
	assert_golden("view/llvm_generics.txt",
		      REPORT(.by = CLI_BY_GENERIC, .wide = true, .top = 8));
}

TEST_CASE(a_function_has_its_passes)
{
	const char *names[] = {"huge", "app::huge", LB_HUGE, "*::huge"}, *big = "generic_big",
		   *none = "uge";

	for (size_t i = 0; i < N_OF(names); i++)
		assert_golden("view/llvm_function.txt", REPORT(.llvm = {&names[i], 1}));
	assert_golden("view/llvm_instances.txt", REPORT(.llvm = {&big, 1}, .top = 3));
	assert_output(&o, REPORT(.llvm = {&none, 1}),
		      "no sample of LLVM is in a function of that name (--by generic "
		      "lists them)\n");
}

TEST_CASE(rows_are_chosen_and_sorted)
{
	const char *dep = "dep", *more;

	assert_output(&o, REPORT(.by = CLI_BY_GENERIC, .min = {.ppm = 100000}), "app::huge",
		      "!drop_in_place", "! more function");
	assert_output(&o, REPORT(.by = CLI_BY_GENERIC, .of = {.crates = {&dep, 1}}),
		      "LLVM 11.0 ms: 100.0 % optimisation\n", "core::ptr::drop_in_place\n",
		      "!huge");
	REPORT(.by = CLI_BY_GENERIC, .sort = CLI_SORT_INSTANCES, .top = 2);
	more = strstr(o.text[0], ">=200");
	assert_non_null(more);
	assert_non_null(strstr(more, "drop_in_place"));
	REPORT(.by = CLI_BY_PASS, .sort = CLI_SORT_NAME);
	assert_true(strstr(o.text[0], "GVN") < strstr(o.text[0], "InstCombine"));
}

/* The tables of chosen functions take the options of the others. */
TEST_CASE(instances_are_chosen_and_sorted)
{
	const char *all = "*", *big = "generic_big";

	assert_output(&o, REPORT(.llvm = {&all, 1}, .min = {.ppm = 100000}),
		      "397 ms of LLVM's time, 93.9 %, in 305 instances of 104 functions\n",
		      " app::huge\n\n", "!drop_in_place");
	assert_output(&o, REPORT(.llvm = {&big, 1}, .min = {.ppm = 100000}),
		      "\n\nno instance has as much time as --min\n\n");
	assert_output(&o, REPORT(.llvm = {&all, 1}, .sort = CLI_SORT_NAME, .top = 1, .wide = true),
		      " <_ as s::Name>::name\n",
		      " <char as s::Name>::name\n  and 304 more instances\n");
}

static uint64_t chosen_ns(const char *name, bool *there)
{
	struct json_object *document, *chosen;
	uint64_t ns;

	document = parsed_json(
		REPORT(.json = true, .llvm = {&name, name ? 1 : 0}, .by = name ? 0 : CLI_BY_PASS));
	*there = json_object_object_get_ex(member(document, "llvm"), "chosen_ns", &chosen);
	ns = *there ? json_object_get_uint64(chosen) : 0;
	json_object_put(document);
	return ns;
}

TEST_CASE(a_document_has_the_time_of_chosen_functions)
{
	bool there;

	assert_int_equal(chosen_ns("huge", &there), 80000000);
	assert_int_equal(chosen_ns("nothing", &there), 0);
	assert_true(there);
	assert_int_equal(chosen_ns(NULL, &there), 0);
	assert_false(there);
}

/* Names may be pasted from tables that cut them. */
TEST_CASE(a_name_that_was_cut_is_found)
{
	const char *cut[] = {"..p::huge", "app..huge", "app..uge"}, *none[] = {"..", "lib..huge"};

	for (size_t i = 0; i < N_OF(cut); i++)
		assert_contains(REPORT(.llvm = {&cut[i], 1}), "app::huge\n");
	for (size_t i = 0; i < N_OF(none); i++)
		assert_contains(REPORT(.llvm = {&none[i], 1}),
				"no sample of LLVM is in a function of that name");
}

TEST_CASE(a_build_has_one_line_of_it)
{
	static const char line[] = "423 ms: 11 % machine code, 87 % optimisation; "
				   "first: InstCombine 71 %\n";

	assert_output(&o, REPORT(), "LLVM      ");
	assert_contains(o.text[0], line);
	assert_contains(o.text[0], "LLVM: --by generic (functions), --by pass\n");
	assert_output(&o, REPORT(.markdown = true), "- LLVM: ");
	assert_contains(o.text[0], line);
}

/* Here no compiler's end was seen, so its CPU time is by samples. */
TEST_CASE(what_recording_cost_is_the_same_share_in_each_table)
{
	for (int by = CLI_BY_AUTO; by <= CLI_BY_THREAD; by++) {
		struct json_object *document = parsed_json(REPORT(.json = true, .by = by));
		struct json_object *cost = member(document, "cost");

		assert_int_equal(json_object_get_int64(member(cost, "cpu_ns")), 480000000);
		json_object_put(document);
	}
}

/* JSON of a build, and of LLVM's tables. */
TEST_CASE(a_document_has_all_rows)
{
	const struct cli_report_options asked[] = {{.json = true},
						   {.json = true, .by = CLI_BY_PASS},
						   {.json = true, .by = CLI_BY_GENERIC}};

	for (size_t i = 0; i < N_OF(asked); i++) {
		struct json_object *document = parsed_json(report_of(asked[i]));
		struct json_object *llvm = member(document, "llvm"), *first;

		assert_int_equal(json_object_get_int64(member(llvm, "total_ns")), 423000000);
		assert_int_equal(json_object_get_int64(member(llvm, "no_function_ns")), 23000000);
		assert_int_equal(json_object_get_int64(member(llvm, "component_ns")), 10000000);
		assert_int_equal(json_object_get_int64(member(llvm, "unknown_function_ns")),
				 3000000);
		assert_int_equal(json_object_array_length(member(llvm, "passes")), 7);
		assert_int_equal(json_object_array_length(member(llvm, "functions")), 305);
		assert_int_equal(json_object_array_length(member(llvm, "generics")), 104);
		assert_int_equal(json_object_array_length(member(llvm, "no_function")), 4);
		first = json_object_array_get_idx(member(llvm, "generics"), 0);
		assert_string_equal(json_object_get_string(member(first, "path")),
				    "app::generic_big");
		assert_int_equal(json_object_get_int64(member(first, "instances")), 200);
		assert_true(json_object_get_boolean(member(first, "instances_at_least")));
		/* 200 samples of 1 ms */
		assert_int_equal(json_object_get_int64(member(first, "error_ns")), 14142136);
		assert_false(json_object_object_get_ex(first, "component_ns", NULL));
		first = json_object_array_get_idx(member(llvm, "functions"), 0);
		assert_int_equal(json_object_get_int64(member(first, "component_ns")), 10000000);
		json_object_put(document);
	}
}

TEST_CASE(each_field_has_its_unit)
{
	_free_ char *schema = printed_text(report_schema(out));
	struct json_object *fields = parsed_json(schema), *document;

	schema_fields = member(fields, "fields");
	document = parsed_json(REPORT(.json = true));
	schema_check(member(document, "llvm"), "llvm");
	json_object_put(document);
	json_object_put(fields);
}

TEST_CASE(a_reason_is_given_where_nothing_is_known)
{
	struct json_object *document;

	assert_output(&o, REPORT(.file = unknown),
		      "LLVM      123 ms; its passes and functions were not read\n");
	assert_output(&o, REPORT(.file = unknown, .by = CLI_BY_PASS),
		      "LLVM's passes and functions were not read");
	assert_output(&o, REPORT(.file = "tests/golden/good-plain.qpt", .by = CLI_BY_GENERIC),
		      "the CPU was not sampled");
	document = parsed_json(REPORT(.file = unknown, .json = true));
	assert_false(json_object_get_boolean(member(member(document, "llvm"), "known")));
	json_object_put(document);
}

static int setup(void **state)
{
	temporary_name(path);
	temporary_name(unknown);
	llvm_build_write(path, true);
	llvm_build_write(unknown, false);
	return 0;
}

static int teardown(void **state)
{
	output_free(&o);
	unlink(path);
	unlink(unknown);
	return 0;
}

TEST_MAIN(setup, teardown)
