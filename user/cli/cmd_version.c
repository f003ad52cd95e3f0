// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdio.h>

#include "base/version.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

int cmd_version(void)
{
	puts("qprof-bpf " QPROF_VERSION);
	return cmd_finish_stdout(EXIT_CODE_OK);
}
