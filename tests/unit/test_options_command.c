// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The option tables. Help, manual and parser must have exactly the options in the tables.
 * test_options_completion.c covers the completion in shells.
 */
#include "test.h"
#include "options/command.h"

#include "../fixtures/output.h"
#include "options/parse.h"
#include "options/usage.h"

/* roff needs a backslash before each dash. */
static void escape_dashes(const char *text, char *out)
{
	for (; *text; text++) {
		if (*text == '-')
			*out++ = '\\';
		*out++ = *text;
	}
	*out = '\0';
}

static void check_row(const struct cli_option *o)
{
	bool flag = o->kind == CLI_FLAG || o->kind == CLI_COUNT;

	assert_non_null(o->name);
	assert_true(strlen(o->help) > 10 && o->help[strlen(o->help) - 1] == '.');
	assert_int_equal(flag, !o->arg);
	assert_int_equal(o->kind == CLI_CHOICE, !!o->choices);
	assert_true(o->offset < sizeof(struct cli));
}

TEST_CASE(rows_are_sound)
{
	const struct cli_option *o;

	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		size_t n = 0;

		for (; (o = cli_option(id, n)); n++)
			check_row(o);
		assert_true(n >= 3 && cli_option_is_common(cli_option(id, n - 3)));
		assert_true(n == 3 || !cli_option_is_common(cli_option(id, n - 4)));
		assert_null(cli_option(id, n + 1));
	}
}

TEST_CASE(no_command_has_an_option_twice)
{
	const struct cli_option *a, *b;

	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		for (size_t i = 0; (a = cli_option(id, i)); i++) {
			for (size_t j = 0; j < i; j++) {
				b = cli_option(id, j);
				assert_string_not_equal(a->name, b->name);
				assert_true(!a->letter || a->letter != b->letter);
			}
		}
	}
}

static enum cli_command_id find(const char *words)
{
	char text[64];
	struct cli_name name = {.word = text};

	snprintf(text, sizeof(text), "%s", words);
	name.word = strtok(text, " ");
	name.verb = strtok(NULL, " ");
	return cli_command_by_name(&name);
}

TEST_CASE(commands_are_found_by_name)
{
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const struct cli_command *command = cli_command(id);

		assert_int_equal(find(command->name), id);
		assert_true(command->summary && command->text && command->usage);
		assert_non_null(command->examples->line);
		if (command->operand.name)
			assert_contains(command->usage, command->operand.name);
	}
	assert_int_equal(find("nope"), CLI_N_COMMANDS);
	assert_int_equal(find("history nope"), CLI_N_COMMANDS);
	assert_int_equal(find("report add"), CLI_N_COMMANDS);
	assert_int_equal(find("add"), CLI_N_COMMANDS);
}

TEST_CASE(a_group_has_the_commands_that_start_with_its_name)
{
	assert_true(cli_command_is_group(CLI_HISTORY));
	assert_false(cli_command_is_group(CLI_HISTORY_ADD));
	assert_false(cli_command_is_group(CLI_VERSION));
	assert_true(cli_command_is_in(CLI_HISTORY_ADD, CLI_HISTORY));
	assert_false(cli_command_is_in(CLI_HISTORY, CLI_HISTORY));
	assert_false(cli_command_is_in(CLI_DIFF, CLI_HISTORY));
	assert_string_equal(cli_command_verb(CLI_HISTORY_ADD), "add");
	assert_null(cli_command_verb(CLI_DIFF));
}

/* The help and the manual. */
TEST_CASE(what_a_command_takes_is_shown_and_no_more)
{
	const struct cli_option *o;

	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const struct cli_example *example = cli_command(id)->examples;
		_free_ char *help = PRINTED(cli_print_help(to_, id));
		_free_ char *man = PRINTED(cli_print_man(to_, id));
		char heading[128], escaped[512], line[600];
		size_t taken = 0;

		for (; (o = cli_option(id, taken)); taken++) {
			cli_option_heading(o, heading);
			snprintf(line, sizeof(line), "\n  %s", heading);
			assert_contains(help, line);
			escape_dashes(heading + strspn(heading, " "), escaped);
			snprintf(line, sizeof(line), ".TP\n.B %s\n", escaped);
			assert_contains(man, line);
		}
		assert_int_equal(occurrences(help, "\n  -") + occurrences(help, "\n      --"),
				 taken);
		assert_int_equal(occurrences(man, ".TP\n.B \\-"), taken);
		escape_dashes(cli_command(id)->usage, escaped);
		assert_contains(man, escaped);
		for (; example->line; example++) {
			assert_contains(help, example->line);
			escape_dashes(example->line, escaped);
			assert_contains(man, escaped);
		}
	}
}

/* A valid argument for an option of this kind. */
static const char *sample_argument(const struct cli_option *o)
{
	static char choice[32];

	switch (o->kind) {
	case CLI_CHOICE:
		snprintf(choice, sizeof(choice), "%.*s", (int)strcspn(o->choices, "|"), o->choices);
		return choice;
	case CLI_SIZE:
		return "16m";
	case CLI_DURATION:
	case CLI_THRESHOLD:
	case CLI_GATES:
	case CLI_LIMITS:
		return "1s";
	default:
		return "1";
	}
}

/* Does the parser accept --name or, if `letter`, -x? With --help, no target is needed. */
static bool parses(enum cli_command_id id, const struct cli_option *o, bool letter)
{
	char word[64], command[32], argument[64], program[] = "qprof-bpf", help[] = "--help";
	char *argv[] = {program, command, NULL, NULL, NULL, NULL, NULL}, **next = argv + 2;
	_cli_ struct cli cli = {};
	_output_ struct output out = {};

	strcpy(command, cli_command(id)->name);
	if (cli_command_verb(id)) {
		*next++ = command + (cli_command_verb(id) - cli_command(id)->name);
		next[-1][-1] = '\0';
	}
	*next++ = word;
	*next++ = o->arg && !o->implied ? argument : help;
	*next++ = help;
	snprintf(argument, sizeof(argument), "%s", sample_argument(o));
	if (letter)
		snprintf(word, sizeof(word), "-%c", o->letter);
	else
		snprintf(word, sizeof(word), "--%s", o->name);
	return !CAPTURED(&out, cli_parse((int)(next - argv), argv, &cli));
}

/* Or one that begins with it. */
static bool has_name(enum cli_command_id id, const char *name)
{
	const struct cli_option *o;

	for (size_t i = 0; (o = cli_option(id, i)); i++) {
		if (!strncmp(o->name, name, strlen(name)))
			return true;
	}
	return false;
}

/* Command `id` accepts its own options, and rejects those that only `other` has. */
static void check_parser(enum cli_command_id id, enum cli_command_id other)
{
	const struct cli_option *o;

	for (size_t i = 0; (o = cli_option(other, i)); i++) {
		if (id == other) {
			assert_true(parses(id, o, false));
			assert_true(!o->letter || parses(id, o, true));
		} else if (!has_name(id, o->name)) {
			assert_false(parses(id, o, false));
		}
	}
}

TEST_CASE(the_parser_takes_what_a_command_takes_and_no_more)
{
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		for (enum cli_command_id other = 0; other < CLI_N_COMMANDS; other++)
			check_parser(id, other);
	}
}

/* ---- Usage ----------------------------------------------------------------------------------- */

static char *help_of(enum cli_command_id id)
{
	return id == CLI_N_COMMANDS ? PRINTED(cli_print_overview(to_))
				    : PRINTED(cli_print_help(to_, id));
}

TEST_CASE(the_overview_is_as_agreed)
{
	_free_ char *text = help_of(CLI_N_COMMANDS);

	assert_golden("cli/help.txt", text);
}

TEST_CASE(the_help_of_each_command_is_as_agreed)
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

TEST_CASE(lines_fit_a_terminal)
{
	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		_free_ char *text = help_of(id);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			if (strlen(line) > 80 || line[strlen(line) - 1] == ' ')
				fail_msg("'%s'", line);
		}
	}
}

/* ---- Man ------------------------------------------------------------------------------------- */

/* CLI_N_COMMANDS: the overview page. */
static char *man_page(enum cli_command_id id)
{
	return PRINTED(cli_print_man(to_, id));
}

TEST_CASE(the_pages_are_as_agreed)
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

TEST_CASE(every_request_is_one_of_man)
{
	for (enum cli_command_id id = 0; id <= CLI_N_COMMANDS; id++) {
		_free_ char *text = man_page(id);

		check_requests(text);
	}
}

TEST_CASE(groff_finds_nothing_to_warn_about)
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

TEST_MAIN(NULL, NULL)
