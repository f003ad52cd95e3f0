// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/file_watch.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define WRITTEN (IN_MODIFY | IN_CLOSE_WRITE)
#define CHANGED (WRITTEN | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)

struct file_watch {
	int fd;
};

int file_watch__new(struct file_watch **out)
{
	_file_watch_ struct file_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0)
		return -errno;
	*out = take_ptr(w);
	return 0;
}

int file_watch__fd(const struct file_watch *w)
{
	return w->fd;
}

int file_watch__add(struct file_watch *w, int fd)
{
	char path[32];
	int watch;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	watch = inotify_add_watch(w->fd, path, CHANGED);
	return watch < 0 ? -errno : watch;
}

void file_watch__remove(struct file_watch *w, int watch)
{
	inotify_rm_watch(w->fd, watch);
}

static void report(const struct inotify_event *e, file_watch_fn fn, void *ctx)
{
	if (e->mask & IN_Q_OVERFLOW)
		fn(ctx, -1, FILE_WRITTEN);
	else if (e->mask & CHANGED)
		fn(ctx, e->wd, e->mask & WRITTEN ? FILE_WRITTEN : FILE_ATTRIBUTES);
}

void file_watch__read(struct file_watch *w, file_watch_fn fn, void *ctx)
{
	char events[4096] __attribute__((aligned(8)));
	ssize_t n;

	/* Limit the reads, as a file may be written to all the time. */
	for (int i = 0; i < 16; i++) {
		n = read(w->fd, events, sizeof(events));
		if (n <= 0)
			return;
		for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= n;) {
			const struct inotify_event *e = (const void *)(events + at);

			report(e, fn, ctx);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
}

void file_watch__free(struct file_watch *w)
{
	if (!w)
		return;
	cleanup_close_p(&w->fd);
	free(w);
}
