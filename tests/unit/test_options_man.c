// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "options/man.h"
#include "options/command.h"

#include "../fixtures/output.h"

/* CLI_N_COMMANDS: the overview page. */
static char *man_page(enum cli_command_id id)
{
	return PRINTED(cli_print_man(to_, id));
}

static void the_pages_are_as_agreed(void **state)
{
	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		bool overview = id == CLI_N_COMMANDS;
		_free_ char *text = man_page(id);
		char golden[80];

		snprintf(golden, sizeof(golden), "cli/qprof-bpf%s%s.1", overview ? "" : "-",
			 overview ? "" : cli_command(id)->name);
		for (char *space; (space = strchr(golden, ' '));)
			*space = '-';
		assert_golden(golden, text);
	}
}

static void each_page_has_the_sections_that_man_wants(void **state)
{
	static const char *const wanted[] = {".SH NAME\n",	  ".SH SYNOPSIS\n",
					     ".SH DESCRIPTION\n", ".SH EXIT STATUS\n",
					     ".SH EXAMPLES\n",	  ".SH SEE ALSO\n"};

	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		_free_ char *text = man_page(id);

		for (size_t i = 0; i < N_OF(wanted); i++)
			assert_contains(text, wanted[i]);
	}
}

static void check_requests(char *text)
{
	static const char *const known[] = {"TH", "SH", "SS", "TP", "PP", "B",
					    "BR", "RB", "br", "in", "EX", "EE"};

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		bool found = line[0] != '.' && line[0] != '\'';

		for (size_t i = 0; i < N_OF(known); i++) {
			size_t len = strlen(known[i]);

			found |= !strncmp(line + 1, known[i], len) &&
				 (!line[1 + len] || line[1 + len] == ' ');
		}
		if (!found)
			fail_msg("'%s'", line);
	}
}

static void every_request_is_one_of_man(void **state)
{
	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		_free_ char *text = man_page(id);

		check_requests(text);
	}
}

static void groff_finds_nothing_to_warn_about(void **state)
{
	if (system("command -v groff >/dev/null") != 0) {
		print_message("no groff here\n");
		skip();
	}
	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		_output_ struct output o = {};
		FILE *groff;

		output_begin(&o);
		groff = popen("groff -man -Tutf8 -ww -z", "w");
		cli_print_man(groff, id);
		assert_int_equal(pclose(groff), 0);
		output_end(&o);
		assert_string_equal(o.text[1], "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pages_are_as_agreed),
		cmocka_unit_test(each_page_has_the_sections_that_man_wants),
		cmocka_unit_test(every_request_is_one_of_man),
		cmocka_unit_test(groff_finds_nothing_to_warn_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
