/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Student's t-test of two samples with the same variance. */
#ifndef QPROF_ANALYZE_STUDENT_H
#define QPROF_ANALYZE_STUDENT_H

/*
 * The chance that |t| is at least so large though nothing differs; `df` (degrees of freedom) is
 * above 0 and need not be whole.
 */
double student_p(double t, double df);

#endif /* QPROF_ANALYZE_STUDENT_H */
