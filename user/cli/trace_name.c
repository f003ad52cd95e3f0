// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <time.h>

#include "cli/commands.h"

void cmd_default_trace_name(char name[CMD_TRACE_NAME_MAX])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(name, CMD_TRACE_NAME_MAX, "qprof-%Y%m%dT%H%M%SZ.qpt", gmtime_r(&now, &tm));
}
