// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/exact_steps.h"

#include <math.h>

#include "test.h"

#define N 60

static size_t find(const double *values, size_t n, const struct change_points_options *o,
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

static void any_step_that_stays_is_certain(void **state)
{
	const struct change_points_options least = {.exact = true, .least = 0.001};
	struct change_point c[N];
	double values[N];

	fill(values, 20000);
	assert_int_equal(find(values, N, &exact, c), 0);
	for (size_t i = 41; i < N; i++)
		values[i] = 20001;
	assert_int_equal(find(values, N, &exact, c), 1);
	assert_int_equal(c[0].at, 41);
	assert_true(c[0].before == 20000 && c[0].after == 20001 && c[0].confidence == 1);
	assert_true(c[0].change == 1.0 / 20000);
	assert_int_equal(find(values, N, &least, c), 0);
	/* From nothing. */
	for (size_t i = 0; i < 41; i++)
		values[i] = 0;
	assert_int_equal(find(values, N, &least, c), 1);
	assert_true(isinf(c[0].change));
}

/* A gate cannot wait for more builds. */
static void the_last_build_is_believed(void **state)
{
	struct change_point c[N];
	double values[N];

	fill(values, 100);
	values[N - 1] = 103;
	assert_int_equal(find(values, N, &exact, c), 1);
	assert_int_equal(c[0].at, N - 1);
	assert_int_equal(find(values + N - 2, 2, &exact, c), 1);
}

static void one_odd_build_is_no_change(void **state)
{
	struct change_point c[N];
	double values[N];

	fill(values, 100);
	values[20] = 150;
	values[40] = 0;
	values[58] = 90;
	assert_int_equal(find(values, N, &exact, c), 0);
}

/* Each commit adds a little; one adds far more. */
static void growth_is_no_change_but_a_leap_is(void **state)
{
	struct change_point c[N];
	double values[N], value = 100000;

	for (size_t i = 0; i < N; i++) {
		value += i % 3 == 0 ? 40 + 10 * (i % 5) : 0;
		values[i] = value;
	}
	assert_int_equal(find(values, N, &exact, c), 0);
	for (size_t i = 33; i < N; i++)
		values[i] *= 1.03;
	assert_int_equal(find(values, N, &exact, c), 1);
	assert_int_equal(c[0].at, 33);
	assert_true(fabs(c[0].change - 0.03) < 0.001);
}

/* As long as most commits change nothing. */
static void each_of_several_steps_is_found(void **state)
{
	struct change_point c[N];
	double values[N];

	for (size_t i = 0; i < N; i++)
		values[i] = 100 + 3 * (i / 10);
	values[35] = 80; /* and an odd build */
	assert_int_equal(find(values, N, &exact, c), 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(c[i].at, 10 * (i + 1));
	/* Two in a row. */
	fill(values, 100);
	values[30] = 103;
	for (size_t i = 31; i < N; i++)
		values[i] = 106;
	assert_int_equal(find(values, N, &exact, c), 2);
	assert_int_equal(c[0].at, 30);
	assert_int_equal(c[1].at, 31);
}

static void builds_of_one_commit_are_one(void **state)
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
	assert_int_equal(find(values, N, &o, c), 1);
	assert_int_equal(c[0].at, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_step_that_stays_is_certain),
		cmocka_unit_test(the_last_build_is_believed),
		cmocka_unit_test(one_odd_build_is_no_change),
		cmocka_unit_test(growth_is_no_change_but_a_leap_is),
		cmocka_unit_test(each_of_several_steps_is_found),
		cmocka_unit_test(builds_of_one_commit_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
