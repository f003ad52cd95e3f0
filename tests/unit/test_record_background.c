// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "record/background.h"

#include <poll.h>
#include <sys/wait.h>

#include "../fixtures/output.h"
#include "options/exit_code.h"

/* The invalid event list makes the recording fail before it needs root or BPF. */
TEST_CASE(a_recording_that_fails_says_why_when_asked)
{
	const char *words[] = {""};
	char *command[] = {(char *)"true", NULL};
	const struct cli_record_options options = {.command = command, .events = {words, 1}};
	_background_ struct background b = BACKGROUND_NONE;
	struct pollfd ended;
	struct output o;

	output_begin(&o);
	assert_int_equal(background__prepare(&b, &options), 0);
	background__go(&b);
	ended = (struct pollfd){.fd = b.ended_fd, .events = POLLIN};
	assert_int_equal(poll(&ended, 1, -1), 1);
	assert_true(background__ended(&b));
	assert_false(background__begun(&b));
	output_end(&o);
	/* background__pass_on() prints the messages; before that they are only stored. */
	assert_string_equal(o.text[0], "");
	assert_string_equal(o.text[1], "");
	output_free(&o);
	assert_true(WIFEXITED(b.status));
	assert_int_equal(WEXITSTATUS(b.status), EXIT_CODE_FAILURE);

	output_begin(&o);
	background__pass_on(&b);
	background__pass_on(&b);
	output_end(&o);
	assert_string_equal(o.text[1], "qprof-bpf: error: there is an empty word in the list of "
				       "--events\n");
	output_free(&o);
	/* Its pid may belong to another process by now, so no signal may be sent. */
	background__stop(&b, 9);
}

/* The view destroys a prepared recording if the view itself cannot start. */
TEST_CASE(without_a_go_nothing_is_recorded)
{
	const char *words[] = {""};
	const struct cli_record_options options = {.system = true, .events = {words, 1}};
	_background_ struct background b = BACKGROUND_NONE;
	_output_ struct output o;
	int status;
	pid_t pid;

	output_begin(&o);
	assert_int_equal(background__prepare(&b, &options), 0);
	pid = b.pid;
	background__destroy(&b);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	output_end(&o);
	assert_string_equal(o.text[1], "");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_CODE_FAILURE);
}

TEST_CASE(none_has_ended)
{
	_background_ struct background b = BACKGROUND_NONE;

	assert_true(background__ended(&b));
	background__stop(&b, 0);
}

TEST_MAIN(NULL, NULL)
