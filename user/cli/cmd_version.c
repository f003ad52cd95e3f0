// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdio.h>

#include "base/version.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

int cmd_version(const struct cli_version_options *o)
{
	(void)o;
	puts("qprof-bpf " QPROF_VERSION);
	return cmd_finish_stdout(EXIT_CODE_OK);
}
