/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Asks git, as the user of this process, which must have no rights beyond. Nothing that a
 * repository configures for such questions runs: no file monitor, no hook, no transport.
 */
#ifndef QPROF_HISTORY_GIT_H
#define QPROF_HISTORY_GIT_H

#include <stddef.h>

/* All git's answers together may take this long. */
#define GIT_MS 10000

struct git {
	const char *directory;
	int left_ms; /* of GIT_MS */
};

/*
 * Run "git ARGS..." in the directory, and read its first line into `line`, without a newline; cut
 * if it is longer. `args` ends with NULL. 0; -ENOENT: git says no, or there is no git; -ETIMEDOUT;
 * another negative errno.
 */
int git__ask(struct git *g, const char *const *args, char *line, size_t size);

#endif /* QPROF_HISTORY_GIT_H */
