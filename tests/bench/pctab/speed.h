/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Times point look-ups in each encoding, side by side on the same places of the
 * same tables.
 */
#ifndef QPROF_TESTS_BENCH_PCTAB_SPEED_H
#define QPROF_TESTS_BENCH_PCTAB_SPEED_H

#include <stdbool.h>
#include <stdint.h>

#include "survey.h"

/* Each case is timed so often; odd, so that there is a middle one. */
#define PCTAB_SPEED_ROUNDS 15

/* The number of cases. */
#define PCTAB_SPEED_CASES 4

/* Look-ups per round. */
#define PCTAB_SPEED_LOOKUPS (1u << 18)

/* The tables and pcs of a measurement. */
struct pctab_speed_case {
	uint32_t samples; /* a power of two; fewer than a round has are gone through again */
	/* A table is as likely as its code is long, as for a profiler's samples; or all alike. */
	bool by_code;
};

/* Nanoseconds per look-up, of the thread's own time. */
struct pctab_speed {
	double varint, linear;		 /* in the middle round */
	double varint_best, linear_best; /* in the fastest round: that which was disturbed least */
	double ratio; /* linear / varint of the same round; the middle one of these */
};

extern const struct pctab_speed_case pctab_speed_cases[PCTAB_SPEED_CASES];

/* Time one, for about a second. 0, -ENODATA if there are no tables, -ENOMEM. */
int pctab_speed__measure(const struct pctab_survey *s, const struct pctab_speed_case *c,
			 struct pctab_speed *out);

#endif /* QPROF_TESTS_BENCH_PCTAB_SPEED_H */
