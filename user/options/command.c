// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <string.h>

#include "options/exit_code.h"

static const struct cli_command *const commands[] = {
#define CLI_TABLE(id, name) [CLI_##id] = &cli_##name##_command,
	CLI_COMMANDS(CLI_TABLE)
#undef CLI_TABLE
};

static const struct cli_option common[] = {
	{
		.letter = 'v',
		.name = "verbose",
		.kind = CLI_COUNT,
		.offset = AT(verbose),
		.help = "Print what is being done; twice: also what libbpf prints.",
	},
	{
		.letter = 'h',
		.name = "help",
		.kind = CLI_FLAG,
		.offset = AT(show_help),
		.help = "Print this help.",
	},
	{
		.letter = 'V',
		.name = "version",
		.kind = CLI_FLAG,
		.offset = AT(show_version),
		.help = "Print the version.",
	},
};

static const struct cli_exit_code exit_codes[] = {
	{EXIT_CODE_OK, "Success. record -p: recording was stopped, or every process ended."},
	{EXIT_CODE_INCOMPLETE,
	 "verify: the end is missing. doctor: a problem. diff, check: a limit."},
	{EXIT_CODE_USAGE, "The command line makes no sense; nothing was done."},
	{EXIT_CODE_DAMAGED, "verify, history add: the trace is damaged, or no trace."},
	{EXIT_CODE_LOST, "record, top, stuck: most of what ran was lost; an error line says why."},
	{EXIT_CODE_FAILURE, "qprof-bpf itself failed; an error line says why and what to do."},
	{EXIT_CODE_CANNOT_RUN, "The command to profile cannot be run."},
	{EXIT_CODE_NOT_FOUND, "The command to profile was not found."},
};

const struct cli_command *cli_command(enum cli_command_id id)
{
	return commands[id];
}

static bool is_called(enum cli_command_id id, const struct cli_name *name)
{
	const char *own = commands[id]->name;
	size_t len = strlen(name->word);

	if (!name->verb)
		return !strcmp(own, name->word);
	return !strncmp(own, name->word, len) && own[len] == ' ' &&
	       !strcmp(own + len + 1, name->verb);
}

enum cli_command_id cli_command_by_name(const struct cli_name *name)
{
	enum cli_command_id id;

	for (id = 0; id < CLI_N_COMMANDS; id++) {
		if (is_called(id, name))
			break;
	}
	return id;
}

const char *cli_command_verb(enum cli_command_id id)
{
	const char *space = strchr(commands[id]->name, ' ');

	return space ? space + 1 : NULL;
}

bool cli_command_is_in(enum cli_command_id id, enum cli_command_id group)
{
	size_t len = strlen(commands[group]->name);

	return !strncmp(commands[id]->name, commands[group]->name, len) &&
	       commands[id]->name[len] == ' ';
}

bool cli_command_is_group(enum cli_command_id id)
{
	return id + 1 < CLI_N_COMMANDS && cli_command_is_in(id + 1, id);
}

const struct cli_option *cli_option(enum cli_command_id id, size_t i)
{
	const struct cli_option *own = commands[id]->options;

	for (; own && own->name; own++) {
		if (!i--)
			return own;
	}
	return i < N_OF(common) ? &common[i] : NULL;
}

bool cli_option_is_common(const struct cli_option *option)
{
	return option >= common && option < common + N_OF(common);
}

const struct cli_exit_code *cli_exit_codes(size_t *n)
{
	*n = N_OF(exit_codes);
	return exit_codes;
}
