/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_BASE_EPOLL_H
#define QPROF_BASE_EPOLL_H

#include <errno.h>
#include <sys/epoll.h>

/* From now on `epoll` polls readable while `fd` does. 0 or a negative errno. */
static inline int epoll_watch(int epoll, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

#endif /* QPROF_BASE_EPOLL_H */
