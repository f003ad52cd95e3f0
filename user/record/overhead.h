/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The cost of a recording until now: measured, or counted and multiplied by measured costs. */
#ifndef QPROF_RECORD_OVERHEAD_H
#define QPROF_RECORD_OVERHEAD_H

#include "capture/probe_cost.h"
#include "capture/session.h"
#include "trace/trace.h"

/* The parts that are known; the caller adds breakpoints, which its compilers decide. */
struct overhead_input {
	const uint64_t *counters; /* as session__counters() */
	const struct probe_costs *costs;
	struct session_cost session;
	uint64_t breakpoints; /* of all compilers that were recorded */
	uint64_t own_ns;      /* overhead_own_ns() */
	uint64_t set_up_ns;   /* of it, what comes once */
	uint64_t read_ns;     /* to read files of a toolchain for the first time; not in own_ns */
	uint32_t beside;      /* other recordings that the last look found */
	uint64_t command_ns;  /* CPU time of the command and its children; 0: it runs */
};

/* Compilers, each with the breakpoints that there were when it was counted. All zeroes is empty. */
struct breakpoints {
	uint64_t n;
	uint32_t compilers;
};

/* There are so many compilers by now, and `each` that starts has so many. Returns b->n. */
uint64_t breakpoints__count(struct breakpoints *b, uint32_t compilers, uint32_t each);

struct trace_costs overhead_costs(const struct probe_costs *costs);

struct trace_overhead overhead_of(const struct overhead_input *in);

/*
 * CPU time of this process and its children that have ended, without so much of others: a launched
 * command, and what was read before it started.
 */
uint64_t overhead_own_ns(uint64_t others_ns);

#endif /* QPROF_RECORD_OVERHEAD_H */
