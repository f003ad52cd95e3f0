// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	{
		.name = "man",
		.kind = CLI_FLAG,
		.offset = AT(help.man),
		.help = "Print the manual page qprof-bpf(1), or COMMAND's, as roff for man -l.",
	},
	{
		.name = "completion",
		.arg = "SHELL",
		.kind = CLI_CHOICE,
		.offset = AT(help.completion),
		.choices = "bash|zsh|fish",
		.first = CLI_SHELL_BASH,
		.help = "Print the completion script for SHELL.",
	},
	{},
};

static const struct cli_example examples[] = {
	{"Explain a command", "qprof-bpf help report"},
	{"Read a manual page that is not installed", "qprof-bpf help --man report | man -l -"},
	{"Print a completion script, to be sourced or installed",
	 "qprof-bpf help --completion bash"},
	{},
};

const struct cli_command cli_help_command = {
	.name = "help",
	.usage = "[OPTION...] [COMMAND]",
	.summary = "Explain a command, or print the manual or shell completion",
	.text = "Without COMMAND, gives an overview. COMMAND --help is the same as help COMMAND.",
	.operand = {"COMMAND", CLI_COMMAND, false, AT(help.topic)},
	.options = options,
	.examples = examples,
};

static const struct cli_example version_examples[] = {
	{"Print the version", "qprof-bpf version"},
	{},
};

const struct cli_command cli_version_command = {
	.name = "version",
	.usage = "[OPTION...]",
	.summary = "Print the version",
	.text = "The same as --version.",
	.examples = version_examples,
};
