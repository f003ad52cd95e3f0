// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The errors of `plan` if there is nothing to plan. test_plan_*.c test the plans of libraries,
 * test_view_plan_*.c how they are printed.
 */

#include "test.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

static void refuse(const char *target, const char *says)
{
	const struct cli_plan_options options = {.target = target, .no_cache = true};
	struct output o;
	int status;

	output_begin(&o);
	status = cmd_plan(&options);
	output_end(&o);
	assert_int_equal(status, EXIT_CODE_FAILURE);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], says);
	assert_ptr_equal(strchr(o.text[1], '\n'), o.text[1] + strlen(o.text[1]) - 1);
	output_free(&o);
}

static void processes_that_are_no_compilers_are_refused(void **state)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "%d", getpid());
	refuse(pid, "is not a Rust compiler");
	refuse("2147483647", "no process 2147483647");
	refuse("99999999999999999999", "no process");
	refuse("0", "no process");
}

static void files_that_are_no_libraries_are_refused(void **state)
{
	refuse("/nonexistent/librustc_driver-1.so", "/nonexistent/librustc_driver-1.so");
	refuse("/dev/null", "/dev/null");
	refuse("tests/unit/run.sh", "tests/unit/run.sh");
	/* Not a pid. */
	refuse("1x", "1x");
}

static void a_missing_toolchain_says_what_to_do(void **state)
{
	char *old = strdup(getenv("PATH"));

	setenv("PATH", "/nonexistent", 1);
	unsetenv("SUDO_UID");
	refuse(NULL, "rustup.rs");
	refuse("+stable", "rustup.rs");
	setenv("PATH", old, 1);
	free(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_that_are_no_compilers_are_refused),
		cmocka_unit_test(files_that_are_no_libraries_are_refused),
		cmocka_unit_test(a_missing_toolchain_says_what_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
