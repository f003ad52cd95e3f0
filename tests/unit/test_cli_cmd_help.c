// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The commands that only print, help and version, and their failure on a full disk. */
#include <fcntl.h>

#include "test.h"
#include "../fixtures/output.h"
#include "base/version.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

static char *help(const struct cli_help_options *options, int expected)
{
	struct output o;
	int status;

	output_begin(&o);
	status = cmd_help(options);
	output_end(&o);
	assert_int_equal(status, expected);
	assert_int_equal(status == EXIT_CODE_OK, !*o.text[1]);
	free(o.text[status == EXIT_CODE_OK]);
	return o.text[status != EXIT_CODE_OK];
}

static void assert_help(const struct cli_help_options *options, const char *golden)
{
	_free_ char *text = help(options, EXIT_CODE_OK);

	assert_golden(golden, text);
}

static void without_a_topic_there_is_an_overview(void **state)
{
	assert_help(&(struct cli_help_options){}, "cli/help.txt");
}

static void a_topic_is_explained(void **state)
{
	assert_help(&(struct cli_help_options){.topic.word = "plan"}, "cli/help_plan.txt");
}

static void an_unknown_topic_is_a_usage_error(void **state)
{
	_free_ char *text = help(&(struct cli_help_options){.topic.word = "nope"}, EXIT_CODE_USAGE);

	assert_contains(text, "no command 'nope'");
}

static void a_topic_may_be_two_words(void **state)
{
	_free_ char *text =
		help(&(struct cli_help_options){.topic = {"history", "nope"}}, EXIT_CODE_USAGE);

	assert_contains(text, "no command 'history nope'");
	assert_help(&(struct cli_help_options){.topic = {"history", "add"}},
		    "cli/help_history-add.txt");
}

static void manual_and_completion_are_printed(void **state)
{
	_free_ char *text =
		help(&(struct cli_help_options){.completion = CLI_SHELL_ZSH}, EXIT_CODE_OK);

	assert_help(&(struct cli_help_options){.man = true}, "cli/qprof-bpf.1");
	assert_help(&(struct cli_help_options){.man = true, .topic.word = "plan"},
		    "cli/qprof-bpf-plan.1");
	assert_contains(text, "#compdef qprof-bpf\n");
}

static void the_version_is_one_line(void **state)
{
	struct output o;

	output_begin(&o);
	assert_int_equal(cmd_version(&(struct cli_version_options){}), EXIT_CODE_OK);
	output_end(&o);
	assert_string_equal(o.text[0], "qprof-bpf " QPROF_VERSION "\n");
	output_free(&o);
}

static void a_full_disk_is_a_failure(void **state)
{
	struct output o;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), status;

	output_begin(&o);
	dup2(full, STDOUT_FILENO);
	close(full);
	status = cmd_version(&(struct cli_version_options){});
	clearerr(stdout);
	output_end(&o);
	assert_int_equal(status, EXIT_CODE_FAILURE);
	assert_contains(o.text[1], "cannot write to standard output: No space left");
	output_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_topic_there_is_an_overview),
		cmocka_unit_test(a_topic_is_explained),
		cmocka_unit_test(an_unknown_topic_is_a_usage_error),
		cmocka_unit_test(a_topic_may_be_two_words),
		cmocka_unit_test(manual_and_completion_are_printed),
		cmocka_unit_test(the_version_is_one_line),
		cmocka_unit_test(a_full_disk_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
