// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/student.h"

#include <math.h>

#define TERMS	200
#define EPSILON 1e-15
#define TINY	1e-300

/* Coefficient `i` of the continued fraction of the incomplete beta function (DLMF 8.17.22). */
static double coefficient(int i, double x, double a, double b)
{
	double m = i / 2;

	if (i % 2)
		return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
	return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* 1 / (1 + d1 / (1 + d2 / ...)), by Lentz's method. */
static double fraction(double x, double a, double b)
{
	double f = 1, c = 1, d = 0;

	for (int i = 1; i <= TERMS; i++) {
		double k = coefficient(i, x, a, b), factor;

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
