// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include "base/diag.h"
#include "options/exit_code.h"

int cmd_trend(const struct cli_trend_options *o)
{
	(void)o;
	diag_error("trend does nothing yet");
	return EXIT_CODE_FAILURE;
}
