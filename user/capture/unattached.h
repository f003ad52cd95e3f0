/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compilers that run although their library is still being planned: their ptrace stop was over
 * first. They are missing if the plan fails, or if it is not made before they or the recording end.
 */
#ifndef QPROF_CAPTURE_UNATTACHED_H
#define QPROF_CAPTURE_UNATTACHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "plan/library/file.h"

/* Libraries at a time. The quotas of capture/libraries.h allow no more unless they are aliases. */
#define UNATTACHED_LIBRARIES 256
/* Processes of one library that are remembered by number; the others are only counted. */
#define UNATTACHED_PIDS 64

struct unattached;

struct unattached_ops {
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
struct unattached *unattached__new(void);

/* -ENOSPC or -ENOMEM: it is not remembered. */
int unattached__add(struct unattached *u, pid_t pid, uid_t user, struct library_file *file);

/*
 * Forget the compilers of settled libraries. Reports them as missing if their library failed.
 * `last`: a library that is not settled by now has failed with -ECANCELED.
 */
void unattached__settle(struct unattached *u, bool last, const struct unattached_ops *ops,
			void *ctx);

void unattached__free(struct unattached *u);
DEFINE_CLEANUP(struct unattached, unattached__free)
#define _unattached_ __cleanup(unattached__free_p)

#endif /* QPROF_CAPTURE_UNATTACHED_H */
