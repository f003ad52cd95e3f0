// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"
#include "record/record.h"

int cmd_record(const struct cli_record_options *o)
{
	return record_run(o, cmd_print_report);
}
