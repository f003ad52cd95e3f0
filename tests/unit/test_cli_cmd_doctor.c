// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The output of `doctor` that does not depend on rights or the kernel. test_doctor_*.c test the
 * findings, test_view_doctor_*.c how they are printed.
 */
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

static char *doctor(const struct cli_doctor_options *options)
{
	struct output o;
	int status;

	output_begin(&o);
	status = cmd_doctor(options);
	output_end(&o);
	assert_int_equal(status, EXIT_CODE_SICK);
	assert_string_equal(o.text[1], "");
	free(o.text[1]);
	return o.text[0];
}

static void a_compiler_that_is_not_there_is_a_problem(void **state)
{
	_free_ char *text = doctor(&(struct cli_doctor_options){.target = "/nonexistent/rustc"});

	assert_contains(text, "kernel\n  ok        version: Linux ");
	assert_contains(text, "\n  problem   /nonexistent/rustc: ");
	assert_contains(text, "Recording does not work here");
}

static void a_process_that_is_no_compiler_is_a_problem(void **state)
{
	_free_ char *text =
		doctor(&(struct cli_doctor_options){.target = "1999999999", .json = true});
	struct json_object *o = json_tokener_parse(text);

	assert_string_equal(json_object_get_string(json_object_object_get(o, "schema")),
			    "qprof-doctor/1");
	assert_false(json_object_get_boolean(json_object_object_get(o, "works")));
	assert_int_equal(json_object_array_length(json_object_object_get(o, "toolchains")), 0);
	assert_contains(text, "there is no process 1999999999");
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_compiler_that_is_not_there_is_a_problem),
		cmocka_unit_test(a_process_that_is_no_compiler_is_a_problem),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
