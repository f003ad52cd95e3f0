/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a trace is written, so that a recording that does not begin changes nothing: what is there
 * already is replaced at once by a file of another name, and only when the recording has begun.
 *
 * Knows nothing of users: the caller takes the rights that are to be used.
 */
#ifndef QPROF_CLI_OUTPUT_FILE_H
#define QPROF_CLI_OUTPUT_FILE_H

#include <stdbool.h>

#include "base/cleanup.h"

struct output_file {
	char *path;	/* where it is being written; free for O_EXCL until `created` */
	char *over;	/* the file to replace; NULL if there is none, or it has been replaced */
	bool created;	/* the caller sets it once it has created `path` */
	bool committed; /* it stays, whatever happens */
};

/*
 * Choose a name to write to. With `force` a file that is there is to be replaced, a link to one is
 * followed; without, `path` itself is chosen. Returns a negative errno without printing: -EINVAL if
 * what would be replaced is no regular file, else as open(2) for writing.
 */
int output_file__choose(struct output_file *f, const char *path, bool force);

/* The recording has begun: give the file its name. On a failure it stays where it is written. */
int output_file__commit(struct output_file *f);

/* Remove what was created, unless it has been committed. */
void output_file__discard(struct output_file *f);

void output_file__clear(struct output_file *f);
#define _output_file_ __cleanup(output_file__clear)

#endif /* QPROF_CLI_OUTPUT_FILE_H */
