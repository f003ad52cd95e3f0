/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What of a plan is attached, and what the sites' cookies say: the plan in the kernel half's terms.
 */
#ifndef QPROF_CAPTURE_CHOICE_H
#define QPROF_CAPTURE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/filter.h"
#include "plan/hits.h"
#include "plan/plan.h"

struct choice {
	const struct plan *plan;
	const struct filter *filter; /* NULL: everything is asked for */
	uint8_t lib;
	bool callers;	      /* requests are probed too */
	bool queries;	      /* queries are kept track of, if only for the sake of others */
	bool *guards;	      /* those of the plan that are watched */
	uint32_t *first_step; /* of each guard, whose steps follow one another */
};

/* The plan and the filter must outlive it. -ENOMEM. */
int choice__init(struct choice *c, const struct plan *plan, const struct filter *filter,
		 uint8_t lib, bool callers);

/* Whether a site is needed for what is asked for. */
bool choice__wants(const struct choice *c, const struct plan_site *site);

/* How many are. */
uint32_t choice__sites(const struct choice *c);

/*
 * The cookie of one site (qprof/wire.h). With `callers`, where a query starts at its wrapper is
 * also where it is requested, and has the cookie of that.
 */
uint64_t choice__cookie(const struct choice *c, const struct plan_site *site);

/* The cookie of a place where a query hits its cache. */
uint64_t choice__hit_cookie(const struct choice *c, const struct plan_hit *hit);

/*
 * The entry for `query` in the table that the WIRE_ROLE_IDENTIFY, _GUARD_QUERY or _GUARD_CALLED
 * site `site` looks up. For the first, a query that has a start of its own is entered as
 * WIRE_NO_QUERY. False if the site's body, or every one that its callers lead to, does not serve
 * it.
 */
bool choice__provider(const struct choice *c, const struct plan_site *site, uint32_t query,
		      struct wire_provider_key *key, struct wire_provider *value);

/*
 * The entry for the plan's step `i` in the table that the WIRE_ROLE_GUARD_CALLED site `site` looks
 * up. False if it is another guard's.
 */
bool choice__step(const struct choice *c, const struct plan_site *site, uint32_t i,
		  struct wire_provider_key *key, struct wire_step *value);

/* What the requests of one query go by. False if none of its wrappers is probed. */
bool choice__wrappers(const struct choice *c, uint32_t query, struct wire_wrappers *out);

void choice__clear(struct choice *c);
#define _choice_ __cleanup(choice__clear)

#endif /* QPROF_CAPTURE_CHOICE_H */
