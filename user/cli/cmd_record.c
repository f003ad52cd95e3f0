// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"
#include "record/record.h"

/* Apart, so that a program with other commands alone is linked without a recorder. */
int cmd_record(const struct cli_record_options *o)
{
	return record_run(o, cmd_print_report);
}
