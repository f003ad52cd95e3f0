/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_BASE_EPOLL_H
#define QPROF_BASE_EPOLL_H

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/clock.h"

/* From now on `epoll` polls readable while `fd` does. 0 or a negative errno. */
static inline int epoll_watch(int epoll, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Let a timerfd(2) poll readable from this time of its clock on, in ns; 0: never. */
static inline void epoll_set_timer(int timer, uint64_t ns)
{
	const struct itimerspec at = {.it_value = clock_timespec(ns)};

	timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

#endif /* QPROF_BASE_EPOLL_H */
