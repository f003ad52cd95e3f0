/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes a file from its start to its end. Short writes are continued. After an error every later
 * call returns that error, and writes nothing.
 */
#ifndef QPROF_BASE_FILE_WRITER_H
#define QPROF_BASE_FILE_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct file_writer {
	int fd;		/* or -1; the owner closes it if file_writer__close() did not */
	int error;	/* the first one, or 0 */
	uint64_t bytes; /* written so far */
};

/* Remember `err` if it is the first; returns the first. */
int file_writer__fail(struct file_writer *w, int err);

/* Write all of it. After an error, some of it may be in the file. 0 or a negative errno. */
int file_writer__write(struct file_writer *w, const void *data, size_t size);

/* Close the descriptor, unless there was an error. Some file systems report errors only here. */
int file_writer__close(struct file_writer *w);

#endif /* QPROF_BASE_FILE_WRITER_H */
