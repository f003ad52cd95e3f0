/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A descriptor that is written to from its start to its end: short writes are gone on with, and
 * the first error is the last word: every later call returns it, and writes nothing.
 */
#ifndef QPROF_BASE_FILE_WRITER_H
#define QPROF_BASE_FILE_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct file_writer {
	int fd;	   /* the owner's, who closes it if file_writer__close() was not reached; or -1 */
	int error; /* the first, for ever */
	uint64_t bytes; /* written so far */
};

/* Remember `err` if it is the first; returns the first. */
int file_writer__fail(struct file_writer *w, int err);

/* Write all of it, or fail: what was written before an error stays. 0 or a negative errno. */
int file_writer__write(struct file_writer *w, const void *data, size_t size);

/* Close the descriptor, unless there was an error: some file systems tell of theirs only now. */
int file_writer__close(struct file_writer *w);

#endif /* QPROF_BASE_FILE_WRITER_H */
