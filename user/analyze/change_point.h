/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A change of the level of a series, and what counts as one (change_points.h). */
#ifndef QPROF_ANALYZE_CHANGE_POINT_H
#define QPROF_ANALYZE_CHANGE_POINT_H

#include <stdbool.h>
#include <stddef.h>

struct change_point {
	size_t at;	   /* the first value of the new level */
	double before;	   /* mean of the former level, outliers clipped; exact: the last value */
	double after;	   /* of the new level; exact: its first value */
	double change;	   /* (after - before) / before; infinite from 0 */
	double confidence; /* 1 - p * n: p of the t-test, n values; exact: 1 */
};

struct change_points_options {
	bool exact;
	/*
	 * Of each value, whether a change may begin there: several values of one commit have one
	 * beginning. NULL: at each.
	 */
	const bool *begins;
	double least;	   /* changes by a smaller share of `before` are none */
	double confidence; /* that a change must have at least; 0: CHANGE_POINTS_CONFIDENCE */
};

#endif /* QPROF_ANALYZE_CHANGE_POINT_H */
