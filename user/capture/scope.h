/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which processes of the machine belong to a capture that follows nobody in particular. */
#ifndef QPROF_CAPTURE_SCOPE_H
#define QPROF_CAPTURE_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct scope;

/*
 * All processes; or, with the directory of a control group (version 2), those in it and below.
 * -ENOENT, -EACCES, ...: of the directory; -EINVAL: it is no control group. Nothing is printed.
 */
int scope__new(const char *cgroup, struct scope **out);

/* False as well if the process is gone. */
bool scope__holds(const struct scope *s, pid_t pid);

/*
 * For tests: `line` is a process' /proc/PID/cgroup, `mount` where the hierarchy is mounted, `dir` a
 * directory in it, both without links and a slash at the end.
 */
bool scope_cgroup_holds(const char *line, const char *mount, const char *dir);

void scope__free(struct scope *s);
DEFINE_CLEANUP(struct scope, scope__free)
#define _scope_ __cleanup(scope__free_p)

#endif /* QPROF_CAPTURE_SCOPE_H */
