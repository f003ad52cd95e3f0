// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The tables themselves, and that help, manual and completion show all of them.
 */
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "../fixtures/output.h"
#include "cli/completion.h"
#include "cli/man.h"
#include "cli/usage.h"

/* What `print` prints. */
static char *printed(void (*print)(FILE *out, int arg), int arg)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print(out, arg);
	fclose(out);
	return text;
}

static void print_help(FILE *out, int id)
{
	cli_print_help(out, (enum cli_command_id)id);
}

static void print_man(FILE *out, int arg)
{
	(void)arg;
	cli_print_man(out);
}

static void print_completion(FILE *out, int shell)
{
	cli_print_completion(out, (enum cli_shell)shell);
}

/* As roff spells it. */
static void escape_dashes(const char *text, char *out)
{
	for (; *text; text++) {
		if (*text == '-')
			*out++ = '\\';
		*out++ = *text;
	}
	*out = '\0';
}

static void rows_are_sound(void **state)
{
	size_t n;
	const struct cli_option *o = cli_options(&n);

	(void)state;
	for (size_t i = 0; i < n; i++, o++) {
		bool flag = o->kind == CLI_FLAG || o->kind == CLI_COUNT;

		assert_true(o->commands && !(o->commands & ~CLI_ALL));
		assert_non_null(o->name);
		assert_true(strlen(o->help) > 10 && o->help[strlen(o->help) - 1] == '.');
		assert_int_equal(flag, !o->arg);
		assert_int_equal(o->kind == CLI_CHOICE, !!o->choices);
		assert_true(o->offset < sizeof(struct cli));
	}
}

static void no_command_has_an_option_twice(void **state)
{
	size_t n;
	const struct cli_option *o = cli_options(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			if (!(o[i].commands & o[j].commands))
				continue;
			assert_string_not_equal(o[i].name, o[j].name);
			assert_true(!o[i].letter || o[i].letter != o[j].letter);
		}
	}
}

static void commands_are_found_by_name(void **state)
{
	(void)state;
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const struct cli_command *command = cli_command(id);

		assert_int_equal(cli_command_by_name(command->name), id);
		assert_true(command->summary && command->text && command->run && command->usage);
		if (command->operand.name)
			assert_contains(command->usage, command->operand.name);
	}
	assert_int_equal(cli_command_by_name("nope"), CLI_N_COMMANDS);
}

static void help_shows_what_a_command_takes_and_no_more(void **state)
{
	size_t n;
	const struct cli_option *options = cli_options(&n);

	(void)state;
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const struct cli_example *example = cli_command(id)->examples;
		char *help = printed(print_help, id);

		for (size_t i = 0; i < n; i++) {
			char heading[128], line[140];

			cli_option_heading(&options[i], heading);
			snprintf(line, sizeof(line), "\n  %s", heading);
			if (cli_takes(id, &options[i]))
				assert_contains(help, line);
		}
		for (size_t i = 0, shown = 0; help[i]; i++) {
			shown += !strncmp(help + i, "\n  -", 4) ||
				 !strncmp(help + i, "\n      --", 9);
			if (help[i + 1])
				continue;
			for (size_t j = 0; j < n; j++)
				shown -= cli_takes(id, &options[j]);
			assert_int_equal(shown, 0);
		}
		for (; example->line; example++)
			assert_contains(help, example->line);
		free(help);
	}
}

static void the_manual_shows_everything(void **state)
{
	char *man = printed(print_man, 0), escaped[512];
	size_t n;
	const struct cli_option *o = cli_options(&n);
	const struct cli_exit_code *codes;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char heading[128];

		cli_option_heading(&o[i], heading);
		escape_dashes(heading + strspn(heading, " "), escaped);
		assert_contains(man, escaped);
	}
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const struct cli_example *example = cli_command(id)->examples;

		escape_dashes(cli_command(id)->usage, escaped);
		assert_contains(man, escaped);
		for (; example->line; example++) {
			escape_dashes(example->line, escaped);
			assert_contains(man, escaped);
		}
	}
	codes = cli_exit_codes(&n);
	for (size_t i = 0; i < n; i++) {
		snprintf(escaped, sizeof(escaped), ".B %d\n", codes[i].code);
		assert_contains(man, escaped);
	}
	free(man);
}

static void completion_knows_every_option_of_every_command(void **state)
{
	static const char *const forms[] = {
		[CLI_SHELL_BASH] = "--%s ", [CLI_SHELL_ZSH] = "--%s", [CLI_SHELL_FISH] = "-l %s "};
	size_t n;
	const struct cli_option *o = cli_options(&n);

	(void)state;
	for (int shell = CLI_SHELL_BASH; shell <= CLI_SHELL_FISH; shell++) {
		char *script = printed(print_completion, shell);

		for (size_t i = 0; i < n; i++) {
			char word[64];

			snprintf(word, sizeof(word), forms[shell], o[i].name);
			assert_contains(script, word);
		}
		for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++)
			assert_contains(script, cli_command(id)->name);
		free(script);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(no_command_has_an_option_twice),
		cmocka_unit_test(commands_are_found_by_name),
		cmocka_unit_test(help_shows_what_a_command_takes_and_no_more),
		cmocka_unit_test(the_manual_shows_everything),
		cmocka_unit_test(completion_knows_every_option_of_every_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
