// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/spread.h"

#include <stdlib.h>

#define WHOLE	     100000 /* millipercent */
#define NOISE_TENTHS 9

static int compare_values(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct spread spread_of(uint64_t *values, uint32_t n)
{
	uint64_t low, high;

	if (!n)
		return (struct spread){0};
	qsort(values, n, sizeof(*values), compare_values);
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
	if (base->max >= new->min &&new->max >= base->min)
		return false;
	if (!spread_is_thin(base->n, new->n))
		return true;
	/* Long double: the products may have more than 64 bits. */
	return (long double)change * WHOLE > (long double)low * limits->noise_millipercent;
}

static long double excess(const struct spread_pair *p)
{
	long double low = smaller(p->base, p->new);

	return low ? (larger(p->base, p->new) - low) / low : 0;
}

static int compare_excess(const void *a, const void *b)
{
	long double x = excess(a), y = excess(b);

	return (x > y) - (x < y);
}

uint64_t spread_noise(struct spread_pair *pairs, size_t n)
{
	long double all = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		all += smaller(pairs[i].base, pairs[i].new);
	if (all == 0)
		return UINT64_MAX;
	qsort(pairs, n, sizeof(*pairs), compare_excess);
	for (size_t i = 0; i < n; i++) {
		sum += smaller(pairs[i].base, pairs[i].new);
		if (sum * 10 >= all * NOISE_TENTHS)
			return excess(&pairs[i]) * WHOLE >= (long double)UINT64_MAX
				       ? UINT64_MAX
				       : (uint64_t)(excess(&pairs[i]) * WHOLE);
	}
	return UINT64_MAX;
}
