/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The code of one librustc_driver from the view of a stack reader: the functions that run a query,
 * and their queries. Also the names for all numbers that the kernel half sends.
 */
#ifndef QPROF_STUCK_PLACES_H
#define QPROF_STUCK_PLACES_H

#include "base/cleanup.h"
#include "plan/plan.h"

enum place_kind {
	PLACE_OTHER,
	PLACE_WRAPPER,	/* the function by which one query is requested */
	PLACE_BODY,	/* try_execute_query: of one query, or shared by many */
	PLACE_PROVIDER, /* the function of one query that calls its provider */
};

struct place {
	enum place_kind kind;
	const char *query;  /* owned by places; NULL: shared by many, or none */
	const char *symbol; /* mangled, owned by places; NULL: in no function */
};

struct places;

/* Copies the needed parts of the plan, and opens its library. Prints one line on failure. */
int places__new(const struct plan *plan, struct places **out);

/* `addr` is an ELF address of the library. */
void places__find(const struct places *p, uint64_t addr, struct place *out);

/*
 * Where the key of a body's query is while the body is in the call that returns to ELF address
 * `addr`; NULL: unknown.
 */
const struct plan_held_key *places__held_key(const struct places *p, uint64_t addr);

/* Where the definition is in such a key, if that is in memory. */
const struct wire_memory_key *places__memory_key(const struct places *p,
						 const struct plan_held_key *held);

/* How names are read; without `problem`s. */
const struct plan_layout *places__layout(const struct places *p);

/* The library's path. */
const char *places__path(const struct places *p);

/* Names by the plan's numbers; NULL past the end, and for a guard with a dynamic label. */
const char *places__query(const struct places *p, uint32_t query);
const char *places__guard(const struct places *p, uint32_t guard);

void places__free(struct places *p);
DEFINE_CLEANUP(struct places, places__free)
#define _places_ __cleanup(places__free_p)

#endif /* QPROF_STUCK_PLACES_H */
