/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Numbers of libraries that are detached and cannot be given to another library yet: a thread may
 * have the number on its stack, or its last records may be in the ring buffer.
 */
#ifndef QPROF_CAPTURE_RETIRED_NUMBERS_H
#define QPROF_CAPTURE_RETIRED_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct retired_numbers;

/* -ENOMEM. */
int retired_numbers__new(struct retired_numbers **out);

/*
 * Library `lib` of user `uid` was detached at `now_ns`, CLOCK_MONOTONIC, and the processes `pids`
 * used it. Takes ownership of the array. -ENOMEM: the number stays taken.
 */
int retired_numbers__add(struct retired_numbers *o, uint8_t lib, uid_t uid, uint64_t now_ns,
			 pid_t *pids, uint32_t n);

struct retired_numbers_ops {
	bool (*follows)(void *ctx, pid_t pid); /* this process is still followed */
	void (*release)(void *ctx, uint8_t lib);
};

/*
 * Release the numbers whose processes have exited, a while after they were detached. To be called
 * after the ring buffer was drained.
 */
void retired_numbers__settle(struct retired_numbers *o, uint64_t now_ns,
			     const struct retired_numbers_ops *ops, void *ctx);

/* The total of numbers, and the count of one user's numbers. */
uint32_t retired_numbers__n(const struct retired_numbers *o);
uint32_t retired_numbers__of(const struct retired_numbers *o, uid_t uid);

void retired_numbers__free(struct retired_numbers *o);
DEFINE_CLEANUP(struct retired_numbers, retired_numbers__free)
#define _retired_numbers_ __cleanup(retired_numbers__free_p)

#endif /* QPROF_CAPTURE_RETIRED_NUMBERS_H */
