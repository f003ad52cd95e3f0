/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The methods of rustc's QueryEngine (query_engine.h): the function that each method in its vtable
 * calls, and the constants that this function stores in its frame.
 */
#ifndef QPROF_PLAN_RECOVER_ENGINE_METHODS_H
#define QPROF_PLAN_RECOVER_ENGINE_METHODS_H

#include "plan/code/decode.h"
#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"
#include "plan/symbols/known_symbols.h"

/* A constant in a frame, or the address of a place in it; `at` is from sp at the entry. */
struct engine_store {
	int64_t at;
	uint32_t number; /* the low 16 bits */
};

struct engine_method {
	uint64_t wrapper; /* the one function that it calls */
	bool executes;	  /* the wrapper makes a provider's guard itself: it passes no vtable on */
	uint32_t first_store, end_store;
	uint32_t first_address, end_address;
};

struct engine_methods {
	struct engine_method *items; /* in the order of the vtable */
	uint32_t n, capacity;
	struct engine_store *stores;
	uint32_t n_stores, stores_capacity;
	struct engine_store *addresses;
	uint32_t n_addresses, addresses_capacity;
	uint32_t first; /* number of the first one, if they were found */
};

/*
 * `known` are the image's symbols, among them those of the cold sides of providers. Find the run of
 * `n` addresses in the read-only data whose functions store numbers that follow one another; the
 * vtable may have other addresses before and behind it. None (n is 0) if there
 * is no such run, or more than one. 0 or -ENOMEM.
 */
int engine_methods__find(struct elf_image *img, const struct bounds *bounds,
			 const struct known_symbols *known, uint32_t n, struct engine_methods *out);

/*
 * How far behind the start of the vtable its number is: the one distance that it has, in all
 * functions that pass a vtable on, from a place whose address they take. UINT32_MAX if there are
 * several, or none.
 */
uint32_t engine_methods__offset(const struct engine_methods *m);

/*
 * Where that function has the vtable in its frame, from sp at the entry: that far before its
 * number. If it does not take the address of one, the place is that of a copy of the number alone.
 * False if it stores the number at several places.
 */
bool engine_methods__vtable(const struct engine_methods *m, uint32_t i, uint32_t offset,
			    int64_t *at);

void engine_methods__destroy(struct engine_methods *m);
#define _engine_methods_ __cleanup(engine_methods__destroy)

#endif /* QPROF_PLAN_RECOVER_ENGINE_METHODS_H */
