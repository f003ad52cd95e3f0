/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reports writes to open files, by inotify. A write to a shared mapping is reported only when the
 * writer closes the file.
 */
#ifndef QPROF_CAPTURE_FILE_WATCH_H
#define QPROF_CAPTURE_FILE_WATCH_H

#include "base/cleanup.h"

struct file_watch;

/* Negative errno. Prints nothing. */
int file_watch__new(struct file_watch **out);

/* Polls readable when file_watch__read() has something to report. */
int file_watch__fd(const struct file_watch *w);

/*
 * Watch the inode that the descriptor `fd` is open on. The watch's number, the same for the same
 * inode, or a negative errno. No path is resolved.
 */
int file_watch__add(struct file_watch *w, int fd);
void file_watch__remove(struct file_watch *w, int watch);

enum file_change {
	FILE_WRITTEN,	 /* or truncated */
	FILE_ATTRIBUTES, /* times, rights or links: it may have been moved or deleted */
};

/* `watch` is -1 if the kernel's queue of changes was full: any file may have changed. */
typedef void (*file_watch_fn)(void *ctx, int watch, enum file_change change);

/* Report all changes up to now. A removed watch may be reported once more. */
void file_watch__read(struct file_watch *w, file_watch_fn fn, void *ctx);

void file_watch__free(struct file_watch *w);
DEFINE_CLEANUP(struct file_watch, file_watch__free)
#define _file_watch_ __cleanup(file_watch__free_p)

#endif /* QPROF_CAPTURE_FILE_WATCH_H */
