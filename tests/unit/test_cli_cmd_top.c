// SPDX-License-Identifier: Apache-2.0 OR MIT
/* tests/e2e/test_top.py tests `top` on a terminal. */
#include <fcntl.h>

#include "test.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

static void without_a_terminal_the_fix_is_named(void **state)
{
	const struct cli_top_options options = {
		.file = "tests/golden/good-plain.qpt",
		.record = {.interval_ns = 1000000000},
	};
	int saved = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY);
	struct output o;
	int status;

	dup2(null, STDIN_FILENO);
	close(null);
	output_begin(&o);
	status = cmd_top(&options);
	output_end(&o);
	dup2(saved, STDIN_FILENO);
	close(saved);
	assert_int_equal(status, EXIT_CODE_FAILURE);
	assert_string_equal(o.text[0], "");
	assert_string_equal(o.text[1],
			    "qprof-bpf: error: top needs a terminal: stdin is none. \"qprof-bpf "
			    "record\" prints blocks of lines anywhere, and \"qprof-bpf report\" "
			    "shows a trace\n");
	output_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_terminal_the_fix_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
