// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/completion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "../fixtures/output.h"

static char script[] = "/tmp/qprof-test-completion-XXXXXX";

static int write_script(void **state)
{
	int fd = mkstemp(script);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	(void)state;
	if (!f)
		return -1;
	cli_print_completion(f, CLI_SHELL_BASH);
	return fclose(f);
}

static int remove_script(void **state)
{
	(void)state;
	return unlink(script);
}

/*
 * What bash offers for a line, one a line; it is split at spaces and at "=", as bash does it. The
 * last word, empty or not, is the one to complete.
 */
static char *offers(const char *words)
{
	char command[1024];
	char *text = NULL;
	size_t size = 0;
	FILE *bash;

	snprintf(command, sizeof(command),
		 "bash -uc '. %s && COMP_WORDS=(%s) && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && "
		 "_qprof_bpf && printf \"<%%s>\" \"${COMPREPLY[@]-}\"' 2>&1",
		 script, words);
	bash = popen(command, "r");
	assert_non_null(bash);
	assert_true(getdelim(&text, &size, '\0', bash) > 0);
	assert_int_equal(pclose(bash), 0);
	return text;
}

static void check(const char *words, const char *expected)
{
	char *text = offers(words);

	assert_string_equal(text, expected);
	free(text);
}

static void the_first_word_is_a_command(void **state)
{
	(void)state;
	check("qprof-bpf rep", "<report>");
	check("qprof-bpf pl", "<plan>");
}

static void options_are_those_of_the_command(void **state)
{
	(void)state;
	check("qprof-bpf --ring", "<--ring-size>");
	check("qprof-bpf record --ring", "<--ring-size>");
	check("qprof-bpf report --ring", "<>");
	check("qprof-bpf report --to", "<--top>");
	check("qprof-bpf plan --no", "<--no-cache>");
}

static void values_are_offered(void **state)
{
	(void)state;
	check("qprof-bpf --attach mu", "<multi>");
	check("qprof-bpf --attach = p", "<perf>");
	check("qprof-bpf --attach =", "<auto><multi><perf>");
	check("qprof-bpf help --completion z", "<zsh>");
	check("qprof-bpf help rec", "<record>");
	check("qprof-bpf --interval 1", "<>");
}

static void pids_and_files_are_offered(void **state)
{
	char pid[64], *text;

	(void)state;
	snprintf(pid, sizeof(pid), "qprof-bpf -p %d", getpid());
	text = offers(pid);
	assert_non_null(strstr(text, pid + strlen("qprof-bpf -p ")));
	free(text);
	text = offers("qprof-bpf report /tmp/qprof-test-comp");
	assert_contains(text, script);
	free(text);
}

static void behind_two_dashes_commands_are_offered(void **state)
{
	char *text = offers("qprof-bpf -q -- print");

	(void)state;
	assert_contains(text, "<printf>");
	assert_lacks(text, "<--");
	free(text);
}

static void the_other_shells_have_a_line_per_option(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	cli_print_completion(out, CLI_SHELL_FISH);
	cli_print_completion(out, CLI_SHELL_ZSH);
	cli_print_completion(out, CLI_SHELL_NONE);
	fclose(out);
	assert_contains(text, " -s p -l pid -r -f -a '(__fish_complete_pids)'");
	assert_contains(text, "-n '__fish_seen_subcommand_from report' -s n -l top -r -f");
	assert_contains(text, "'*'{-p,--pid=}'[");
	assert_contains(text, ":HOW:(auto multi perf)'");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_word_is_a_command),
		cmocka_unit_test(options_are_those_of_the_command),
		cmocka_unit_test(values_are_offered),
		cmocka_unit_test(pids_and_files_are_offered),
		cmocka_unit_test(behind_two_dashes_commands_are_offered),
		cmocka_unit_test(the_other_shells_have_a_line_per_option),
	};

	return cmocka_run_group_tests(tests, write_script, remove_script);
}
