/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One quantity in several traces, and whether two sides of a comparison differ by more than it
 * wavers. Knows nothing of what is measured.
 */
#ifndef QPROF_ANALYZE_SPREAD_H
#define QPROF_ANALYZE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With fewer values than this, what they are apart says little about what the next would be. */
#define SPREAD_TRUSTED 5

struct spread {
	uint32_t n;
	uint64_t median; /* of an even number the mean of the two in the middle */
	uint64_t min;
	uint64_t max;
};

/* `values` are sorted. All zeroes without any. */
struct spread spread_of(uint64_t *values, uint32_t n);

static inline int64_t spread_change(const struct spread *base, const struct spread *new)
{
	return (int64_t)(new->median - base->median);
}

/* The wider range of the two. */
uint64_t spread_width(const struct spread *base, const struct spread *new);

/* What a change has to exceed beside the spread of the values themselves. */
struct spread_limits {
	uint64_t least; /* absolute */
	/* Where a side has too few values: what the smaller median may waver, in 1/100000. */
	uint64_t noise_millipercent;
};

/*
 * True if the medians differ by at least `least` and by more than either side's range, the ranges
 * do not meet, and, where a side has fewer values than SPREAD_TRUSTED, the noise is exceeded as
 * well: of equally distributed values in random order the ranges of three and three are apart in 1
 * of 10 cases, those of five and five in 1 of 126.
 */
bool spread_differs(const struct spread *base, const struct spread *new,
		    const struct spread_limits *limits);

/* Whether that asks for the noise. */
static inline bool spread_is_thin(uint32_t n_base, uint32_t n_new)
{
	return n_base < SPREAD_TRUSTED || n_new < SPREAD_TRUSTED;
}

/* One thing that did the same on both sides, and took so long. */
struct spread_pair {
	uint64_t base;
	uint64_t new;
};

/*
 * By how much, in 1/100000 of the smaller, pairs differ that should not: three quarters of them by
 * less, each weighed by its smaller value, and without the one that differs most, so that what is
 * looked for is not taken for noise. `pairs` are reordered. UINT64_MAX if they weigh nothing: it
 * cannot be told.
 */
uint64_t spread_noise(struct spread_pair *pairs, size_t n);

#endif /* QPROF_ANALYZE_SPREAD_H */
