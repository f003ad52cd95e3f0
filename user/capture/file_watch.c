// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/file_watch.h"

#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#define WRITTEN (IN_MODIFY | IN_CLOSE_WRITE)
#define CHANGED (WRITTEN | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)

int file_watch_new(void)
{
	int file_watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	return file_watch < 0 ? -errno : file_watch;
}

int file_watch_add(int file_watch, int fd)
{
	char path[32];
	int watch;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	watch = inotify_add_watch(file_watch, path, CHANGED);
	return watch < 0 ? -errno : watch;
}

void file_watch_remove(int file_watch, int watch)
{
	inotify_rm_watch(file_watch, watch);
}

void file_watch_read(int file_watch, file_watch_fn fn, void *ctx)
{
	char events[4096] __attribute__((aligned(8)));

	/* Limit the reads, as a file may be written to all the time. */
	for (int i = 0; i < 16; i++) {
		ssize_t n = read(file_watch, events, sizeof(events));

		if (n <= 0)
			return;
		for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= n;) {
			const struct inotify_event *e = (const void *)(events + at);

			if (e->mask & IN_Q_OVERFLOW)
				fn(ctx, -1, FILE_WRITTEN);
			else if (e->mask & CHANGED)
				fn(ctx, e->wd, e->mask & WRITTEN ? FILE_WRITTEN : FILE_ATTRIBUTES);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
}
