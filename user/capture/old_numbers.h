/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Numbers of libraries that are detached and cannot be given to another library yet: a thread may
 * have the number on its stack, or its last records may be in the ring buffer.
 */
#ifndef QPROF_CAPTURE_OLD_NUMBERS_H
#define QPROF_CAPTURE_OLD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct old_numbers;

/* -ENOMEM. */
int old_numbers__new(struct old_numbers **out);

/*
 * Library `lib` of user `uid` was detached at `now_ns`, CLOCK_MONOTONIC, and the processes `pids`
 * used it. Takes ownership of the array. -ENOMEM: the number stays taken.
 */
int old_numbers__add(struct old_numbers *o, uint8_t lib, uid_t uid, uint64_t now_ns, pid_t *pids,
		     uint32_t n);

struct old_numbers_ops {
	bool (*follows)(void *ctx, pid_t pid); /* this process is still followed */
	void (*release)(void *ctx, uint8_t lib);
};

/*
 * Release the numbers whose processes have exited, a while after they were detached. To be called
 * after the ring buffer was drained.
 */
void old_numbers__settle(struct old_numbers *o, uint64_t now_ns, const struct old_numbers_ops *ops,
			 void *ctx);

/* The total of numbers, and the count of one user's numbers. */
uint32_t old_numbers__n(const struct old_numbers *o);
uint32_t old_numbers__of(const struct old_numbers *o, uid_t uid);

void old_numbers__free(struct old_numbers *o);
DEFINE_CLEANUP(struct old_numbers, old_numbers__free)
#define _old_numbers_ __cleanup(old_numbers__free_p)

#endif /* QPROF_CAPTURE_OLD_NUMBERS_H */
