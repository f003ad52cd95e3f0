/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Asks git about a repository, as the user of this process, which must have no rights beyond. git
 * never sees the configuration of the repository, nor the user's: it is given a directory of our
 * own in place of .git, with links to HEAD's log, the index, refs and objects. So it knows of no
 * filter, hook, monitor, pager, signature checker or remote, and runs no program.
 */
#ifndef QPROF_HISTORY_GIT_H
#define QPROF_HISTORY_GIT_H

#include <stddef.h>

#include "base/cleanup.h"

/* All git's answers together may take this long. */
#define GIT_MS 10000

struct git {
	char *directory; /* in place of .git */
	char *work_tree;
	int fd;	     /* of `directory` */
	int left_ms; /* of GIT_MS */
};

#define GIT_NONE ((struct git){.fd = -1})

/*
 * Find the repository of a directory, and prepare to ask about it. 0; -ENOENT: there is none;
 * -EPERM: it is not this user's, or of root: others may write to it or to a directory above it;
 * another negative errno. git__close() it in any case.
 */
int git__open(struct git *g, const char *directory);

/*
 * Run "git ARGS..." and read its first line into `line`, without a newline; cut if it is longer.
 * `args` ends with NULL. 0; -ENOENT: git says no, or there is no git; -ETIMEDOUT; another negative
 * errno.
 */
int git__ask(struct git *g, const char *const *args, char *line, size_t size);

/* Remove the directory. */
void git__close(struct git *g);
#define _git_ __cleanup(git__close)

#endif /* QPROF_HISTORY_GIT_H */
