/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rates of a library's queries from earlier recordings: how often each is executed and how long it
 * takes, and which groups of guards (guard_groups.h) were met at all. They are kept beside the
 * library's plan, so that the next recording begins with the probes that fit the budget.
 *
 * Rates only decide where a recording begins: a wrong file makes a poor beginning and poor
 * estimates, nothing else.
 */
#ifndef QPROF_BUDGET_RATES_H
#define QPROF_BUDGET_RATES_H

#include <stddef.h>

#include "base/cleanup.h"
#include "plan/library/file.h"
#include "plan/plan.h"

struct rates_query {
	double executions; /* that were seen */
	double cpu_s;	   /* of compilers, while the query was watched */
	uint64_t mean_ns;  /* 0: never recorded */
};

struct rates_group {
	double hits;  /* intervals that were seen */
	double cpu_s; /* of compilers, while the group was watched */
};

struct rates {
	uint32_t n;		     /* queries */
	uint32_t n_groups;	     /* of guards */
	uint32_t names_crc;	     /* of their names: numbers may change with the plan */
	uint32_t turn;		     /* recordings with a budget so far */
	struct library_identity id;  /* of the library; zeroes: rates are not kept */
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

/* Executions per second of CPU time. 0: unknown, or none. */
double rates__of(const struct rates *r, uint32_t query);

/* Whether a group of guards was watched for long enough to know, and never met. */
bool rates__never(const struct rates *r, uint32_t group);

/* For tests: the file. `like` has the queries that the file must have, else -EBADMSG. */
int rates__encode(const struct rates *r, uint8_t **buf, size_t *len);
int rates__decode(const uint8_t *buf, size_t len, struct rates *like);

void rates__free(struct rates *r);
DEFINE_CLEANUP(struct rates, rates__free)
#define _rates_ __cleanup(rates__free_p)

#endif /* QPROF_BUDGET_RATES_H */
