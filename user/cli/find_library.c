// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/find_library.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/diag.h"
#include "capture/broker.h"
#include "options/value.h"
#include "plan/library/find.h"

static int find_of_pid(uint64_t pid, char **path, struct library_file **file)
{
	_broker_ struct broker *broker = NULL;
	int err = pid && pid <= INT_MAX ? broker__new(&broker) : -ESRCH;

	err = err ?: broker__named_library(broker, (pid_t)pid, file);
	*path = err ? *path : strdup(library_file__path(*file));
	err = err ?: *path ? 0 : -ENOMEM;
	switch (err) {
	case 0:
		return 0;
	case -ESRCH:
		return diag_error_r(err, "there is no process %" PRIu64 " (any more)", pid);
	case -ENOENT:
		return diag_error_r(err,
				    "process %" PRIu64 " has no librustc_driver mapped: it is not "
				    "a Rust compiler; name a process that is one, or a file",
				    pid);
	case -EACCES:
		return diag_error_r(err, "not allowed to look into process %" PRIu64 "; %s", pid,
				    geteuid() ? "run this as its user, or in a shell of root's: "
						"under sudo it has no more rights than you"
					      : "this root may not trace it: a container or a "
						"security policy is in the way");
	case -EPERM:
		return diag_error_r(err,
				    "the compiler of process %" PRIu64
				    " was deleted meanwhile, and "
				    "to read it still takes CAP_CHECKPOINT_RESTORE; run this in a "
				    "shell of root's: under sudo it has no more rights than you",
				    pid);
	case -ETIME:
		return diag_error_r(err,
				    "process %" PRIu64 " keeps its readers waiting: its memory or "
				    "its library cannot be read in time; name the library's "
				    "file instead",
				    pid);
	case -BROKER_SERVED:
		return diag_error_r(err,
				    "the library of process %" PRIu64 " is on a FUSE mount of an "
				    "unprivileged user, where a read may never end; name a copy of "
				    "the file that is on another file system",
				    pid);
	default:
		return diag_error_r(err, "cannot look into process %" PRIu64 ": %s", pid,
				    strerror(-err));
	}
}

static int find_of_toolchain(const char *toolchain, char **path)
{
	int err = plan_find__of_toolchain("rustc", toolchain, NULL, path);

	if (err == -EIO && toolchain)
		diag_error("`rustc +%s --print sysroot` failed; for the toolchains there are: "
			   "rustup toolchain list",
			   toolchain);
	else if (err)
		diag_error("%s", plan_find__toolchain_error(err));
	return err;
}

int find_library(const char *target, char **path, struct library_file **file)
{
	uint64_t pid;

	*file = NULL;
	if (!target)
		return find_of_toolchain(NULL, path);
	if (target[0] == '+')
		return find_of_toolchain(target + 1, path);
	if (target[0] >= '0' && target[0] <= '9') {
		int err = value_number(target, &pid);

		if (err != -EINVAL)
			return find_of_pid(err ? 0 : pid, path, file);
	}
	/* A compiler's executable stands for its library; any other file for itself. */
	if (!plan_find__of_exe(target, path))
		return 0;
	*path = strdup(target);
	return *path ? 0 : diag_error_r(-ENOMEM, "out of memory");
}
