/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of queries in a library without symbols whose compiler has a trait QueryEngine: the
 * methods of the trait are the queries, in the order of their declaration, and the vtable of the
 * one type that implements it is in the file. Each method calls a function of its own, which makes
 * the query's vtable in its frame: the number of the query (DepKind) is a constant there. Debug of
 * DepKind, which is exported, prints the name for that number.
 *
 * A wrong name would not be noticed later. So the numbers must follow one another in the order of
 * the methods, their names must be those of the exported QueryDescription::describe of all queries,
 * each once, and the default Providers must have as many functions.
 */
#ifndef QPROF_PLAN_RECOVER_QUERY_ENGINE_H
#define QPROF_PLAN_RECOVER_QUERY_ENGINE_H

#include "plan/recover/recovered.h"
#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"
#include "plan/code/decode.h"
#include "plan/symbols/function_name.h"

/* True if the image, whose symbols are those of .dynsym, is of such a compiler. */
bool query_engine__is_in(struct elf_image *img);

/*
 * Add the functions that the methods call, one for both modes, under the names of wrappers, and
 * their numbers. 0 or -ENOMEM. A constant string in *problem: nothing was added, and why.
 */
int query_engine__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out,
			  struct query_numbers *numbers, const char **problem);

/*
 * The names of an enum's variants, by their numbers, as its derived Debug prints them: its function
 * is one switch over the number, and each case passes one text on.
 */

struct variant_name {
	const char *text; /* in the image, without a NUL; NULL: not known */
	uint32_t len;
};

#define VARIANT_NAMES_MAX 512

struct variant_names {
	struct variant_name items[VARIANT_NAMES_MAX];
	uint32_t n;
};

/*
 * Read them from the function in `region`, which begins at its entry; `code` is for scratch use.
 * None if it has no such switch. 0 or -ENOMEM.
 */
int variant_names__read(struct elf_image *img, struct code_decoder *decoder,
			struct code_region region, struct code *code, struct variant_names *out);

/*
 * The methods of rustc's QueryEngine (query_engine.h): the function that each method in its vtable
 * calls, and the constants that this function stores in its frame.
 */

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

#endif /* QPROF_PLAN_RECOVER_QUERY_ENGINE_H */
