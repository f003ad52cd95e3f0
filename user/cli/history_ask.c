// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/history_ask.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

struct history_filter history_filter_of(const struct cli_builds *b)
{
	return (struct history_filter){
		.branch = b->branch,
		.toolchain = b->toolchain,
		.workspace = b->workspace,
		.last = b->last,
	};
}

int history_printed(int err)
{
	if (err && !ferror(stdout))
		diag_error("cannot print the answer: %s", strerror(-err));
	return cmd_finish_stdout(err ? EXIT_CODE_FAILURE : EXIT_CODE_OK);
}
