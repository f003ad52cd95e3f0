// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/spread.h"

#include "test.h"

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

	assert_int_equal(s.median, 3);
	assert_int_equal(s.min, 1);
	assert_int_equal(s.max, 5);
	assert_int_equal(s.n, 5);
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
