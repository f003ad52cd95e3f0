/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a probe costs the profiled program on this machine, now: measured with the real programs and
 * the real records, on functions of our own, by a child that calls them in a loop.
 *
 * A query has two hits, one at its start and one at its end, and its own interval lies between
 * the two readings of the clock in them: what a start does after its reading, and an end before
 * its own, is inside; the rest is outside, in the time of whoever asked for the query.
 */
#ifndef QPROF_CAPTURE_PROBE_COST_H
#define QPROF_CAPTURE_PROBE_COST_H

#include "capture/kernel.h"

/* Of one class of sites, in picoseconds; 0: not measured. */
struct probe_cost {
	uint64_t hit_ps;    /* a hit: half of what a start and an end cost together */
	uint64_t inside_ps; /* of the two hits of a query, what lies in its own interval */
};

struct probe_costs {
	struct probe_cost emulated;
	struct probe_cost stepped;
};

/*
 * Measure, before anything is followed: takes the number of a library, and empties the ring and the
 * counters. The probes stay, where only we execute them: removing them takes longer than measuring.
 * Returns a negative errno, and then nothing was measured.
 */
int probe_costs__measure(struct kernel *k, struct probe_costs *costs);

#endif /* QPROF_CAPTURE_PROBE_COST_H */
