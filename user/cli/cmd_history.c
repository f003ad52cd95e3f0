// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include "options/exit_code.h"

/* The parser takes no such command line without --help. */
int cmd_history(const struct cli_history_options *o)
{
	(void)o;
	return EXIT_CODE_USAGE;
}
