/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the level of a series of numbers changes for good.
 *
 * Noisy series: E-divisive means (Matteson & James, "A nonparametric approach for multiple change
 * point analysis of multivariate data", JASA 109, 2014), which MongoDB runs on benchmarks (Daly et
 * al., ICPE 2020), with the changes by Fleming et al. ("Hunter", ICPE 2023): Student's t-test in
 * place of random permutations, so that an answer never depends on chance; windows for long series;
 * and weak candidates that are merged away, the weakest first. Three things are added, as builds
 * need them: outliers are clipped to their neighbours (a running median of seven, which keeps
 * steps); the test takes account of the correlation of neighbours (of means: Bartlett 1946, of
 * variances: Bayley & Hammersley 1946); and its limit is divided by the number of values
 * (Bonferroni), so that long series have no more false alarms than short ones.
 *
 * Exact series (counts): no statistics, as there is no noise. A step counts if it stays, and if it
 * is far larger than steps usually are there.
 */
#ifndef QPROF_ANALYZE_CHANGE_POINTS_H
#define QPROF_ANALYZE_CHANGE_POINTS_H
#include <stdbool.h>
#include <stddef.h>

/* A change of the level of a series. */
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

/* A level has at least so many values of a noisy series. */
#define CHANGE_POINTS_LEAST	 4
#define CHANGE_POINTS_CONFIDENCE 0.999
/* More values of a series than these are refused. */
#define CHANGE_POINTS_MOST 100000

/*
 * Find the changes in `n` values, none of which is negative or no number. *out is to be freed. The
 * time is proportional to n, and beside that to the square of the number of candidates: 0.7 s for
 * 100,000 values with a new level every five. -ENOMEM; -E2BIG.
 */
int change_points__find(const double *values, size_t n, const struct change_points_options *o,
			struct change_point **out, size_t *n_out);

/* Student's t-test of two samples with the same variance. */

/*
 * The chance that |t| is at least so large though nothing differs; `df` (degrees of freedom) is
 * above 0 and need not be whole.
 */
double student_p(double t, double df);

/* Changes of a series without noise (change_points.h), such as of counts. */

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

#endif /* QPROF_ANALYZE_CHANGE_POINTS_H */
