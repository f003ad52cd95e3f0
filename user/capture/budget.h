/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Keeps a capture within a budget: asks the governor what to watch, takes probes away and puts them
 * back, and tells what was decided and how much was not seen.
 *
 * No span is left with another's end. Of queries that are to be counted the starts begin to count
 * at once, by a word in the kernel half that each start reads once, so none is missed or counted
 * twice; the ends go a tick later, when what was open has ended. What has not by then is sent as
 * untimed. The other way round the ends come first.
 *
 * What is not seen is guessed, per process: from how often it was seen before and after, and from
 * the invocation ids of what was seen, which number all that is executed.
 */
#ifndef QPROF_CAPTURE_BUDGET_H
#define QPROF_CAPTURE_BUDGET_H

#include <sys/types.h>

#include "base/cleanup.h"
#include "capture/filter.h"
#include "capture/governor.h"
#include "capture/kernel.h"

/* Decisions are made this often. */
#define BUDGET_TICK_MS 4

/* In place of a guard: all intervals of a kind. */
#define SESSION_ALL UINT32_MAX

struct session_decision {
	uint64_t time_ns;
	uint64_t cost_ppm; /* what probes took of the CPU time of compilers just before */
	uint64_t budget_ppm;
	/*
	 * WIRE_KIND_QUERY: it is on this query of the plan of `lib`. WIRE_KIND_ACTIVITY: on all
	 * activities that have the label of this guard of it. Others: SESSION_ALL.
	 */
	uint32_t query;
	uint8_t kind; /* enum wire_kind */
	uint8_t lib;
	enum governor_watch watch; /* from now on; of guards FULL or OFF */
};

/* Where it is told. A negative errno is returned to whoever called. */
struct budget_sink {
	void *ctx;
	int (*decision)(void *ctx, const struct session_decision *d);
	/* Executions of a query in a process that were not seen: `events`, guessed; and their time.
	 */
	int (*estimated)(void *ctx, pid_t pid, uint8_t lib, uint32_t query, uint64_t events,
			 uint64_t sum_ns);
};

struct budget;

/*
 * The kernel half outlives the budget, and so does the filter, which may be NULL: what is left out
 * is nothing to learn from. The kernel half was opened with `governed`, unless `budget_ppm` is 0:
 * then everything is watched, and learnt from for the next budget. -ENOMEM.
 */
int budget__new(struct kernel *k, uint64_t budget_ppm, const struct filter *filter,
		const struct budget_sink *sink, struct budget **out);

/* A hit takes so long, in picoseconds, as it was measured; before the first library. */
void budget__set_cost(struct budget *b, uint64_t hit_ps);

/*
 * A library was attached to but for its units: attach those that fit, by what earlier recordings
 * told of it. Past WIRE_WATCHED_LIBS all are, and stay. Prints what cannot be done.
 */
int budget__add_library(struct budget *b, uint8_t lib, const struct plan *plan);

/* A wire record, after it was handed on. */
int budget__record(struct budget *b, const void *record, size_t size);

/* Decide, if it is time. Prints what cannot be done. */
int budget__tick(struct budget *b, uint64_t now_ns);

/* The capture has stopped: tell what was not seen in processes that still run. */
int budget__finish(struct budget *b);

void budget__free(struct budget *b);
DEFINE_CLEANUP(struct budget, budget__free)

#endif /* QPROF_CAPTURE_BUDGET_H */
