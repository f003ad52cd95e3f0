/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures what a tick of a perf event of the CPU's clock takes from the thread that it interrupts:
 * the interrupt and the setting of the next one, without a program of ours. In a virtual machine
 * that is more than the program.
 */
#ifndef QPROF_CAPTURE_TICK_COST_H
#define QPROF_CAPTURE_TICK_COST_H

#include <stdint.h>

/*
 * The CPU time of a tick, in ns; 0: it could not be measured. Takes 3 ms of CPU time, and of wall
 * time where nothing else wants the CPU. To be called while no samples are taken: it takes the
 * median of all interrupts.
 */
uint64_t tick_cost_ns(void);

#endif /* QPROF_CAPTURE_TICK_COST_H */
