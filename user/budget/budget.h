/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Keeps a capture within a budget: asks the governor which probes to keep, attaches and detaches
 * them, and reports the decisions and an estimate of the executions that were not seen.
 *
 * The estimates are per process. They come from the rates before and after a query was not
 * watched, and from the invocation ids of recorded executions, which number all executions.
 */
#ifndef QPROF_BUDGET_BUDGET_H
#define QPROF_BUDGET_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "budget/decision.h"
#include "budget/probe_control.h"
#include "plan/plan.h"

/* Decisions are made this often. */
#define BUDGET_TICK_MS 4

/* Takes the reports. A negative errno is returned to the caller of the budget. */
struct budget_sink {
	void *ctx;
	int (*decision)(void *ctx, const struct session_decision *d);
	/*
	 * A process had about `events` executions of a query that were not seen; together they took
	 * about `sum_ns`.
	 */
	int (*estimated)(void *ctx, pid_t pid, uint8_t lib, uint32_t query, uint64_t events,
			 uint64_t sum_ns);
};

struct budget;

/*
 * The probes outlive the budget. With a `budget_ppm` of 0 all probes stay attached, `probes` is
 * asked for hits and starts only, and the budget only learns rates for later recordings. -ENOMEM.
 */
int budget__new(const struct probe_control *probes, uint64_t budget_ppm,
		const struct budget_sink *sink, struct budget **out);

/* The measured cost of a hit, in picoseconds; to be set before the first library is added. */
void budget__set_cost(struct budget *b, uint64_t hit_ps);

/* A library that was attached, except for the probes that a budget governs. */
struct budget_library {
	uint8_t lib;
	const struct plan *plan;
	const bool *queries; /* by query of the plan: it passes the filter, so its rate is learnt */
	const bool *guards;  /* by guard: a site of it passes the filter */
};

/*
 * Attach the probes of a library that fit the budget by the rates of earlier recordings. For
 * libraries past WIRE_WATCHED_LIBS all are attached, and stay. Prints errors.
 */
int budget__add_library(struct budget *b, const struct budget_library *l);

/* Take a wire record, after it was passed on to the trace. */
int budget__record(struct budget *b, const void *record, size_t size);

/* Decide, if it is time. Prints errors. */
int budget__tick(struct budget *b, uint64_t now_ns);

/* The capture has stopped: report the estimates of processes that still run. */
int budget__finish(struct budget *b);

/* The CPU time of compilers so far, of which the budget is a share. */
uint64_t budget__cpu_ns(const struct budget *b);

void budget__free(struct budget *b);
DEFINE_CLEANUP(struct budget, budget__free)
#define _budget_ __cleanup(budget__free_p)

#endif /* QPROF_BUDGET_BUDGET_H */
