/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CPU time that probes and samples cost the compilers. */
#ifndef QPROF_BUDGET_COSTS_H
#define QPROF_BUDGET_COSTS_H

#include <stdint.h>

struct costs {
	uint64_t hit_ps; /* one hit of a probe in a compiler, in picoseconds; 0: not measured */
};

/* `hit_ps` is a hit's cost as measured on functions of our own. */
void costs__set_hit(struct costs *c, uint64_t hit_ps);

/*
 * The CPU time of compilers for so many hits, in ns: what is likely, where a budget plans with
 * more. `hit_ps` as in costs__set_hit().
 */
uint64_t costs_of_hits(uint64_t hits, uint64_t hit_ps);
/* The same for ticks of the CPU's clock, without our programs; tick_ns is 0 if not known. */
uint64_t costs_of_ticks(uint64_t n, uint64_t tick_ns);

/* The CPU time of a compiler for the breakpoints of `sites` sites, as it starts, in ns. */
uint64_t costs_of_install(uint64_t sites);

/*
 * Samples per second of CPU time that leave most of a budget to probes, and the share of CPU time
 * that `hz` samples take.
 */
uint32_t costs_sample_hz(uint64_t budget_ppm);
uint64_t costs_of_samples_ppm(uint32_t hz);

#endif /* QPROF_BUDGET_COSTS_H */
