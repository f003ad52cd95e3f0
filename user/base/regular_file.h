/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Opens files that another user may have put in place of the expected ones. */
#ifndef QPROF_BASE_REGULAR_FILE_H
#define QPROF_BASE_REGULAR_FILE_H

#include <stdio.h>

/*
 * Open a regular file for reading, below the directory `dir` or AT_FDCWD, with `flags` beside those
 * for reading. Returns a descriptor, or a negative errno: -EINVAL if it is anything else, such as a
 * FIFO, which is not waited for.
 */
int regular_file__open(int dir, const char *path, int flags);

/* The same as a stream. NULL: errno says why. */
FILE *regular_file__stream(int dir, const char *path, int flags);

/* The first line of a file, without its end. The caller frees it. NULL: errno says why. */
char *regular_file__line(int dir, const char *path);

#endif /* QPROF_BASE_REGULAR_FILE_H */
