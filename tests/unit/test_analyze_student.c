// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/student.h"

#include <math.h>

#include "test.h"

static void check(double t, double df, double p)
{
	double got = student_p(t, df);

	if (fabs(got - p) > p * 1e-6)
		fail_msg("p of t = %g with %g: %.10g, not %.10g", t, df, got, p);
}

/* The tails of the density, integrated numerically. */
static void chances_are_those_of_the_distribution(void **state)
{
	check(2, 10, 0.07338803477);
	check(-2, 10, 0.07338803477);
	check(12.7062047, 1, 0.05000000014);
	check(0.5, 3.5, 0.64685043932);
	check(1.5, 200, 0.13519132123);
	check(10, 20, 3.16378175872e-9);
}

static void ends_are_reached(void **state)
{
	assert_true(student_p(0, 5) == 1);
	assert_true(student_p(INFINITY, 5) == 0);
	assert_true(student_p(1e200, 5) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chances_are_those_of_the_distribution),
		cmocka_unit_test(ends_are_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
