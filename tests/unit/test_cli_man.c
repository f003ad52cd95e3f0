// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/man.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "../fixtures/output.h"

static char *man_page(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cli_print_man(out);
	fclose(out);
	return text;
}

static void the_page_is_as_agreed(void **state)
{
	char *text = man_page();

	(void)state;
	assert_golden("cli/qprof-bpf.1", text);
	free(text);
}

static void every_request_is_one_of_man(void **state)
{
	static const char *const known[] = {"TH", "SH", "SS", "TP", "PP", "B",
					    "BR", "br", "in", "EX", "EE"};
	char *text = man_page();

	(void)state;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		bool found = line[0] != '.' && line[0] != '\'';

		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
			size_t len = strlen(known[i]);

			found |= !strncmp(line + 1, known[i], len) &&
				 (!line[1 + len] || line[1 + len] == ' ');
		}
		if (!found)
			fail_msg("'%s'", line);
	}
	free(text);
}

static void groff_finds_nothing_to_warn_about(void **state)
{
	struct output o;
	char *text;
	int status;

	(void)state;
	if (system("command -v groff >/dev/null") != 0) {
		print_message("no groff here: not checked\n");
		return;
	}
	text = man_page();
	output_begin(&o);
	output_write("/tmp/qprof-test.1", text);
	status = system("groff -man -Tascii -ww -z /tmp/qprof-test.1");
	unlink("/tmp/qprof-test.1");
	output_end(&o);
	assert_string_equal(o.text[1], "");
	assert_int_equal(status, 0);
	output_free(&o);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_as_agreed),
		cmocka_unit_test(every_request_is_one_of_man),
		cmocka_unit_test(groff_finds_nothing_to_warn_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
