// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include "base/diag.h"
#include "options/exit_code.h"

int cmd_history_list(const struct cli_history_list_options *o)
{
	(void)o;
	diag_error("history list does nothing yet");
	return EXIT_CODE_FAILURE;
}
