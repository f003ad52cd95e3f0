// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/spread.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define WHOLE 1000000 /* ppm */
#define MOST  0.9L    /* share of the total weight */
/* So many standard errors have that share of normally distributed values within them. */
#define ERRORS 1.65L

struct spread spread_of(uint64_t *values, uint32_t n)
{
	uint64_t low, high;

	if (!n)
		return (struct spread){0};
	qsort(values, n, sizeof(*values), array__by_u64);
	low = values[(n - 1) / 2];
	high = values[n / 2];
	return (struct spread){
		.n = n,
		.median = low + (high - low) / 2,
		.min = values[0],
		.max = values[n - 1],
	};
}

uint64_t spread_width(const struct spread *base, const struct spread *new)
{
	uint64_t a = base->max - base->min, b = new->max - new->min;

	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

bool spread_differs(const struct spread *base, const struct spread *new,
		    const struct spread_limits *limits)
{
	uint64_t low = smaller(base->median, new->median);
	uint64_t change = larger(base->median, new->median) - low;

	if (!change || change < limits->least || change <= spread_width(base, new))
		return false;
	if (new->max >= base->min && base->max >= new->min)
		return false;
	if (!spread_is_thin(base->n, new->n))
		return true;
	/* Long double: the products may have more than 64 bits. */
	return (long double)change * WHOLE > (long double)low * limits->noise_ppm;
}

static uint64_t apart(const struct spread_pair *p)
{
	return larger(p->base, p->new) - smaller(p->base, p->new);
}

static long double excess(const struct spread_pair *p)
{
	long double low = smaller(p->base, p->new), all = apart(p), error = ERRORS * p->error;

	return low && all > error ? sqrtl(all * all - error * error) / low : 0;
}

static int compare_excess(const void *a, const void *b)
{
	long double x = excess(a), y = excess(b);

	return (x > y) - (x < y);
}

uint64_t spread_noise(struct spread_pair *pairs, size_t n)
{
	long double all = 0, sum = 0, noise = 0;
	struct spread_pair last;
	size_t most = 0;

	if (!n)
		return UINT64_MAX;
	/* The pair that differs most is left out: it goes to the end. */
	for (size_t i = 1; i < n; i++)
		if (apart(&pairs[i]) > apart(&pairs[most]))
			most = i;
	last = pairs[--n];
	pairs[n] = pairs[most];
	pairs[most] = last;
	qsort(pairs, n, sizeof(*pairs), compare_excess);
	for (size_t i = 0; i < n; i++)
		all += smaller(pairs[i].base, pairs[i].new);
	if (all == 0)
		return UINT64_MAX;
	for (size_t i = 0; i < n && sum < all * MOST; i++) {
		sum += smaller(pairs[i].base, pairs[i].new);
		noise = excess(&pairs[i]) * WHOLE;
	}
	return noise < (long double)UINT64_MAX ? (uint64_t)noise : UINT64_MAX;
}
