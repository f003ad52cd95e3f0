/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reports writes to open files, by inotify. A write to a shared mapping is reported only when the
 * writer closes the file.
 */
#ifndef QPROF_CAPTURE_FILE_WATCH_H
#define QPROF_CAPTURE_FILE_WATCH_H

/*
 * The descriptor of a new file watch, or a negative errno. It polls readable when file_watch_read()
 * has something to report.
 */
int file_watch_new(void);

/*
 * Watch the inode that the descriptor `fd` is open on. The watch's number, the same for the same
 * inode, or a negative errno. No path is resolved.
 */
int file_watch_add(int file_watch, int fd);
void file_watch_remove(int file_watch, int watch);

enum file_change {
	FILE_WRITTEN,	 /* or truncated */
	FILE_ATTRIBUTES, /* times, rights or links: it may have been moved or deleted */
};

/* `watch` is -1 if the kernel's queue of changes was full: any file may have changed. */
typedef void (*file_watch_fn)(void *ctx, int watch, enum file_change change);

/* Report all changes up to now. A removed watch may be reported once more. */
void file_watch_read(int file_watch, file_watch_fn fn, void *ctx);

#endif /* QPROF_CAPTURE_FILE_WATCH_H */
