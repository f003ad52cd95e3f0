/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures the cost of a probe on this machine: a child calls functions of our own in a loop, with
 * the real BPF programs and the real records.
 *
 * A query has two hits, at its start and at its end. Each reads the clock once, and the interval of
 * the query lies between the two readings. So the part of a start after its reading, and of an end
 * before its reading, is inside of the interval; the rest is outside, in the time of the caller.
 */
#ifndef QPROF_CAPTURE_PROBE_COST_H
#define QPROF_CAPTURE_PROBE_COST_H

#include "capture/kernel.h"

/* Of one class of sites, in picoseconds; 0: not measured. */
struct probe_cost {
	uint64_t hit_ps;    /* a hit: half of the cost of a start and an end together */
	uint64_t inside_ps; /* the part of the two hits that lies in the query's own interval */
};

struct probe_costs {
	struct probe_cost emulated;
	struct probe_cost stepped;
	/* Shows why there are no costs. */
	struct probe_rehearsal {
		bool called;  /* the child has made all calls */
		bool written; /* it saw a breakpoint at its first site */
		uint64_t spans;
		uint64_t counters[WIRE_COUNTER_MAX];
	} rehearsal;
};

/*
 * Measure, before any process is followed. This takes the number of a library, and empties the ring
 * and the counters. The probes stay attached to our own functions, as removing them takes longer
 * than measuring. On a negative errno nothing was measured.
 */
int probe_costs__measure(struct kernel *k, struct probe_costs *costs);

/* The offset of a function of ours in the file of the program, or 0. */
uint64_t probe_cost_offset(void (*function)(void));

#endif /* QPROF_CAPTURE_PROBE_COST_H */
