// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "options/man.h"

#include "../fixtures/output.h"

/* CLI_N_COMMANDS: the overview page. */
static char *man_page(enum cli_command_id id)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cli_print_man(out, id);
	fclose(out);
	return text;
}

static void page_name(enum cli_command_id id, char name[64])
{
	if (id == CLI_N_COMMANDS)
		strcpy(name, "qprof-bpf.1");
	else
		snprintf(name, 64, "qprof-bpf-%s.1", cli_command(id)->name);
}

static void the_pages_are_as_agreed(void **state)
{
	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		char *text = man_page(id), name[64], golden[80];

		page_name(id, name);
		snprintf(golden, sizeof(golden), "cli/%s", name);
		assert_golden(golden, text);
		free(text);
	}
}

static void each_page_has_the_sections_that_man_wants(void **state)
{
	static const char *const wanted[] = {".SH NAME\n",	  ".SH SYNOPSIS\n",
					     ".SH DESCRIPTION\n", ".SH EXIT STATUS\n",
					     ".SH EXAMPLES\n",	  ".SH SEE ALSO\n"};

	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		char *text = man_page(id);

		for (size_t i = 0; i < N_OF(wanted); i++)
			assert_contains(text, wanted[i]);
		free(text);
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
		char *text = man_page(id);

		check_requests(text);
		free(text);
	}
}

static void groff_finds_nothing_to_warn_about(void **state)
{
	if (system("command -v groff >/dev/null") != 0) {
		print_message("no groff here\n");
		skip();
	}
	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		struct output o;
		FILE *groff;

		output_begin(&o);
		groff = popen("groff -man -Tutf8 -ww -z", "w");
		cli_print_man(groff, id);
		assert_int_equal(pclose(groff), 0);
		output_end(&o);
		assert_string_equal(o.text[1], "");
		output_free(&o);
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
