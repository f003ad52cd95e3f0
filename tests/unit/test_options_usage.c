// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "options/usage.h"
#include "options/command.h"

#include "../fixtures/output.h"

static char *help_of(enum cli_command_id id)
{
	return id == CLI_N_COMMANDS ? PRINTED(cli_print_overview(to_))
				    : PRINTED(cli_print_help(to_, id));
}

static void the_overview_is_as_agreed(void **state)
{
	_free_ char *text = help_of(CLI_N_COMMANDS);

	assert_golden("cli/help.txt", text);
}

static void the_help_of_each_command_is_as_agreed(void **state)
{
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		_free_ char *text = help_of(id);
		char name[64];

		snprintf(name, sizeof(name), "cli/help_%s.txt", cli_command(id)->name);
		for (char *space; (space = strchr(name, ' '));)
			*space = '-';
		assert_golden(name, text);
	}
}

static void lines_fit_a_terminal(void **state)
{
	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		_free_ char *text = help_of(id);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			if (strlen(line) > 80 || line[strlen(line) - 1] == ' ')
				fail_msg("'%s'", line);
		}
	}
}

static void headings_name_argument_and_choices(void **state)
{
	const struct cli_option choice = {
		.name = "attach", .arg = "HOW", .kind = CLI_CHOICE, .choices = "a|b"};
	const struct cli_option lettered = {.letter = 'o', .name = "output", .arg = "FILE"};
	const struct cli_option flag = {.letter = 'f', .name = "force"};
	char text[128];

	cli_option_heading(&choice, text);
	assert_string_equal(text, "    --attach=a|b");
	cli_option_heading(&lettered, text);
	assert_string_equal(text, "-o, --output=FILE");
	cli_option_heading(&flag, text);
	assert_string_equal(text, "-f, --force");
}

static void a_group_lists_its_commands_and_the_overview_does_not(void **state)
{
	_free_ char *overview = help_of(CLI_N_COMMANDS), *group = help_of(CLI_HISTORY);
	_free_ char *usage = PRINTED(cli_print_usage_line(to_, CLI_HISTORY, true));

	assert_contains(overview, "\n       qprof-bpf history COMMAND");
	assert_lacks(overview, "qprof-bpf history add");
	for (enum cli_command_id id = CLI_HISTORY_ADD; id <= CLI_HISTORY_MIGRATE; id++) {
		char line[128];

		snprintf(line, sizeof(line), "\n       qprof-bpf %s ", cli_command(id)->name);
		assert_contains(usage, line);
		snprintf(line, sizeof(line), "\n  %-10s ", cli_command_verb(id));
		assert_contains(group, line);
		assert_contains(group, cli_command(id)->summary);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_overview_is_as_agreed),
		cmocka_unit_test(the_help_of_each_command_is_as_agreed),
		cmocka_unit_test(lines_fit_a_terminal),
		cmocka_unit_test(a_group_lists_its_commands_and_the_overview_does_not),
		cmocka_unit_test(headings_name_argument_and_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
