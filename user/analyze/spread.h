/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One quantity in several traces, and whether two sides of a comparison differ by more than noise.
 * Independent of the quantity.
 */
#ifndef QPROF_ANALYZE_SPREAD_H
#define QPROF_ANALYZE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With fewer values, their range says little about the next value. */
#define SPREAD_TRUSTED 5

struct spread {
	uint32_t n;
	uint64_t median; /* for an even number of values, the mean of the middle two */
	uint64_t min;
	uint64_t max;
};

/* `values` are sorted in place. All zeroes if `n` is 0. */
struct spread spread_of(uint64_t *values, uint32_t n);

static inline int64_t spread_change(const struct spread *base, const struct spread *new)
{
	return (int64_t)(new->median - base->median);
}

/* The wider of both ranges. */
uint64_t spread_width(const struct spread *base, const struct spread *new);

/* Thresholds of a change, beside the range of the values themselves. */
struct spread_limits {
	uint64_t least; /* absolute */
	/* Noise of the smaller median, in millionths; used if a side has too few values. */
	uint64_t noise_ppm;
};

/*
 * True if the medians differ by at least `least` and by more than either side's range, and the
 * ranges do not overlap. If a side has fewer values than SPREAD_TRUSTED, the difference must also
 * exceed the noise: for equally distributed values in random order, two ranges of three values are
 * disjoint in 1 of 10 cases, two of five in 1 of 126.
 */
bool spread_differs(const struct spread *base, const struct spread *new,
		    const struct spread_limits *limits);

/* True if a side has so few values that spread_differs() needs the noise. */
static inline bool spread_is_thin(uint32_t n_base, uint32_t n_new)
{
	return n_base < SPREAD_TRUSTED || n_new < SPREAD_TRUSTED;
}

/* Times of the same work on both sides. */
struct spread_pair {
	uint64_t base;
	uint64_t new;
	uint64_t error; /* standard error of their difference that is no noise of the machine */
};

/*
 * The noise of pairs that should be equal, in millionths of the smaller value: nine tenths of
 * the pairs, weighted by the smaller value, differ by less. What errors explain is taken off first:
 * nine tenths of normally distributed differences are within 1.65 of their standard errors. The
 * pair that differs most is left out, so that a real change is not taken for noise. `pairs` are
 * reordered. UINT64_MAX if the total weight is 0: the noise is unknown.
 */
uint64_t spread_noise(struct spread_pair *pairs, size_t n);

#endif /* QPROF_ANALYZE_SPREAD_H */
