/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A clock as one number. Times in this program are CLOCK_MONOTONIC where nothing else is said. */
#ifndef QPROF_BASE_CLOCK_H
#define QPROF_BASE_CLOCK_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

/* Of a time that is not negative. */
static inline uint64_t clock_of_timespec(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

/* Nanoseconds of a clock that cannot fail: the system's, or this process's or thread's own. */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return clock_of_timespec(&ts);
}

/* Nanoseconds as the kernel takes them. */
static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* The user and system time of a process, in nanoseconds. */
static inline uint64_t clock_of_usage(const struct rusage *usage)
{
	const struct timeval *u = &usage->ru_utime, *s = &usage->ru_stime;

	return (uint64_t)(u->tv_sec + s->tv_sec) * 1000000000u +
	       (uint64_t)(u->tv_usec + s->tv_usec) * 1000u;
}

#endif /* QPROF_BASE_CLOCK_H */
