/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The whole command line of a process, with the argument files of a compiler: rustc replaces
 * "@path" by the lines of that file. To be read in the child of broker.h, as a process can delay
 * every read.
 *
 * A process names a file that it may not read itself as easily as any other. So only a regular file
 * of the process's own user is read, and none of a process with another root directory.
 */
#ifndef QPROF_CAPTURE_ARGUMENTS_H
#define QPROF_CAPTURE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "qprof/wire.h"

/*
 * NUL-separated, at most WIRE_COMMAND_MAX bytes. The word "@path" of a file that was read stays,
 * and its lines follow.
 */
struct arguments {
	char *bytes; /* owned; NULL: none */
	size_t size;
	bool cut; /* some are missing: too many, or in a file that could not be read */
};

/*
 * Read those of a process; none of one that is gone. `invoker`: another user's FUSE servers are not
 * asked. 0 or -ENOMEM.
 */
int arguments__read(pid_t pid, uid_t invoker, struct arguments *out);

static inline void arguments__clear(struct arguments *a)
{
	free(a->bytes);
	*a = (struct arguments){0};
}
#define _arguments_ __cleanup(arguments__clear)

#endif /* QPROF_CAPTURE_ARGUMENTS_H */
