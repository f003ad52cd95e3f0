/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which builds of a history are compared. Only whole and comparable ones are. */
#ifndef QPROF_HISTORY_SIDES_H
#define QPROF_HISTORY_SIDES_H

#include "analyze/compare_rows.h"
#include "history/questions.h"

/* At most so many of each side; both sides together are within COMMITS_MOST. */
#define SIDES_MOST 50

struct sides {
	struct history_builds builds[COMPARE_N_SIDES]; /* owns what `all` points to */
	const struct history_build **all;	       /* base, then new; each the oldest first */
	size_t n[COMPARE_N_SIDES];
	size_t left_out; /* builds that are not comparable */
};

/*
 * All functions print an error line, and return -ENOENT if a side has no build. Clear with
 * sides__clear() also after a failure.
 *
 * The newest new build decides: others must have its workspace and profile, and if both sides have
 * builds of its host, only these are taken. Builds of a source with changes that are in no commit
 * are left out, if a commit is asked for. If there are others, so are incremental builds, those
 * that lost records or in which more compiles failed than in most of base, and of base those that
 * were not recorded as the newest new one was.
 */

/*
 * The builds of two commits, of each its beginning. -EINVAL if several begin so. Of the filter,
 * toolchain and workspace count.
 */
int sides__of_commits(struct store *s, const char *base, const char *new,
		      const struct history_filter *f, struct sides *out);

/*
 * -ENODATA if more compiles of a new build failed than usual.
 *
 * The builds of a commit (NULL: of the newest build), and the last `last` before them of a branch
 * that are of other commits, by a toolchain that has that part in its name (NULL: the same one).
 */
struct sides_against {
	const char *commit;
	const char *branch;
	const char *toolchain;
	const char *workspace; /* NULL: that of the newest build */
	uint64_t last;
};
int sides__against(struct store *s, const struct sides_against *a, struct sides *out);

void sides__clear(struct sides *s);
#define _sides_ __cleanup(sides__clear)

#endif /* QPROF_HISTORY_SIDES_H */
