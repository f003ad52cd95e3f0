// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "cli/commands.h"
#include "cli/value.h"
#include "plan/find.h"

static int find_of_pid(uint64_t pid, char **path)
{
	int err = pid && pid <= INT_MAX ? plan_find__of_pid((pid_t)pid, path) : -ESRCH;

	switch (err) {
	case 0:
		return 0;
	case -ESRCH:
		return diag_error_r(err, "there is no process %" PRIu64 " (any more)", pid);
	case -ENOENT:
		return diag_error_r(err,
				    "process %" PRIu64 " has no librustc_driver mapped: it is not "
				    "a Rust compiler; name a process that is, or a file",
				    pid);
	case -EACCES:
		return diag_error_r(err, "not allowed to look into process %" PRIu64 "; %s", pid,
				    geteuid() ? "run this as its user or with sudo"
					      : "this root may not trace it: a container or a "
						"security policy is in the way");
	case -EPERM:
		return diag_error_r(err,
				    "the compiler of process %" PRIu64
				    " was deleted meanwhile, and "
				    "to read it still takes CAP_CHECKPOINT_RESTORE; run this with "
				    "sudo",
				    pid);
	default:
		return diag_error_r(err, "cannot look into process %" PRIu64 ": %s", pid,
				    strerror(-err));
	}
}

static int find_of_toolchain(const char *toolchain, char **path)
{
	int err = plan_find__of_toolchain("rustc", toolchain, NULL, path);

	if (err)
		diag_error("%s", plan_find__toolchain_error(err));
	return err;
}

int cmd_find_library(const char *target, char **path)
{
	uint64_t pid;

	if (!target)
		return find_of_toolchain(NULL, path);
	if (target[0] == '+')
		return find_of_toolchain(target + 1, path);
	if (target[0] >= '0' && target[0] <= '9') {
		int err = value_number(target, &pid);

		if (err != -EINVAL)
			return find_of_pid(err ? 0 : pid, path);
	}
	/* A compiler's executable stands for its library; any other file for itself. */
	if (!plan_find__of_exe(target, path))
		return 0;
	*path = strdup(target);
	return *path ? 0 : diag_error_r(-ENOMEM, "out of memory");
}
