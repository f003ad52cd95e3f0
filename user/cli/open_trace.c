// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "cli/commands.h"

int cmd_open_trace(const char *path, struct trace_reader **r)
{
	const char *why = NULL;
	int err = trace_reader__open(path, r, &why);

	if (!err)
		return 0;
	if (!why)
		why = strerror(-err);
	if (err == -EPROTONOSUPPORT)
		return diag_error_r(err,
				    "cannot read %s: %s; use the qprof-bpf that wrote it, or "
				    "a newer one",
				    path, why);
	return diag_error_r(err, "cannot read %s: %s", path, why);
}
