/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Keeps a recording within a budget: says, before a library is attached, which of its probes fit,
 * reports what it leaves out, and remembers what the recording has seen for later ones. Nothing
 * comes or goes while compilers run.
 */
#ifndef QPROF_BUDGET_BUDGET_H
#define QPROF_BUDGET_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "budget/chosen.h"
#include "budget/decision.h"
#include "plan/plan.h"

/* Takes a decision; a negative errno is returned to the caller of the budget. */
struct budget_sink {
	void *ctx;
	int (*decision)(void *ctx, const struct session_decision *d);
};

struct budget;

/* The time that probes and samples may take. */
struct budget_limit {
	uint64_t ppm; /* of the compilers' CPU time; 0: all probes are chosen */
	/* Only queries are left out, as samples show the time of these. */
	bool only_queries;
};

/* `sample_hz` samples a second are taken, or 0, where something is left out. -ENOMEM. */
int budget__new(struct budget_limit limit, uint32_t sample_hz, const struct budget_sink *sink,
		struct budget **out);

/* Choose all probes from now on. */
void budget__give_up(struct budget *b);

/* The measured cost of a hit, in picoseconds; to be set before the first library is chosen for. */
void budget__set_cost(struct budget *b, uint64_t hit_ps);

/* A library whose probes are to be chosen; of each thing in the plan, whether it was asked for. */
struct budget_library {
	const struct plan *plan;
	const bool *sites;
	const bool *queries;
	const bool *guards; /* a site of it was asked for */
};

/* -ENOMEM. */
int budget__choose(struct budget *b, const struct budget_library *l, struct chosen **out);

/*
 * The library was attached, with these probes and this number. Its decisions are reported as soon
 * as a compiler is met. -ENOMEM.
 */
int budget__add_library(struct budget *b, uint8_t lib, const struct budget_library *l,
			const struct chosen *chosen);

/* Take a wire record, after it was passed on to the trace. */
int budget__record(struct budget *b, const void *record, size_t size);

/* To be called now and then. */
int budget__tick(struct budget *b);

/* The capture has stopped: report what is left, and remember what was learnt. */
int budget__finish(struct budget *b);

void budget__free(struct budget *b);
DEFINE_CLEANUP(struct budget, budget__free)
#define _budget_ __cleanup(budget__free_p)

#endif /* QPROF_BUDGET_BUDGET_H */
