/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which changes of a comparison are known, and which are more than chance. */
#ifndef QPROF_ANALYZE_COMPARE_JUDGE_H
#define QPROF_ANALYZE_COMPARE_JUDGE_H

#include "analyze/compare_rows.h"

/*
 * Judge the rows of a result and sort them. Estimates the noise first, from rows with equal
 * execution counts. -ENOMEM.
 */
int compare_judge__result(struct compare_result *r);

/*
 * Judge one row by the noise of a judged result. `has_query`: it is of queries, not of whole
 * crates. `is_sum`: it is a sum of several.
 */
void compare_judge__row(const struct compare_result *r, struct compare_row *row, bool has_query,
			bool is_sum);

/* Let rows be judged by the estimate, though base has noise of its own. */
void compare_judge__by_estimate(struct compare_result *r);

#endif /* QPROF_ANALYZE_COMPARE_JUDGE_H */
