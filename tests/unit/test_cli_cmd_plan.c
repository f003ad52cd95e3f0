// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The errors of `plan` if there is nothing to plan, and whose rights it has. test_plan_*.c test the
 * plans of libraries, test_view_plan_*.c how they are printed.
 */

#include <sys/stat.h>

#include "test.h"
#include "../fixtures/cache_home.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "plan/library/file.h"

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

/* The library names a debug file that only root may read. */
static void the_owner_of_a_library_cannot_have_root_read_a_file(void **state)
{
	const struct cli_plan_options options = {
		.target = strdup(fixture("driver_linked.so")),
		.no_cache = true,
	};
	_output_ struct output o = {};

	if (geteuid())
		skip();
	assert_int_equal(chmod(fixture_dir, 0755), 0);
	assert_int_equal(chown(options.target, 12345, 12345), 0);
	/* It has symbols, but no code that a plan needs. */
	assert_int_not_equal(CAPTURED(&o, cmd_plan(&options)), EXIT_CODE_OK);
	assert_contains(o.text[1], "is proven to start");
	assert_int_equal(chmod(fixture("driver.debug"), 0600), 0);
	refuse(options.target, "stripped");
	free((char *)options.target);
}

static int setup(void **state)
{
	library_file_settled_ns = 0;
	return cache_home_make(state) ?: fixture_dir_setup(state);
}

static int teardown(void **state)
{
	return cache_home_remove(state) ?: fixture_dir_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_that_are_no_compilers_are_refused),
		cmocka_unit_test(files_that_are_no_libraries_are_refused),
		cmocka_unit_test(a_missing_toolchain_says_what_to_do),
		cmocka_unit_test(the_owner_of_a_library_cannot_have_root_read_a_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
