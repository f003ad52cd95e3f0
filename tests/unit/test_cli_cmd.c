// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "cli/cmd.h"

#include "../fixtures/output.h"
#include "options/exit_code.h"

static void a_file_that_is_no_trace_is_named(void **state)
{
	struct trace_reader *r = NULL;
	struct output o;

	output_begin(&o);
	assert_int_not_equal(cmd_open_trace("/dev/null", &r), 0);
	output_end(&o);
	assert_null(r);
	assert_contains(o.text[1], "cannot read /dev/null");
	output_free(&o);
}

static void the_size_of_a_trace_limits_its_printed_output(void **state)
{
	assert_int_equal(cmd_most_output(0), CMD_OUTPUT_FREE);
	assert_int_equal(cmd_most_output(10), CMD_OUTPUT_FREE + 10 * CMD_OUTPUT_FACTOR);
	assert_int_equal(cmd_most_output(UINT64_MAX), UINT64_MAX);
	cmd_set_limits(false);
	assert_int_equal(cmd_most_output(10), UINT64_MAX);
	cmd_set_limits(true);
}

static void a_stream_fails_at_its_limit(void **state)
{
	struct cmd_output bound = {.most = 4};
	struct output o;
	FILE *out;
	int err;

	output_begin(&o);
	out = cmd_open_output(&bound);
	fputs("abcd", out);
	err = cmd_close_output(&bound, out, 0);
	assert_int_equal(err, 0);
	out = cmd_open_output(&bound);
	fputs("e", out);
	err = cmd_close_output(&bound, out, 0);
	fflush(stdout);
	output_end(&o);
	assert_int_equal(err, -EFBIG);
	assert_string_equal(o.text[0], "abcd");
	output_free(&o);
}

static void without_a_stream_the_error_is_kept(void **state)
{
	struct cmd_output bound = {};

	assert_int_equal(cmd_close_output(&bound, NULL, -EIO), -EIO);
	assert_int_equal(cmd_close_output(&bound, NULL, 0), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_no_trace_is_named),
		cmocka_unit_test(the_size_of_a_trace_limits_its_printed_output),
		cmocka_unit_test(a_stream_fails_at_its_limit),
		cmocka_unit_test(without_a_stream_the_error_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
