/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The file that a trace is written to. A recording that does not begin changes nothing: an existing
 * file is replaced by rename(2), and only when the recording has begun.
 *
 * The caller takes the rights to be used.
 */
#ifndef QPROF_BASE_OUTPUT_FILE_H
#define QPROF_BASE_OUTPUT_FILE_H

#include <stdbool.h>

#include "base/cleanup.h"

struct output_file {
	char *path;	/* the path it is written to; free for O_EXCL until `created` */
	char *over;	/* the file to replace; NULL if there is none, or it has been replaced */
	bool created;	/* the caller sets it once it has created `path` */
	bool committed; /* discarding does not remove it any more */
};

/*
 * Choose a name to write to. With `force`, an existing file is replaced, and a link to one is
 * followed; without, `path` itself is chosen. Returns a negative errno without printing: -EISDIR;
 * -EINVAL if what is there is no regular file; -EBUSY if it is the standard input, output or error,
 * as "-" and /dev/stdout are, else as own_path__resolve(), or as open(2) for writing.
 */
int output_file__choose(struct output_file *f, const char *path, bool force);

/* strerror(3), but for the errors above. */
const char *output_file_error(int err);

/* The recording has begun: give the file its name. On a failure it keeps its temporary name. */
int output_file__commit(struct output_file *f);

/* Remove the created file, unless it has been committed. */
void output_file__discard(struct output_file *f);

void output_file__clear(struct output_file *f);
#define _output_file_ __cleanup(output_file__clear)

#endif /* QPROF_BASE_OUTPUT_FILE_H */
