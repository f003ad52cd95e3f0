/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compilers that run although their library is still being planned: their ptrace stop was over
 * first. They are missing if the plan fails, or if it is not made before they or the recording end.
 */
#ifndef QPROF_CAPTURE_PLANNED_LATE_H
#define QPROF_CAPTURE_PLANNED_LATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "plan/library/file.h"

/* Libraries at a time. The quotas of capture/libraries.h allow no more unless they are aliases. */
#define PLANNED_LATE_LIBRARIES 256
/* Processes of one library that are remembered by number; the others are only counted. */
#define PLANNED_LATE_PIDS 64

struct planned_late;

struct planned_late_ops {
	/* True if the plan of this library is made, or failed: then *err is 0 or a negative errno.
	 * -ENOENT: the file has changed since. */
	bool (*is_settled)(void *ctx, const struct library_file *file, int *err);
	/* The compiler `pid` of `user` is missing; pid 0: `n` compilers that are not known by
	 * number, else `n` is 1. */
	void (*missing)(void *ctx, pid_t pid, uint32_t n, uid_t user,
			const struct library_file *file, int err);
	/* False: the process has ended, and is missing with -ESRCH although the plan is made. */
	bool (*runs)(void *ctx, pid_t pid);
};

/* NULL: no memory. */
struct planned_late *planned_late__new(void);

/* -ENOSPC or -ENOMEM: it is not remembered. */
int planned_late__add(struct planned_late *u, pid_t pid, uid_t user, struct library_file *file);

/*
 * Forget the compilers of settled libraries. Reports them as missing if their library failed.
 * `last`: a library that is not settled by now has failed with -ECANCELED.
 */
void planned_late__settle(struct planned_late *u, bool last, const struct planned_late_ops *ops,
			  void *ctx);

void planned_late__free(struct planned_late *u);
DEFINE_CLEANUP(struct planned_late, planned_late__free)
#define _planned_late_ __cleanup(planned_late__free_p)

#endif /* QPROF_CAPTURE_PLANNED_LATE_H */
