// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What it does on a terminal is in tests/e2e/test_top.py. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "../fixtures/output.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

static void what_is_no_terminal_is_told_what_to_do(void **state)
{
	const struct cli_record_options record = {.interval_ns = 1000000000};
	const struct cli_top_options options = {.file = "tests/golden/good-plain.qpt"};
	int saved = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY);
	struct output o;
	int status;

	(void)state;
	dup2(null, STDIN_FILENO);
	close(null);
	output_begin(&o);
	status = cmd_top(&options, &record);
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
		cmocka_unit_test(what_is_no_terminal_is_told_what_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
