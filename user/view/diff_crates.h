/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The first table of a comparison: the crates that changed. */
#ifndef QPROF_VIEW_DIFF_CRATES_H
#define QPROF_VIEW_DIFF_CRATES_H

#include "view/diff.h"

/* Crates that text and Markdown show; JSON has all. */
#define DIFF_CRATES_MOST 10

struct diff_crates {
	/* The metric of the rows: CPU time in place of self time, if it is known. */
	enum compare_metric metric;
	/* Crates that changed, and those on one side only; the largest change first. */
	const struct compare_row **rows;
	size_t n_shown;
	/* The crates that are not shown, and the sums of their medians. */
	size_t n_others;
	uint64_t others[COMPARE_N_SIDES];
	size_t n_changed; /* of all crates */
};

/* 0 or -ENOMEM. */
int diff_crates__init(struct diff_crates *c, const struct compare_result *r);
void diff_crates__clear(struct diff_crates *c);
#define _diff_crates_ __cleanup(diff_crates__clear)

/* Whether the table is worth printing: there are several crates, or not the same on both sides. */
bool diff_crates_any(const struct compare_result *r);

#endif /* QPROF_VIEW_DIFF_CRATES_H */
