// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "trace/trace.h"

static void a_copy_owns_its_texts(void **state)
{
	char command[] = "rustc a.rs", crate[] = "a";
	struct trace_process p = {
		.index = 3,
		.pid = 7,
		.end_ns = 9,
		.exit_status = 256,
		.command = command,
		.crate = crate,
	};
	struct trace_process copy;

	assert_int_equal(trace_process__copy(&copy, &p), 0);
	command[0] = crate[0] = 'X';
	assert_string_equal(copy.command, "rustc a.rs");
	assert_string_equal(copy.crate, "a");
	assert_null(copy.crate_type);
	assert_int_equal(copy.index, 3);
	assert_int_equal(copy.pid, 7);
	assert_int_equal(copy.end_ns, 9);
	assert_int_equal(copy.exit_status, 256);
	trace_process__clear(&copy);
	assert_null(copy.command);
	assert_int_equal(copy.exit_status, TRACE_EXIT_UNKNOWN);
	trace_process__clear(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_owns_its_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
