/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Changes of a series without noise (change_points.h), such as of counts. */
#ifndef QPROF_ANALYZE_EXACT_STEPS_H
#define QPROF_ANALYZE_EXACT_STEPS_H

#include "analyze/change_point.h"

/*
 * A step is a change if
 * - it is at least o->least of the former value;
 * - it is more than EXACT_STEPS_TIMES as large as four of five other steps of up to
 * EXACT_STEPS_NEAR on each side, steps of nothing among them: so growth from commit to commit is
 * none;
 * - it stays: of three values before and three from it on, most are on its two sides, so that a
 *   single odd value is none. At the end of a series it is believed at once.
 * Values of one commit count as their median.
 */
#define EXACT_STEPS_TIMES 4
#define EXACT_STEPS_NEAR  50

int exact_steps__find(const double *values, size_t n, const struct change_points_options *o,
		      struct change_point **out, size_t *n_out);

#endif /* QPROF_ANALYZE_EXACT_STEPS_H */
