// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/exact_steps.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

#define AROUND 3 /* values that say on which side of a step a level is */

/* The value of one commit. */
struct level {
	size_t at;
	double value;
	double step; /* from the former level, as a share of it */
};

struct levels {
	struct level *at;
	uint32_t n, capacity;
};

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int median(const double *values, size_t n, double *out)
{
	_free_ double *sorted = NULL;

	if (n == 1) {
		*out = *values;
		return 0;
	}
	sorted = calloc(n, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = values[i];
	qsort(sorted, n, sizeof(*sorted), by_double);
	*out = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	return 0;
}

static double step_of(double before, double after)
{
	if (before == after)
		return 0;
	return before > 0 ? (after - before) / before : INFINITY;
}

static int find_levels(struct levels *l, const double *values, size_t n, const bool *begins)
{
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		struct level new = {.at = i};
		int err;

		for (end = i + 1; begins && end < n && !begins[end];)
			end++;
		err = median(&values[i], end - i, &new.value);
		if (err)
			return err;
		if (l->n)
			new.step = step_of(l->at[l->n - 1].value, new.value);
		err = array__add(&l->at, &l->n, &l->capacity, &new);
		if (err)
			return err;
	}
	return 0;
}

/* The size that four of five steps near level `k` do not exceed, its own left out. */
static double usual_step(const struct levels *l, size_t k)
{
	double steps[2 * EXACT_STEPS_NEAR];
	size_t n = 0, first = k > EXACT_STEPS_NEAR ? k - EXACT_STEPS_NEAR : 1;

	for (size_t i = first; i < l->n && i <= k + EXACT_STEPS_NEAR; i++)
		if (i != k)
			steps[n++] = fabs(l->at[i].step);
	if (!n)
		return 0;
	qsort(steps, n, sizeof(*steps), by_double);
	return steps[(n - 1) * 4 / 5];
}

/* Whether most of the levels from `from` on, up to `to`, are on the side of level `k`. */
static bool most_are_beyond(const struct levels *l, size_t from, size_t to, size_t k, double middle)
{
	bool is_above = l->at[k].value > middle;
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += l->at[i].value != middle && (l->at[i].value > middle) == is_above;
	return 2 * n > to - from;
}

static bool stays(const struct levels *l, size_t k)
{
	double middle = (l->at[k].value + l->at[k - 1].value) / 2;
	size_t from = k > AROUND ? k - AROUND : 0, to = k + AROUND < l->n ? k + AROUND : l->n;

	return most_are_beyond(l, k, to, k, middle) && most_are_beyond(l, from, k, k - 1, middle);
}

static bool is_change(const struct levels *l, size_t k, const struct change_points_options *o)
{
	double size = fabs(l->at[k].step);

	return size > 0 && size >= o->least && size > EXACT_STEPS_TIMES * usual_step(l, k) &&
	       stays(l, k);
}

int exact_steps__find(const double *values, size_t n, const struct change_points_options *o,
		      struct change_point **out, size_t *n_out)
{
	_free_ struct level *owned = NULL;
	_free_ struct change_point *points = NULL;
	struct levels l = {};
	size_t found = 0;
	int err = find_levels(&l, values, n, o->begins);

	owned = l.at;
	points = calloc(l.n + 1, sizeof(*points));
	if (err || !points)
		return -ENOMEM;
	for (size_t k = 1; k < l.n; k++)
		if (is_change(&l, k, o))
			points[found++] = (struct change_point){
				.at = l.at[k].at,
				.before = l.at[k - 1].value,
				.after = l.at[k].value,
				.change = l.at[k].step,
				.confidence = 1,
			};
	*out = take_ptr(points);
	*n_out = found;
	return 0;
}
