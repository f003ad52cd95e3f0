/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A clock as one number. Times in this program are CLOCK_MONOTONIC where nothing else is said. */
#ifndef QPROF_BASE_CLOCK_H
#define QPROF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock that cannot fail: the system's, or this process's or thread's own. */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif /* QPROF_BASE_CLOCK_H */
