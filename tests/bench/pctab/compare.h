/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The two encodings of pc-value tables side by side, on the tables of a Go executable. */
#ifndef QPROF_TESTS_BENCH_PCTAB_COMPARE_H
#define QPROF_TESTS_BENCH_PCTAB_COMPARE_H

#include <stdbool.h>

struct pctab_compare_options {
	const char *file;
	bool json;
	bool no_timing; /* only check and count */
};

/* Print the comparison. Returns an exit status, after one error line if that is EXIT_FAILURE. */
int pctab_compare(const struct pctab_compare_options *o);

#endif /* QPROF_TESTS_BENCH_PCTAB_COMPARE_H */
