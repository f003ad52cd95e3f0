/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures what a tick of a perf event of the CPU's clock takes from the thread that it interrupts:
 * the interrupt and the setting of the next one, without a program of ours. In a virtual machine
 * that is more than the program.
 */
#ifndef QPROF_CAPTURE_TICK_COST_H
#define QPROF_CAPTURE_TICK_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TICK_GAPS_MAX 128

/* Gaps between readings of a clock that are as long as an interrupt. All zeroes is empty. */
struct tick_gaps {
	uint64_t ns[TICK_GAPS_MAX];
	size_t n;
};

/* The time from one reading to the next. False: there is no room for more. */
bool tick_gaps__add(struct tick_gaps *g, uint64_t ns);
/* Their median, which sorts them; 0: there are so few that nothing has ticked. */
uint64_t tick_gaps__median(struct tick_gaps *g);

/*
 * The CPU time of a tick, in ns; 0: it could not be measured. Takes 3 ms of CPU time, and of wall
 * time where nothing else wants the CPU. To be called while no samples are taken: it takes the
 * median of all interrupts.
 */
uint64_t tick_cost_ns(void);

#endif /* QPROF_CAPTURE_TICK_COST_H */
