/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CPU time that probes cost the compilers, apart from the time of single hits. */
#ifndef QPROF_BUDGET_COSTS_H
#define QPROF_BUDGET_COSTS_H

#include <stdint.h>

/* Sums since the recording began. Initialized with zeroes. */
struct costs {
	uint64_t hit_ps;       /* one hit, in picoseconds; 0: not measured */
	uint64_t installed_ns; /* all compilers paid for the breakpoints in their own copies */
	uint64_t switched_ns;  /* and for breakpoints that were attached or detached as they ran */
	uint32_t n_compilers;  /* that run now */
};

/* `hit_ps` is a hit's cost as measured on functions of our own. */
void costs__set_hit(struct costs *c, uint64_t hit_ps);

/* A compiler installs the breakpoints of `sites` sites as it starts: the CPU time that takes. */
uint64_t costs_of_install(uint64_t sites);

/*
 * Charge a switch of `sites` sites to all compilers that run. A negative `sites` is the errno of a
 * switch that failed: it is returned. 0 otherwise.
 */
int costs__charge_switch(struct costs *c, int sites);

#endif /* QPROF_BUDGET_COSTS_H */
