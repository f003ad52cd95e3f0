// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <locale.h>

#include "base/diag.h"
#include "base/first_environ.h"
#include "capture/launch.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/parse.h"
#include "cli/usage.h"

static int dispatch(const struct cli *cli)
{
	if (cli->version)
		return cmd_version();
	if (!cli->help)
		return cli_command(cli->command)->run(cli);
	if (cli->command_named)
		cli_print_help(stdout, cli->command);
	else
		cli_print_overview(stdout);
	return cmd_finish_stdout(EXIT_CODE_OK);
}

int main(int argc, char **argv)
{
	_cli_ struct cli cli = {};

	/* First, while they are still what a launched command must get. */
	if (first_environ__save(argc, argv))
		diag_warn("cannot tell the environment that a command would have without us");
	launch__save_signals();
	setlocale(LC_CTYPE, ""); /* the widths of characters */
	if (cli_parse(argc, argv, &cli))
		return EXIT_CODE_USAGE;
	diag_set_level(cli.record.quiet ? DIAG_QUIET : (enum diag_level)cli.verbose);
	return dispatch(&cli);
}
