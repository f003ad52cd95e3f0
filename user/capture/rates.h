/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What earlier recordings told of a library's queries: how often they are executed,
 * and how long they take; and which groups of guards (guard_groups.h) were met at all. Kept beside
 * the library's plan, so that the next recording begins with what fits, instead of finding out by
 * spending.
 *
 * It only says where to begin: a wrong file makes a poor beginning and poor guesses, nothing else.
 */
#ifndef QPROF_CAPTURE_RATES_H
#define QPROF_CAPTURE_RATES_H

#include <stddef.h>

#include "base/cleanup.h"
#include "plan/plan.h"

struct rates_query {
	double executions; /* that were seen */
	double cpu_s;	   /* of compilers, while it was watched */
	uint64_t mean_ns;  /* 0: never recorded */
};

struct rates_group {
	double hits;  /* intervals that were seen */
	double cpu_s; /* of compilers, while it was watched */
};

struct rates {
	uint32_t n;	    /* queries */
	uint32_t n_groups;  /* of guards */
	uint32_t names_crc; /* of their names: numbers may change with the plan */
	uint32_t turn;	    /* recordings with a budget so far */
	uint8_t build_id[PLAN_BUILD_ID_MAX];
	uint32_t build_id_len;
	struct rates_query *queries; /* as in the plan */
	struct rates_group *groups;
};

/* None are known. -ENOMEM. */
int rates__new(const struct plan *plan, struct rates **out);

/* Those that are kept for the library, or none. -ENOMEM. */
int rates__load(const struct plan *plan, struct rates **out);

/* Keep them. What cannot be written is told with -v. */
void rates__store(const struct rates *r);

/* `more` happened since. What is old counts less and less. */
void rates__add(struct rates *r, const struct rates *more);

bool rates__is_empty(const struct rates *r);

/* Executions per second of CPU time. 0: unknown, or none. */
double rates__of(const struct rates *r, uint32_t query);

/* Whether a group of guards was watched for long enough to know, and never met. */
bool rates__never(const struct rates *r, uint32_t group);

/* For tests: the file. `like` says what queries there have to be; -EBADMSG. */
int rates__encode(const struct rates *r, uint8_t **buf, size_t *len);
int rates__decode(const uint8_t *buf, size_t len, struct rates *like);

void rates__free(struct rates *r);
DEFINE_CLEANUP(struct rates, rates__free)
#define _rates_ __cleanup(rates__free_p)

#endif /* QPROF_CAPTURE_RATES_H */
