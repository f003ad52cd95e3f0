// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/session_sink.h"

#include "base/cleanup.h"
#include "proc/processes.h"

int session_sink__cwd(const struct session_sink *sink, pid_t pid)
{
	_free_ char *cwd = sink->cwd ? process_cwd(pid) : NULL;

	return cwd ? sink->cwd(sink->ctx, pid, cwd) : 0;
}
