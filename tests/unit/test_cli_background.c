// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/background.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include "../fixtures/output.h"
#include "cli/exit_code.h"

/* A recording that cannot begin needs neither root nor a kernel. */
static void a_recording_that_fails_says_why_when_asked(void **state)
{
	const char *words[] = {""};
	char *command[] = {(char *)"true", NULL};
	const struct cli_record_options options = {.command = command, .events = {words, 1}};
	_background_ struct background b = BACKGROUND_NONE;
	struct pollfd ended;
	struct output o;

	(void)state;
	output_begin(&o);
	assert_int_equal(background__start(&b, &options), 0);
	ended = (struct pollfd){.fd = b.ended_fd, .events = POLLIN};
	assert_int_equal(poll(&ended, 1, -1), 1);
	assert_true(background__ended(&b));
	assert_false(background__begun(&b));
	output_end(&o);
	/* Kept aside until then. */
	assert_string_equal(o.text[0], "");
	assert_string_equal(o.text[1], "");
	output_free(&o);
	assert_true(WIFEXITED(b.status));
	assert_int_equal(WEXITSTATUS(b.status), EXIT_CODE_FAILURE);

	output_begin(&o);
	background__tell(&b);
	background__tell(&b);
	output_end(&o);
	assert_string_equal(o.text[1], "qprof-bpf: error: there is an empty word in the list of "
				       "--events\n");
	output_free(&o);
	/* It has ended, and its number may be another's. */
	background__stop(&b, 9);
}

static void none_has_ended(void **state)
{
	_background_ struct background b = BACKGROUND_NONE;

	(void)state;
	assert_true(background__ended(&b));
	background__stop(&b, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_that_fails_says_why_when_asked),
		cmocka_unit_test(none_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
