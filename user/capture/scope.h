/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The processes that a system-wide capture follows: all of the machine, or of a control group. */
#ifndef QPROF_CAPTURE_SCOPE_H
#define QPROF_CAPTURE_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct scope;

/*
 * All processes; or, with the directory of a control group (version 2), the processes in it and
 * below. An errno of the directory (-ENOENT, -EACCES, ...); -EINVAL: it is no control group.
 * Nothing is printed.
 */
int scope__new(const char *cgroup, struct scope **out);

/* True if the scope contains the process. False if the process is gone. */
bool scope__holds(const struct scope *s, pid_t pid);

/*
 * For tests: `line` is a process' /proc/PID/cgroup, `mount` is the mount point of the hierarchy,
 * and `dir` is a directory in it; both paths have no links and no slash at the end.
 */
bool scope_cgroup_holds(const char *line, const char *mount, const char *dir);

void scope__free(struct scope *s);
DEFINE_CLEANUP(struct scope, scope__free)
#define _scope_ __cleanup(scope__free_p)

#endif /* QPROF_CAPTURE_SCOPE_H */
