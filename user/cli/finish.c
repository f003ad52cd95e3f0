// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

int cmd_finish_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	diag_error("cannot write to standard output: %s", strerror(errno));
	return EXIT_CODE_FAILURE;
}
