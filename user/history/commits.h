/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compare builds of a history as `diff` compares traces: by rows of crates and queries, with the
 * same rules and the same noise (analyze/compare_rows.h). Each build stands for a trace.
 */
#ifndef QPROF_HISTORY_COMMITS_H
#define QPROF_HISTORY_COMMITS_H

#include "analyze/compare.h"
#include "history/questions.h"

/* So many builds of both sides together are compared. */
#define COMMITS_MOST 100

struct commits;

/*
 * Read the rows of `n_base` builds and of the `n_new` that follow them, and judge them. The builds
 * must stay as long as the comparison. Prints an error line: -E2BIG for too many builds, -ENOMEM,
 * those of store__select().
 */
int commits__compare(struct store *s, const struct history_build *const *builds, size_t n_base,
		     size_t n_new, const struct compare_rules *rules, struct commits **out);

const struct compare_result *commits__result(const struct commits *c);

/*
 * As compare__sum(). `is_series`: the base builds are one series in the order of time, and only
 * those since its level last changed (analyze/change_points.h) are the base of this sum.
 */
int commits__sum(const struct commits *c, compare_pick *pick, const void *ctx, bool is_series,
		 struct compare_row *out);

void commits__free(struct commits *c);
DEFINE_CLEANUP(struct commits, commits__free)
#define _commits_ __cleanup(commits__free_p)

#endif /* QPROF_HISTORY_COMMITS_H */
