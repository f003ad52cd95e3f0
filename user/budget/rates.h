/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The memory of a budget: how often each query of a library was executed in earlier recordings, and
 * how often each group of guards (guard_groups.h) occurred. It is kept beside the library's plan.
 *
 * Rates only decide which probes a recording has: a wrong file makes a poor choice, nothing else.
 * CPU times are those of compilers, without what their probes cost.
 */
#ifndef QPROF_BUDGET_RATES_H
#define QPROF_BUDGET_RATES_H

#include <stddef.h>

#include "base/cleanup.h"
#include "plan/library/file.h"
#include "plan/plan.h"

struct rates_query {
	double executions;
	double cpu_s; /* of compilers in which the query was probed */
};

struct rates_group {
	double intervals;
	double cpu_s; /* of compilers in which the group was probed */
};

struct rates {
	uint32_t n;		     /* queries */
	uint32_t n_groups;	     /* of guards */
	uint32_t names_crc;	     /* of their names: numbers may change with the plan */
	uint32_t turn;		     /* recordings with a budget so far */
	struct library_identity id;  /* of the library; zeroes: rates are not kept */
	double compilers;	     /* that were recorded */
	double cpu_s;		     /* of these */
	double others;		     /* results of queries without probes in these */
	double usual_others;	     /* how many are usual (usual.h) */
	struct rates_query *queries; /* as in the plan */
	struct rates_group *groups;
};

/* Empty rates. -ENOMEM. */
int rates__new(const struct plan *plan, struct rates **out);

/* The rates that are kept for the library, or empty rates. -ENOMEM. */
int rates__load(const struct plan *plan, struct rates **out);

/* Keep the rates. A failure is reported with -v only. */
void rates__store(const struct rates *r);

/* Add later rates. Old ones lose weight over time. */
void rates__add(struct rates *r, const struct rates *more);

bool rates__is_empty(const struct rates *r);

/*
 * Executions per second of CPU time, where `usual` is the rate if nothing is known. Little CPU time
 * shows little, so it counts beside the usual rate.
 */
double rates__of(const struct rates *r, uint32_t query, double usual);

/* Intervals of a group per second of CPU time; 0: none, or unknown. */
double rates__of_group(const struct rates *r, uint32_t group);

/*
 * How many of the executions that are usual of queries without probes there were: from 0 to 1. Each
 * usual rate is that of compiles that execute the query much, and none executes all much.
 */
double rates__share_of_usual(const struct rates *r);

/* Compilers per second of CPU time. */
double rates__compilers(const struct rates *r);

/* Whether a group of guards was probed for long enough to know, and never met. */
bool rates__never(const struct rates *r, uint32_t group);

/* For tests: the file. `like` has the queries that the file must have, else -EBADMSG. */
int rates__encode(const struct rates *r, uint8_t **buf, size_t *len);
int rates__decode(const uint8_t *buf, size_t len, struct rates *like);

void rates__free(struct rates *r);
DEFINE_CLEANUP(struct rates, rates__free)
#define _rates_ __cleanup(rates__free_p)

#endif /* QPROF_BUDGET_RATES_H */
