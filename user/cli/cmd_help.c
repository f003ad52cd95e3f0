// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdio.h>

#include "base/diag.h"
#include "base/version.h"
#include "cli/cmd.h"
#include "options/cargo_qprof.h"
#include "options/command.h"
#include "options/exit_code.h"
#include "options/usage.h"

/* It is no command of ours, but our other name. */
static void help_with_cargo(const struct cli_help_options *o)
{
	if (o->man)
		cargo_qprof_print_man(stdout);
	else if (o->completion != CLI_SHELL_NONE)
		cargo_qprof_print_completion(stdout, o->completion);
	else
		cargo_qprof_print_help(stdout);
}

int cmd_help(const struct cli_help_options *o)
{
	enum cli_command_id id = CLI_N_COMMANDS;
	bool of_cargo = cargo_qprof_is_meant(&o->topic);

	if (o->topic.word && !of_cargo) {
		id = cli_command_by_name(&o->topic);
		if (id == CLI_N_COMMANDS) {
			diag_error("no command '%s%s%s'; for those there are: qprof-bpf help",
				   o->topic.word, o->topic.verb ? " " : "", o->topic.verb ?: "");
			return EXIT_CODE_USAGE;
		}
	}
	if (of_cargo)
		help_with_cargo(o);
	else if (o->man)
		cli_print_man(stdout, id);
	else if (o->completion != CLI_SHELL_NONE)
		cli_print_completion(stdout, o->completion);
	else if (o->topic.word)
		cli_print_help(stdout, id);
	else
		cli_print_overview(stdout);
	return cmd_finish_stdout(EXIT_CODE_OK);
}

int cmd_version(const struct cli_version_options *o)
{
	(void)o;
	puts("qprof-bpf " QPROF_VERSION);
	return cmd_finish_stdout(EXIT_CODE_OK);
}
