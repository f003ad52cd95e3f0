// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/cargo_qprof.h"

#include "../fixtures/output.h"
#include "options/usage.h"
#include "test.h"

TEST_CASE(the_help_is_as_agreed_and_fits_a_screen)
{
	_free_ char *text = PRINTED(cargo_qprof_print_help(to_));

	assert_golden("cli/help_cargo-qprof.txt", text);
	/* The prompt has a line too. */
	assert_true(occurrences(text, "\n") <= 23);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
}

TEST_CASE(the_page_is_as_agreed)
{
	_free_ char *text = PRINTED(cargo_qprof_print_man(to_));

	assert_golden("cli/cargo-qprof.1", text);
}

TEST_CASE(words_are_those_of_the_table)
{
	assert_int_equal(cargo_word("page")->command, CLI_EXPORT);
	assert_int_equal(cargo_word("diff")->command, CLI_DIFF);
	assert_null(cargo_word("build"));
	assert_null(cargo_word("dif"));
}

TEST_CASE(help_knows_both_ways_to_write_it)
{
	assert_true(cargo_qprof_is_meant(&(struct cli_name){"cargo-qprof", NULL}));
	assert_true(cargo_qprof_is_meant(&(struct cli_name){"cargo", "qprof"}));
	assert_false(cargo_qprof_is_meant(&(struct cli_name){"cargo", NULL}));
	assert_false(cargo_qprof_is_meant(&(struct cli_name){}));
}

/* ---- Completion ------------------------------------------------------------------------------ */

static char *output_of(const char *command)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = popen(command, "r");

	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	pclose(f);
	return text;
}

static void write_script(const char *path, enum cli_shell shell, bool all)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	if (all)
		cli_print_completion(f, shell);
	else
		cargo_qprof_print_completion(f, shell);
	assert_int_equal(fclose(f), 0);
}

/* The offers of bash for the last of some words. */
static void assert_offers(const char *script, const char *words, const char *expected)
{
	_free_ char *text = NULL;
	char command[512];

	snprintf(command, sizeof(command),
		 "bash -uc '. %s && COMP_WORDS=(%s) && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && "
		 "_cargo_qprof && printf \"<%%s>\" \"${COMPREPLY[@]-}\"' 2>&1",
		 script, words);
	text = output_of(command);
	assert_string_equal(text, expected);
}

TEST_CASE(bash_completes_words_and_their_options)
{
	char script[] = "/tmp/qprof-test-XXXXXX";

	close(mkstemp(script));
	write_script(script, CLI_SHELL_BASH, true);
	assert_offers(script, "cargo-qprof rep", "<report>");
	assert_offers(script, "cargo-qprof qprof --sudo cl", "<clippy>");
	assert_offers(script, "cargo-qprof \"\"",
		      "<report><top><page><diff><export><build><check><clippy><test><run><doc>"
		      "<bench><install><rustc><--sudo><--help>");
	assert_offers(script, "cargo-qprof report --ful", "<--full>");
	assert_offers(script, "cargo-qprof qprof page --ke", "<--keys>");
	assert_offers(script, "cargo-qprof diff --metric wa", "<wall>");
	unlink(script);
}

static bool is_here(const char *shell)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", shell);
	return system(command) == 0;
}

TEST_CASE(fish_offers_them_behind_cargo)
{
	char script[] = "/tmp/qprof-test-XXXXXX", command[256];
	_free_ char *first = NULL, *second = NULL;

	if (!is_here("fish"))
		skip();
	close(mkstemp(script));
	write_script(script, CLI_SHELL_FISH, false);
	snprintf(command, sizeof(command),
		 "HOME=/tmp fish --no-config -c 'source %s; complete -C \"cargo qprof \"' 2>&1",
		 script);
	first = output_of(command);
	assert_contains(first, "\ndiff\t");
	assert_contains(first, "build\n");
	snprintf(command, sizeof(command),
		 "HOME=/tmp fish --no-config -c 'source %s; complete -C \"cargo qprof --su\"' 2>&1",
		 script);
	second = output_of(command);
	assert_contains(second, "--sudo\tget the rights");
	unlink(script);
}

/* As cargo's completion calls it, and alone. */
TEST_CASE(zsh_offers_them)
{
	char directory[] = "/tmp/qprof-test-XXXXXX", script[64], command[512];
	static const char *const offered[] = {"\ndiff\n", "\nclippy\n", "\n--full\n"};

	if (!is_here("zsh"))
		skip();
	assert_non_null(mkdtemp(directory));
	snprintf(script, sizeof(script), "%s/cargo", directory);
	write_script(script, CLI_SHELL_ZSH, false);
	snprintf(script, sizeof(script), "%s/own", directory);
	write_script(script, CLI_SHELL_ZSH, true);
	snprintf(script, sizeof(script), "%s/both", directory);
	snprintf(command, sizeof(command), ". %s/own\n. %s/cargo\n", directory, directory);
	output_write(script, command);
	snprintf(command, sizeof(command),
		 "printf '%%s\\n' 'cargo-qprof d' 'cargo-qprof --sudo cl' "
		 "'cargo-qprof qprof report --fu' | "
		 "TERM=dumb zsh -f tests/fixtures/zsh_offers.zsh %s %s",
		 script, directory);
	assert_int_equal(system(command), 0);
	for (int i = 0; i < 3; i++) {
		_free_ char *text = NULL, *lines = NULL;

		snprintf(script, sizeof(script), "%s/%d", directory, i + 1);
		text = output_read(script);
		assert_true(asprintf(&lines, "\n%s", text) > 0);
		assert_contains(lines, offered[i]);
	}
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

TEST_MAIN(NULL, NULL)
