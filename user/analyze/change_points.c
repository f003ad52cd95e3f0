// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/change_points.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* A change is looked for, and judged, among so many values at once. */
#define WINDOW 100
/* Chance that a candidate is none, before it is compared with its neighbours. */
#define WEAK_P 0.05
/* Values of the median that an outlier is replaced by. */
#define SMOOTHED (2 * CHANGE_POINTS_LEAST - 1)
/* Standard deviations that a value may be away from that. */
#define OUTLIER 4.0
/* Makes a median of absolute deviations a standard deviation. */
#define BY_MEDIAN 1.4826
/*
 * Few values say little about their own correlation, and machines do drift: it is assumed until
 * much more than so many values say otherwise.
 */
#define USUAL_CORRELATION 0.6
#define USUAL_WEIGHT	  12
#define MOST_CORRELATED	  0.95

struct candidate {
	size_t at;
	struct change_point point;
	double p;
};

struct search {
	double *y; /* the values, outliers clipped */
	size_t n;
	const struct change_points_options *o;
	struct candidate *found;
	uint32_t n_found, capacity;
};

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The median of seven values around `i`. It removes three outliers, and keeps a level of
 * CHANGE_POINTS_LEAST values and its place.
 */
static double smooth(const double *x, size_t n, size_t i)
{
	double near[SMOOTHED];
	size_t from = i > SMOOTHED / 2 ? i - SMOOTHED / 2 : 0;

	if (from > n - SMOOTHED)
		from = n - SMOOTHED;
	memcpy(near, &x[from], sizeof(near));
	qsort(near, SMOOTHED, sizeof(*near), by_double);
	return near[SMOOTHED / 2];
}

static int clip_outliers(struct search *s, const double *values)
{
	_free_ double *steps = calloc(s->n, sizeof(*steps));
	double noise;

	if (!steps)
		return -ENOMEM;
	/* The standard deviation of noise, by the differences of neighbours: few are of changes. */
	for (size_t i = 1; i < s->n; i++)
		steps[i - 1] = fabs(values[i] - values[i - 1]);
	qsort(steps, s->n - 1, sizeof(*steps), by_double);
	noise = steps[(s->n - 1) / 2] * BY_MEDIAN / M_SQRT2;
	for (size_t i = 0; i < s->n; i++) {
		double smoothed = smooth(values, s->n, i);

		s->y[i] = fabs(values[i] - smoothed) > OUTLIER * noise ? smoothed : values[i];
	}
	return 0;
}

/*
 * Where the values from `from` on, up to `to`, fall best into two parts: the largest
 *	mn / (m + n) * (2 E|X - Y| - E|X - X'| - E|Y - Y'|)
 * of m values X and n values Y. 0: nowhere.
 */
static size_t best_split(const struct search *s, size_t from, size_t to)
{
	double within_left = 0, within_right = 0, between = 0, best = 0;
	size_t n = to - from, at = 0;

	for (size_t i = from; i < to; i++)
		for (size_t k = i + 1; k < to; k++)
			within_right += fabs(s->y[i] - s->y[k]);
	for (size_t i = from; i < to; i++) {
		double left = 0, right = 0, l = i - from, r = n - l, q;

		if (l >= CHANGE_POINTS_LEAST && r >= CHANGE_POINTS_LEAST &&
		    (!s->o->begins || s->o->begins[i])) {
			q = 2 * between / (l * r) - 2 * within_left / (l * (l - 1)) -
			    2 * within_right / (r * (r - 1));
			q *= l * r / n;
			if (q > best) {
				best = q;
				at = i;
			}
		}
		for (size_t k = from; k < i; k++)
			left += fabs(s->y[i] - s->y[k]);
		for (size_t k = i + 1; k < to; k++)
			right += fabs(s->y[i] - s->y[k]);
		within_left += left;
		within_right -= right;
		between += right - left;
	}
	return at;
}

static double mean(const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += y[i];
	return sum / n;
}

/* Add squares of the deviations from `m`, and products of neighbouring ones. */
static void add_deviations(const double *y, size_t n, double m, double *squares, double *products)
{
	for (size_t i = 0; i < n; i++) {
		*squares += (y[i] - m) * (y[i] - m);
		if (i)
			*products += (y[i] - m) * (y[i - 1] - m);
	}
}

/*
 * The correlation of neighbours. Its estimate from deviations of two means is too low by about
 * 2 (1 + 3 r) / n (Kendall 1954).
 */
static double correlation(double squares, double products, size_t n)
{
	double r = products / squares;

	r += 2 * (1 + 3 * r) / n;
	r = (n * r + USUAL_WEIGHT * USUAL_CORRELATION) / (n + USUAL_WEIGHT);
	return fmin(fmax(r, 0), MOST_CORRELATED);
}

/*
 * Compare the level from `from` to c->at with that from there to `to`. Of a candidate
 * the values may have further changes, which look like dependence: `is_weak` takes no account of
 * it.
 */
static void judge(const struct search *s, struct candidate *c, size_t from, size_t to, bool is_weak)
{
	size_t n_before = c->at - from, n_after = to - c->at, n = to - from;
	double before = mean(&s->y[from], n_before), after = mean(&s->y[c->at], n_after);
	double squares = 0, products = 0, r, t, df;

	c->point = (struct change_point){.at = c->at, .before = before, .after = after};
	c->point.change = before > 0 ? (after - before) / before : after > 0 ? INFINITY : 0;
	c->p = 1;
	if (n_before < CHANGE_POINTS_LEAST || n_after < CHANGE_POINTS_LEAST)
		return;
	add_deviations(&s->y[from], n_before, before, &squares, &products);
	add_deviations(&s->y[c->at], n_after, after, &squares, &products);
	if (squares <= 0) {
		c->p = before == after;
		return;
	}
	r = is_weak ? 0 : correlation(squares, products, n);
	/* Values per independent value: of a mean, and of a variance. */
	t = (after - before) /
	    sqrt(squares / (n - 2) * (1 + r) / (1 - r) * (1.0 / n_before + 1.0 / n_after));
	df = fmax(n * (1 - r * r) / (1 + r * r) - 2, 1);
	c->p = student_p(t, df);
}

/* Split again and again, as long as a part falls into two. */
static int split(struct search *s, size_t from, size_t to)
{
	struct candidate c = {.at = best_split(s, from, to)};

	if (!c.at)
		return 0;
	judge(s, &c, from, to, true);
	if (c.p > WEAK_P)
		return 0;
	return array__add(&s->found, &s->n_found, &s->capacity, &c) ?: split(s, from, c.at)
		?: split(s, c.at, to);
}

static int by_place(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Candidates of windows that overlap by half, each once. */
static int find_candidates(struct search *s)
{
	uint32_t kept = 0;
	int err = 0;

	for (size_t from = 0; !err; from += WINDOW / 2) {
		size_t to = from + WINDOW < s->n ? from + WINDOW : s->n;

		err = split(s, from, to);
		if (to == s->n)
			break;
	}
	if (err || !s->n_found)
		return err;
	qsort(s->found, s->n_found, sizeof(*s->found), by_place);
	for (uint32_t i = 0; i < s->n_found; i++)
		if (!kept || s->found[kept - 1].at != s->found[i].at)
			s->found[kept++] = s->found[i];
	s->n_found = kept;
	return 0;
}

#define NO_CANDIDATE UINT32_MAX

/* The values around a candidate that are of its two levels, at most a window of each. */
static void range_of(const struct search *s, uint32_t before, uint32_t i, uint32_t after,
		     size_t *from, size_t *to)
{
	size_t at = s->found[i].at;

	*from = before != NO_CANDIDATE ? s->found[before].at : 0;
	*to = after != NO_CANDIDATE ? s->found[after].at : s->n;
	if (at - *from > WINDOW)
		*from = at - WINDOW;
	if (*to - at > WINDOW)
		*to = at + WINDOW;
}

static bool is_enough(const struct search *s, const struct candidate *c)
{
	double confidence = s->o->confidence > 0 ? s->o->confidence : CHANGE_POINTS_CONFIDENCE;

	return c->p * s->n <= 1 - confidence && fabs(c->point.change) >= s->o->least;
}

/*
 * The candidates that are left, as a list, and a tree that finds the weakest of those that are not
 * enough: a node has the weaker one of its two, the leaves are the candidates.
 */
struct ranking {
	struct search *search;
	uint32_t *before, *after; /* neighbours, or NO_CANDIDATE */
	uint32_t *tree;		  /* the root is at 1, the children of i at 2 i and 2 i + 1 */
	uint32_t leaves;
};

static void ranking__clear(struct ranking *r)
{
	free(r->before);
	free(r->after);
	free(r->tree);
}

/* The one that is to go before the other. */
static uint32_t weaker(const struct search *s, uint32_t a, uint32_t b)
{
	const struct candidate *x = &s->found[a], *y = &s->found[b];

	if (a == NO_CANDIDATE || b == NO_CANDIDATE)
		return a == NO_CANDIDATE ? b : a;
	if (x->p != y->p)
		return y->p > x->p ? b : a;
	return fabs(y->point.change) < fabs(x->point.change) ? b : a;
}

static void rank(struct ranking *r, uint32_t i, bool is_left)
{
	const struct search *s = r->search;
	uint32_t at = r->leaves + i;

	r->tree[at] = is_left && !is_enough(s, &s->found[i]) ? i : NO_CANDIDATE;
	while (at /= 2)
		r->tree[at] = weaker(s, r->tree[2 * at], r->tree[2 * at + 1]);
}

static void judge_again(struct ranking *r, uint32_t i)
{
	struct search *s = r->search;
	size_t from, to;

	if (i == NO_CANDIDATE)
		return;
	range_of(s, r->before[i], i, r->after[i], &from, &to);
	judge(s, &s->found[i], from, to, false);
	rank(r, i, true);
}

/* Remove the weakest candidate, and judge its neighbours anew, until all are strong enough. */
static int merge(struct search *s)
{
	__cleanup(ranking__clear) struct ranking r = {.search = s, .leaves = 1};
	uint32_t n = s->n_found, kept = 0;

	if (!n)
		return 0;
	while (r.leaves < n)
		r.leaves *= 2;
	r.before = calloc(n + 1UL, sizeof(*r.before));
	r.after = calloc(n + 1UL, sizeof(*r.after));
	r.tree = malloc(2UL * r.leaves * sizeof(*r.tree));
	if (!r.before || !r.after || !r.tree)
		return -ENOMEM;
	memset(r.tree, 0xff, 2UL * r.leaves * sizeof(*r.tree));
	for (uint32_t i = 0; i < n; i++) {
		r.before[i] = i ? i - 1 : NO_CANDIDATE;
		r.after[i] = i + 1 < n ? i + 1 : NO_CANDIDATE;
	}
	for (uint32_t i = 0; i < n; i++)
		judge_again(&r, i);
	while (r.tree[1] != NO_CANDIDATE) {
		uint32_t weakest = r.tree[1];
		uint32_t before = r.before[weakest], after = r.after[weakest];

		if (before != NO_CANDIDATE)
			r.after[before] = after;
		if (after != NO_CANDIDATE)
			r.before[after] = before;
		s->found[weakest].at = 0; /* no candidate is there */
		rank(&r, weakest, false);
		judge_again(&r, after);
		judge_again(&r, before);
	}
	for (uint32_t i = 0; i < n; i++)
		if (s->found[i].at)
			s->found[kept++] = s->found[i];
	s->n_found = kept;
	return 0;
}

int change_points__find(const double *values, size_t n, const struct change_points_options *o,
			struct change_point **out, size_t *n_out)
{
	_free_ double *y = NULL;
	_free_ struct candidate *found = NULL;
	struct search s = {.n = n, .o = o};
	struct change_point *points;
	int err = 0;

	if (n > CHANGE_POINTS_MOST)
		return -E2BIG;
	if (o->exact)
		return exact_steps__find(values, n, o, out, n_out);
	y = s.y = calloc(n + 1, sizeof(*y));
	if (!y)
		return -ENOMEM;
	if (n >= 2 * CHANGE_POINTS_LEAST)
		err = clip_outliers(&s, values) ?: find_candidates(&s) ?: merge(&s);
	found = s.found;
	/* A candidate was placed when others stood beside it. */
	for (uint32_t i = 0; i < s.n_found && !err; i++) {
		size_t from, to, at;

		range_of(&s, i ? i - 1 : NO_CANDIDATE, i, i + 1 < s.n_found ? i + 1 : NO_CANDIDATE,
			 &from, &to);
		at = best_split(&s, from, to);
		if (at)
			s.found[i].at = at;
	}
	err = err ?: merge(&s);
	points = err ? NULL : calloc(s.n_found + 1, sizeof(*points));
	if (!points)
		return err ?: -ENOMEM;
	for (uint32_t i = 0; i < s.n_found; i++) {
		points[i] = s.found[i].point;
		points[i].confidence = 1 - s.found[i].p * s.n;
	}
	*out = points;
	*n_out = s.n_found;
	return 0;
}

/* ---- Student's distribution ------------------------------------------------------------------ */

#define TERMS	200
#define EPSILON 1e-15
#define TINY	1e-300

static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/*
 * The continued fraction of the incomplete beta function, 1 / (1 + d1 / (1 + d2 / ...)), by Lentz's
 * method.
 */
static double fraction(double x, double a, double b)
{
	double f = 1, c = 1, d = 0;

	for (int i = 1; i <= TERMS; i++) {
		double m = i / 2, k, factor;

		/* DLMF 8.17.22 */
		if (i % 2)
			k = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		else
			k = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / not_zero(1 + k * d);
		c = not_zero(1 + k / c);
		factor = c * d;
		f *= factor;
		if (fabs(factor - 1) < EPSILON)
			break;
	}
	return 1 / f;
}

/* The regularized incomplete beta function I_x(a, b), with y = 1 - x. */
static double beta(double x, double y, double a, double b)
{
	int sign;
	double scale;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	/* lgamma() writes a global variable. */
	scale = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
		    b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return scale * fraction(x, a, b) / a;
	return 1 - scale * fraction(y, b, a) / b;
}

double student_p(double t, double df)
{
	double all = df + t * t;

	if (isinf(t))
		return 0;
	return beta(df / all, t * t / all, df / 2, 0.5);
}

/* ---- Steps of exact numbers ------------------------------------------------------------------ */

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
		if (l->n) {
			double before = l->at[l->n - 1].value;

			if (before != new.value)
				new.step = before > 0 ? (new.value - before) / before : INFINITY;
		}
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

static bool is_change(const struct levels *l, size_t k, const struct change_points_options *o)
{
	double size = fabs(l->at[k].step), middle = (l->at[k].value + l->at[k - 1].value) / 2;
	size_t from = k > AROUND ? k - AROUND : 0, to = k + AROUND < l->n ? k + AROUND : l->n;

	return size > 0 && size >= o->least && size > EXACT_STEPS_TIMES * usual_step(l, k) &&
	       most_are_beyond(l, k, to, k, middle) && most_are_beyond(l, from, k, k - 1, middle);
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
