// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/process_title.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/compile_name.h"
#include "base/cleanup.h"

char *process_title(const struct trace_process *p)
{
	_free_ char *name = compile_name(p);
	char *title;

	return !name || asprintf(&title, "%s (%" PRIu32 ")", name, p->pid) < 0 ? NULL : title;
}
