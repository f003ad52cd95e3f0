/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sites of a plan that are attached for a filter, and the entries of the tables that they look
 * up: the plan in the terms of the kernel half.
 */
#ifndef QPROF_CAPTURE_ATTACH_SET_H
#define QPROF_CAPTURE_ATTACH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/filter.h"
#include "plan/mine/hits.h"
#include "plan/plan.h"

/* Length of an array that is indexed by enum wire_role; index 0 is unused. */
#define ATTACH_ROLES WIRE_ROLE_MAX

struct attach_set {
	const struct plan *plan;
	const struct filter *filter; /* NULL: everything passes */
	uint8_t lib;
	bool callers;	      /* requests are probed too */
	bool *queries;	      /* by query: it is followed, even if only for another of its body */
	bool any_query;	      /* one is */
	bool all_queries;     /* all are */
	bool *guards;	      /* by guard of the plan: a site of it is attached */
	bool *ends;	      /* by guard: of it, or of another that its end sites end, likewise */
	uint8_t *end_parts;   /* by guard: enum plan_part of its end sites */
	uint32_t *first_step; /* of each guard, whose steps follow one another */
	uint32_t *numbers;    /* by site of the plan that is attached: its own among these */
	uint32_t n_sites;     /* that are attached */
	uint32_t first;	      /* cookie of the first: to be set before any is asked for */
};

/* `sites` is NULL afterwards. What the set refers to must outlive it. -ENOMEM. */
int attach_set__init(struct attach_set *set, const struct plan *plan, const struct filter *filter,
		     uint8_t lib, bool callers);

/* True if a site is attached. */
bool attach_set__wants(const struct attach_set *set, const struct plan_site *site);

/* Find `guards`, as attach_set__init() does: they are all false, and `plan` and `filter` are set.
 */
void attach_set__find_guards(struct attach_set *set);

/* Which compilers need a site. An end that several guards share is theirs if all are of one part.
 */
enum plan_part attach_set__part(const struct attach_set *set, const struct plan_site *site);

/* The cookie of a site that is attached: its index in the kernel half's table of sites. */
uint32_t attach_set__cookie(const struct attach_set *set, const struct plan_site *site);

/*
 * The entry there. With `callers`, a wrapper that starts its query is also where the query is
 * requested.
 */
void attach_set__site(const struct attach_set *set, const struct plan_site *site,
		      struct wire_site *out);

/* The entry of a place where a query hits its cache. */
void attach_set__hit(const struct attach_set *set, const struct plan_hit *hit,
		     struct wire_site *out);

/*
 * The entry for `query` in the table that the WIRE_ROLE_IDENTIFY, _GUARD_QUERY or _GUARD_CALLED
 * site `site` looks up. WIRE_ROLE_IDENTIFY has WIRE_NO_QUERY for a query with a start of its own.
 * False if neither the site's body nor a body that its callers lead to serves the query.
 */
bool attach_set__provider(const struct attach_set *set, const struct plan_site *site,
			  uint32_t query, struct wire_provider_key *key,
			  struct wire_provider *value);

/*
 * The entry for the plan's step `i` in the table that the WIRE_ROLE_GUARD_CALLED site `site` looks
 * up. False if the step belongs to another guard.
 */
bool attach_set__step(const struct attach_set *set, const struct plan_site *site, uint32_t i,
		      struct wire_provider_key *key, struct wire_step *value);

/* The entry in the table of sources that `site` looks up. False if it looks up none. */
bool attach_set__source(const struct attach_set *set, const struct plan_site *site, uint32_t *key,
			struct wire_source *value);

/* The entry of a query in the table of wrappers. False if none of its wrappers is probed. */
bool attach_set__wrappers(const struct attach_set *set, uint32_t query, struct wire_wrappers *out);

void attach_set__clear(struct attach_set *set);
#define _attach_set_ __cleanup(attach_set__clear)

#endif /* QPROF_CAPTURE_ATTACH_SET_H */
