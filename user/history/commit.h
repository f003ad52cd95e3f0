/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The commit of a build, as git and the variables of a CI service have it. */
#ifndef QPROF_HISTORY_COMMIT_H
#define QPROF_HISTORY_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

#define COMMIT_MAX 65 /* digits of a hash, and a null */
#define BRANCH_MAX 256

/* Empty texts are not known. */
struct commit {
	char commit[COMMIT_MAX];
	char branch[BRANCH_MAX]; /* empty on a detached HEAD */
	int dirty;		 /* 1 or 0: tracked files have changes that are in no commit; -1 */
	bool moved;		 /* git's HEAD has moved since, so git knows nothing */
	bool no_reflog;		 /* nor does it if nothing says when HEAD moved */
};

/*
 * Ask git in a directory, about a build that began then, in ns since the epoch. Whether there are
 * changes is only asked if `is_fresh`: the build has just ended. Runs git as this process's user:
 * history/git.h.
 */
void commit__ask_git(struct commit *c, const char *directory, uint64_t start_ns, bool is_fresh);

/*
 * The commit that a revision such as "HEAD~1", "main" or "v1.2" is in the repository of a
 * directory. 0; -ENOENT: there is no repository; -EPERM: as git__open(); -EINVAL: git knows no such
 * revision, or there is no git; or another negative errno.
 */
int commit__resolve(const char *revision, const char *directory, char commit[COMMIT_MAX]);

/*
 * Fill in the unknown fields from the environment, unless that is of another commit. `get` is
 * getenv(), or a test's.
 */
void commit__add_ci(struct commit *c, char *(*get)(const char *name));

/* All unknown. */
void commit__init(struct commit *c);

#endif /* QPROF_HISTORY_COMMIT_H */
