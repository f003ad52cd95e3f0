/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Chooses the queries that are probed, so that their probes cost no more than there is room for.
 *
 * Each execution meets a start probe of its query, and an end probe that all queries of a set share
 * (query_sets.h). Starts are left out query by query, the ends of a set only as a whole, with all
 * its starts. A query is probed if its starts and the ends of its set are.
 *
 * Everything is taken at first. Then what costs most for what it is worth goes, until the rest
 * fits; and what fits in the room that is left over returns.
 */
#ifndef QPROF_BUDGET_CHOICE_H
#define QPROF_BUDGET_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* All costs are shares of the compilers' CPU time, or of anything else that all agree on. */
struct choice_query {
	uint32_t set; /* from 0 */
	/*
	 * The query starts at its wrapper. Its end is recognized only if all starts of its set are
	 * seen, so it is probed only if all of its set is.
	 */
	bool wrapped;
	double worth;  /* not negative */
	double starts; /* the cost of its own start probes */
	double ends;   /* the part of its executions in the cost of its set's ends */
};

struct choice {
	const struct choice_query *queries;
	uint32_t n_queries;
	const double *sets; /* the cost of the ends of a set, without executions */
	uint32_t n_sets;
	double room;
	/* Results, by query and by set: the probes that are attached. */
	bool *starts;
	bool *ends;
	double cost; /* of these */
};

/* -ENOMEM. */
int choice__make(struct choice *c);

#endif /* QPROF_BUDGET_CHOICE_H */
