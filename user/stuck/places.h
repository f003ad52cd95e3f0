/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the code of one librustc_driver is to who reads a stack: which functions run a query, and
 * which. And the names of all that the kernel half tells by number.
 */
#ifndef QPROF_STUCK_PLACES_H
#define QPROF_STUCK_PLACES_H

#include "base/cleanup.h"
#include "plan/plan.h"

enum place_kind {
	PLACE_OTHER,
	PLACE_WRAPPER,	/* a query's own function that asks for it */
	PLACE_BODY,	/* try_execute_query: of one query, or of many */
	PLACE_PROVIDER, /* a query's own function that calls its provider */
};

struct place {
	enum place_kind kind;
	const char *query;  /* the places'; NULL: that of many, or none */
	const char *symbol; /* mangled, the places'; NULL: in no function */
};

struct places;

/* Copies what it needs of the plan, and opens its library. Prints one line on failure. */
int places__new(const struct plan *plan, struct places **out);

/* Of an ELF address of the library. */
void places__find(const struct places *p, uint64_t addr, struct place *out);

/* Of the library. */
const char *places__path(const struct places *p);

/* As numbered in the plan; NULL past the end, and for a guard whose label is told. */
const char *places__query(const struct places *p, uint32_t query);
const char *places__guard(const struct places *p, uint32_t guard);

void places__free(struct places *p);
DEFINE_CLEANUP(struct places, places__free)
#define _places_ __cleanup(places__free_p)

#endif /* QPROF_STUCK_PLACES_H */
