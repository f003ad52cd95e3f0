// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/change_points.h"
#include "../fixtures/noise.h"
#include "test.h"
#include <math.h>
#include "analyze/spread.h"

#define SEED 0x9e3779b97f4a7c15ul

/* The changes of `n` values, at most 16; their number. */
static size_t find(const double *values, size_t n, const struct change_points_options *o,
		   struct change_point changes[16])
{
	struct change_point *found = NULL;
	size_t n_found = 0;

	assert_int_equal(change_points__find(values, n, o, &found, &n_found), 0);
	assert_in_range(n_found, 0, 16);
	memcpy(changes, found, n_found * sizeof(*found));
	free(found);
	return n_found;
}

/* 100 with a deviation of 2, and from `at` on as much more. */
static void make(double *values, size_t n, size_t at, double more, uint64_t seed)
{
	struct noise r = {.state = seed};

	for (size_t i = 0; i < n; i++)
		values[i] = (100 + 2 * noise__normal(&r)) * (i >= at ? 1 + more : 1);
}

static const struct change_points_options o = {};

static struct change_point c[16];

TEST_CASE(a_level_has_no_change)
{
	double flat[40] = {}, alternating[40];

	assert_int_equal(find(NULL, 0, &o, c), 0);
	assert_int_equal(find(flat, 1, &o, c), 0);
	assert_int_equal(find(flat, 40, &o, c), 0);
	for (size_t i = 0; i < 40; i++)
		alternating[i] = 100 + i % 2;
	assert_int_equal(find(alternating, 40, &o, c), 0);
}

TEST_CASE(a_step_is_found_where_it_is)
{
	double values[60];

	make(values, 60, 37, 0.1, SEED);
	assert_int_equal(find(values, 60, &o, c), 1);
	assert_int_equal(c[0].at, 37);
	assert_true(fabs(c[0].change - 0.1) < 0.02);
	assert_true(fabs(c[0].before - 100) < 1.5 && fabs(c[0].after - 110) < 1.5);
	assert_true(c[0].confidence > CHANGE_POINTS_CONFIDENCE && c[0].confidence <= 1);

	make(values, 60, 37, -0.1, SEED);
	assert_int_equal(find(values, 60, &o, c), 1);
	assert_int_equal(c[0].at, 37);
	assert_true(c[0].change < -0.08);
}

/* The first builds of the new level are enough, if it is far from the former one. */
TEST_CASE(a_step_is_found_early)
{
	double values[34];

	make(values, 34, 30, 0.2, SEED);
	assert_int_equal(find(values, 34, &o, c), 1);
	assert_int_equal(c[0].at, 30);
}

/* Neighbours that are much alike say little, but this is far more than they ever differ by. */
TEST_CASE(a_step_is_found_despite_a_drift)
{
	double values[40];

	for (size_t i = 0; i < 40; i++)
		values[i] = (i < 25 ? 4000 : 4400) + 19 * i % 20;
	assert_int_equal(find(values, 40, &o, c), 1);
	assert_int_equal(c[0].at, 25);
}

TEST_CASE(a_level_may_be_left_again)
{
	double values[60];

	make(values, 60, 60, 0, SEED);
	for (size_t i = 20; i < 30; i++)
		values[i] += 15;
	assert_int_equal(find(values, 60, &o, c), 2);
	assert_int_equal(c[0].at, 20);
	assert_int_equal(c[1].at, 30);
	assert_true(c[0].change > 0.1 && c[1].change < -0.1);
}

/* A busy machine, once or twice in a row; and in the last build. */
TEST_CASE(outliers_are_no_level)
{
	double values[60];

	make(values, 60, 60, 0, SEED);
	values[10] *= 3;
	values[30] *= 1.8;
	values[31] *= 2.2;
	values[59] *= 2;
	assert_int_equal(find(values, 60, &o, c), 0);

	make(values, 60, 25, 0.1, SEED);
	values[20] *= 2;
	values[31] *= 1.7;
	assert_int_equal(find(values, 60, &o, c), 1);
	assert_int_equal(c[0].at, 25);
}

TEST_CASE(a_small_change_is_none)
{
	const struct change_points_options most = {.least = 0.03}, least = {.least = 0.07};
	double values[60];

	make(values, 60, 30, 0.05, SEED);
	assert_int_equal(find(values, 60, &most, c), 1);
	assert_int_equal(find(values, 60, &least, c), 0);
}

/* Three builds of each commit: the second of them cannot have changed the level. */
TEST_CASE(a_change_begins_with_a_commit)
{
	bool begins[60];
	const struct change_points_options o = {.begins = begins};
	double values[60];

	for (size_t i = 0; i < 60; i++)
		begins[i] = i % 3 == 0;
	make(values, 60, 31, 0.1, SEED);
	assert_int_equal(find(values, 60, &o, c), 1);
	assert_int_equal(c[0].at, 30);
}

TEST_CASE(a_long_series_is_searched)
{
	static double values[10000];
	struct change_point *out = NULL;
	size_t n;

	make(values, 10000, 4444, 0.1, SEED);
	for (size_t i = 7000; i < 10000; i++)
		values[i] *= 0.8;
	assert_int_equal(find(values, 10000, &o, c), 2);
	assert_int_equal(c[0].at, 4444);
	assert_int_equal(c[1].at, 7000);
	assert_int_equal(change_points__find(values, CHANGE_POINTS_MOST + 1, &o, &out, &n), -E2BIG);
}

enum shape { NORMAL, LOGNORMAL, HEAVY, DRIFTING, TWO_MACHINES, SHAPES };

/* A build of about 100, without a change of level. */
static double shaped(enum shape shape, struct noise *r)
{
	switch (shape) {
	case LOGNORMAL:
		return 100 * exp(0.1 * noise__normal(r));
	case HEAVY:
		return 100 + 3 * noise__heavy(r);
	case DRIFTING:
		return 100 + 3 * noise__drifting(r);
	case TWO_MACHINES:
		return (noise__uniform(r) < 0.5 ? 100 : 120) + 3 * noise__normal(r);
	default:
		return 100 + 3 * noise__normal(r);
	}
}

static size_t false_alarms(enum shape shape, size_t n, size_t n_series)
{
	const struct change_points_options o = {};
	struct noise r = {.state = SEED + shape};
	struct change_point c[16];
	double values[200];
	size_t n_false = 0;

	for (size_t i = 0; i < n_series; i++) {
		r.drift = 0;
		for (size_t k = 0; k < n; k++)
			values[k] = shaped(shape, &r);
		n_false += find(values, n, &o, c) > 0;
	}
	return n_false;
}

/* 1,000 series of 60 builds; docs/history.md has this number. */
TEST_CASE(chance_is_rarely_taken_for_a_change)
{
	static const char *const names[SHAPES] = {
		[NORMAL] = "normal",	 [LOGNORMAL] = "lognormal",	  [HEAVY] = "heavy tails",
		[DRIFTING] = "drifting", [TWO_MACHINES] = "two machines",
	};
	size_t all = 0;

	print_message("seed %#lx; of 200 series each:", SEED);
	for (int i = 0; i < SHAPES; i++) {
		size_t n = false_alarms(i, 60, 200);

		print_message(" %s %zu,", names[i], n);
		all += n;
	}
	print_message(" false\n");
	assert_in_range(all, 0, 3);
}

/* Of 100 steps each, so many are found, and at their place or the next one. */
TEST_CASE(steps_are_found)
{
	static const struct {
		double noise, step;
		size_t later;
		size_t least;
	} cases[] = {
		{1, 0.05, 5, 90},  {2, 0.10, 4, 80},  {2, 0.10, 5, 90},
		{3, 0.10, 10, 88}, {5, 0.10, 20, 55}, {5, 0.20, 10, 92},
	};
	double values[60];

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct noise r = {.state = SEED};
		size_t found = 0;

		for (int k = 0; k < 100; k++) {
			for (size_t m = 0; m < 30 + cases[i].later; m++)
				values[m] = (100 + cases[i].noise * noise__normal(&r)) *
					    (m < 30 ? 1 : 1 + cases[i].step);
			found += find(values, 30 + cases[i].later, &o, c) == 1 && c[0].at >= 29 &&
				 c[0].at <= 31;
		}
		print_message("noise %g %%, step %g %%, %zu builds later: %zu\n", cases[i].noise,
			      cases[i].step * 100, cases[i].later, found);
		assert_in_range(found, cases[i].least, 100);
	}
}

/* ---- Student --------------------------------------------------------------------------------- */

static void check(double t, double df, double p)
{
	double got = student_p(t, df);

	if (fabs(got - p) > p * 1e-6)
		fail_msg("p of t = %g with %g: %.10g, not %.10g", t, df, got, p);
}

/* The tails of the density, integrated numerically. */
TEST_CASE(chances_are_those_of_the_distribution)
{
	check(2, 10, 0.07338803477);
	check(-2, 10, 0.07338803477);
	check(12.7062047, 1, 0.05000000014);
	check(0.5, 3.5, 0.64685043932);
	check(1.5, 200, 0.13519132123);
	check(10, 20, 3.16378175872e-9);
}

TEST_CASE(ends_are_reached)
{
	assert_true(student_p(0, 5) == 1);
	assert_true(student_p(INFINITY, 5) == 0);
	assert_true(student_p(1e200, 5) == 0);
}

/* ---- Exact steps ----------------------------------------------------------------------------- */

#define N 60

static size_t exact_steps_find(const double *values, size_t n,
			       const struct change_points_options *o,
			       struct change_point changes[N])
{
	struct change_point *found = NULL;
	size_t n_found = 0;

	assert_int_equal(exact_steps__find(values, n, o, &found, &n_found), 0);
	memcpy(changes, found, n_found * sizeof(*found));
	free(found);
	return n_found;
}

static const struct change_points_options exact = {.exact = true};

static void fill(double *values, double value)
{
	for (size_t i = 0; i < N; i++)
		values[i] = value;
}

TEST_CASE(any_step_that_stays_is_certain)
{
	const struct change_points_options least = {.exact = true, .least = 0.001};
	struct change_point c[N];
	double values[N];

	fill(values, 20000);
	assert_int_equal(exact_steps_find(values, N, &exact, c), 0);
	for (size_t i = 41; i < N; i++)
		values[i] = 20001;
	assert_int_equal(exact_steps_find(values, N, &exact, c), 1);
	assert_int_equal(c[0].at, 41);
	assert_true(c[0].before == 20000 && c[0].after == 20001 && c[0].confidence == 1);
	assert_true(c[0].change == 1.0 / 20000);
	assert_int_equal(exact_steps_find(values, N, &least, c), 0);
	/* From nothing. */
	for (size_t i = 0; i < 41; i++)
		values[i] = 0;
	assert_int_equal(exact_steps_find(values, N, &least, c), 1);
	assert_true(isinf(c[0].change));
}

/* A gate cannot wait for more builds. */
TEST_CASE(the_last_build_is_believed)
{
	struct change_point c[N];
	double values[N];

	fill(values, 100);
	values[N - 1] = 103;
	assert_int_equal(exact_steps_find(values, N, &exact, c), 1);
	assert_int_equal(c[0].at, N - 1);
	assert_int_equal(exact_steps_find(values + N - 2, 2, &exact, c), 1);
}

TEST_CASE(one_odd_build_is_no_change)
{
	struct change_point c[N];
	double values[N];

	fill(values, 100);
	values[20] = 150;
	values[40] = 0;
	values[58] = 90;
	assert_int_equal(exact_steps_find(values, N, &exact, c), 0);
}

/* Each commit adds a little; one adds far more. */
TEST_CASE(growth_is_no_change_but_a_leap_is)
{
	struct change_point c[N];
	double values[N], value = 100000;

	for (size_t i = 0; i < N; i++) {
		value += i % 3 == 0 ? 40 + 10 * (i % 5) : 0;
		values[i] = value;
	}
	assert_int_equal(exact_steps_find(values, N, &exact, c), 0);
	for (size_t i = 33; i < N; i++)
		values[i] *= 1.03;
	assert_int_equal(exact_steps_find(values, N, &exact, c), 1);
	assert_int_equal(c[0].at, 33);
	assert_true(fabs(c[0].change - 0.03) < 0.001);
}

/* As long as most commits change nothing. */
TEST_CASE(each_of_several_steps_is_found)
{
	struct change_point c[N];
	double values[N];

	for (size_t i = 0; i < N; i++)
		values[i] = 100 + 3 * (i / 10);
	values[35] = 80; /* and an odd build */
	assert_int_equal(exact_steps_find(values, N, &exact, c), 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(c[i].at, 10 * (i + 1));
	/* Two in a row. */
	fill(values, 100);
	values[30] = 103;
	for (size_t i = 31; i < N; i++)
		values[i] = 106;
	assert_int_equal(exact_steps_find(values, N, &exact, c), 2);
	assert_int_equal(c[0].at, 30);
	assert_int_equal(c[1].at, 31);
}

TEST_CASE(builds_of_one_commit_are_one)
{
	bool begins[N];
	const struct change_points_options o = {.exact = true, .begins = begins};
	struct change_point c[N];
	double values[N];

	fill(values, 100);
	for (size_t i = 0; i < N; i++)
		begins[i] = i % 4 == 0;
	for (size_t i = 32; i < N; i++)
		values[i] = 101;
	values[34] = 7;
	assert_int_equal(exact_steps_find(values, N, &o, c), 1);
	assert_int_equal(c[0].at, 32);
}

/* ---- Spread ---------------------------------------------------------------------------------- */

static struct spread of5(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t values[] = {b, a, b, c, b};

	return spread_of(values, 5);
}

static struct spread of1(uint64_t a)
{
	return spread_of(&a, 1);
}

static bool differ(struct spread base, struct spread new, uint64_t least, uint64_t noise)
{
	const struct spread_limits limits = {least, noise};
	bool differs = spread_differs(&base, &new, &limits);

	assert_int_equal(spread_differs(&new, &base, &limits), differs);
	return differs;
}

TEST_CASE(the_median_is_in_the_middle)
{
	uint64_t four[] = {7, UINT64_MAX, 1, 4};
	uint64_t far[] = {UINT64_MAX, UINT64_MAX - 1};
	struct spread s = of5(1, 3, 5);

	assert_struct(s, median, 3, min, 1, max, 5, n, 5);
	assert_int_equal(spread_of(four, 4).median, 5);
	assert_true(spread_of(far, 2).median == UINT64_MAX - 1);
	assert_int_equal(spread_of(NULL, 0).median, 0);
}

TEST_CASE(a_change_inside_the_spread_is_none)
{
	assert_true(differ(of5(10, 11, 12), of5(20, 21, 22), 0, 0));
	/* The ranges meet. */
	assert_false(differ(of5(10, 11, 20), of5(20, 31, 32), 0, 0));
	/* The ranges do not meet, but one is wider than the change. */
	assert_false(differ(of5(10, 18, 19), of5(20, 21, 22), 0, 0));
	assert_false(differ(of5(10, 11, 12), of5(13, 13, 13), 0, 0));
	assert_true(differ(of5(10, 11, 12), of5(14, 14, 14), 0, 0));
	assert_false(differ(of5(5, 5, 5), of5(5, 5, 5), 0, 0));
}

TEST_CASE(a_change_below_the_least_is_none)
{
	assert_false(differ(of5(10, 11, 12), of5(20, 21, 22), 11, 0));
	assert_true(differ(of5(10, 11, 12), of5(20, 21, 22), 10, 0));
	assert_false(differ(of1(10), of1(20), 11, 0));
}

TEST_CASE(noise_is_for_those_with_too_few_values)
{
	assert_true(differ(of1(100), of1(101), 0, 0));
	assert_false(differ(of1(100), of1(150), 0, 500000));
	assert_true(differ(of1(100), of1(151), 0, 500000));
	assert_false(differ(of1(100), of5(150, 150, 150), 0, 500000));
	assert_true(differ(of5(100, 100, 100), of5(150, 150, 150), 0, 500000));
	/* The noise is unknown: only a change from 0 is significant. */
	assert_false(differ(of1(1), of1(1ull << 40), 0, UINT64_MAX));
	assert_true(differ(of1(0), of1(1), 0, UINT64_MAX));
}

TEST_CASE(noise_is_what_most_of_the_work_wavers_by)
{
	/* Nine tenths vary by 11 % at most. The pair with the largest change is left out. */
	struct spread_pair pairs[] = {
		{110, 100, 0}, {1000, 900, 0}, {40, 20, 0}, {9, 18, 0}, {700, 9000, 0}};
	struct spread_pair none[] = {{0, 5, 0}, {5, 0, 0}};

	assert_in_range(spread_noise(pairs, 5), 111111, 111111);
	assert_true(spread_noise(none, 2) == UINT64_MAX);
	assert_true(spread_noise(NULL, 0) == UINT64_MAX);
}

TEST_CASE(errors_are_no_noise)
{
	/* 300 are within 1.65 errors of 200; of 500 with an error of 200 sqrt(500^2 - 330^2). */
	struct spread_pair sampled[] = {{1000, 1300, 200}, {10, 11, 0}, {1, 9000, 0}};
	struct spread_pair more[] = {{1000, 1500, 200}, {1, 9000, 0}};

	assert_int_equal(spread_noise(sampled, 3), 0);
	assert_in_range(spread_noise(more, 2), 375000, 376000);
}

TEST_MAIN(NULL, NULL)
