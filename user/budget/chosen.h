/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The probes of a library that a recording has, decided once, before any is attached: those that
 * fit the budget by what earlier recordings have seen (rates.h), or by what is usual (usual.h).
 * The time of what they leave out is sampled.
 *
 * Queries are chosen by choice.h. Activities, waiting and loading are few, but each new compiler
 * pays for all breakpoints. So the groups (guard_groups.h) that earlier recordings never met are
 * left out, except for loading, which only incremental compilers have; and each is tried again in
 * one recording out of eight. Passes, and guards without a label of their own, are always probed.
 */
#ifndef QPROF_BUDGET_CHOSEN_H
#define QPROF_BUDGET_CHOSEN_H

#include "base/cleanup.h"
#include "budget/costs.h"
#include "budget/rates.h"
#include "plan/plan.h"

struct chosen_input {
	const struct plan *plan;
	const bool *sites;   /* of the plan: passes the filter */
	const bool *queries; /* of the plan: passes the filter */
	const struct rates *known;
	uint64_t budget_ppm;  /* 0: everything is chosen */
	bool only_queries;    /* every group of guards is chosen */
	uint64_t sampled_ppm; /* the part of it that samples take */
	struct costs costs;   /* a cost of hits of 0 is unknown: everything is chosen */
};

struct chosen {
	bool *sites;	    /* of the plan: to be attached */
	bool *queries;	    /* of the plan: each execution is recorded, if it passes the filter */
	bool *has_starts;   /* of the plan: a start passes the filter */
	bool *groups;	    /* of guards */
	uint32_t *group_of; /* by guard */
	uint32_t n_groups;
	uint64_t cost_ppm; /* the expected share of CPU time of all these, and of samples */
};

/* -ENOMEM. */
int chosen__new(const struct chosen_input *in, struct chosen **out);

void chosen__free(struct chosen *c);
DEFINE_CLEANUP(struct chosen, chosen__free)
#define _chosen_ __cleanup(chosen__free_p)

#endif /* QPROF_BUDGET_CHOSEN_H */
