// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/diag.h"
#include "cli/cmd.h"
#include "options/completion.h"
#include "options/command.h"
#include "options/exit_code.h"
#include "options/usage.h"

int cmd_help(const struct cli_help_options *o)
{
	enum cli_command_id id = CLI_N_COMMANDS;

	if (o->topic.word) {
		id = cli_command_by_name(&o->topic);
		if (id == CLI_N_COMMANDS) {
			diag_error("no command '%s%s%s'; for those there are: qprof-bpf help",
				   o->topic.word, o->topic.verb ? " " : "", o->topic.verb ?: "");
			return EXIT_CODE_USAGE;
		}
	}
	if (o->man)
		cli_print_man(stdout, id);
	else if (o->completion != CLI_SHELL_NONE)
		cli_print_completion(stdout, o->completion);
	else if (o->topic.word)
		cli_print_help(stdout, id);
	else
		cli_print_overview(stdout);
	return cmd_finish_stdout(EXIT_CODE_OK);
}
