/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of queries in a library without symbols. One function of the compiler makes the table
 * of all queries: for each its name, as text, its provider, and the wrapper by which it is
 * executed, which is one of two, as the process compiles incrementally or not. That function is
 * run (code/straight.h), once for each.
 *
 * A wrong name would not be noticed later. So every query needs all of these, each of its own; the
 * providers must use consecutive places of the table of functions that they call; and that table
 * must be of the same length where its defaults are set up.
 */
#ifndef QPROF_PLAN_RECOVER_VTABLES_H
#define QPROF_PLAN_RECOVER_VTABLES_H

#include "plan/recover/recovered.h"
#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"
#include "plan/symbols/function_name.h"

/*
 * Add the wrappers and providers of all queries under the names that rustc gives them. 0 or
 * -ENOMEM. A constant string in *problem: nothing was added, and why.
 */
int vtables__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out,
		     const char **problem);

/*
 * Compilers before 1.95 have the wrappers in a table of their own, rustc's QueryEngine, as a part
 * of a large struct. One of two functions for each query is put there, by the mode of the process.
 */

/* By mode: 0 is not incremental. */
struct engine_wrappers {
	uint64_t functions[2];
};

/*
 * Find the function in `counts` that fills in a table of just `n` functions, all of which depend on
 * the mode. 1 and the table, 0 if there is none, or -ENOMEM.
 */
int engine__find(struct elf_image *img, const struct bounds *bounds,
		 const struct address_counts *counts, struct engine_wrappers *table, uint32_t n);

/* Functions that load results of the last compile, and those that call one. By address. */
struct loaders {
	uint64_t *items;
	uint32_t n, capacity;
};

/* Symbols must name the cold sides. 0 or -ENOMEM; destroy it in any case. */
int loaders__find(struct elf_image *img, struct loaders *out);

bool loaders__has(const struct loaders *l, uint64_t function);

void loaders__destroy(struct loaders *l);

/*
 * The provider that the compiler has set for a query: the function in the query's place of the
 * table of providers, which the function that is a query's "provider" in the plan calls.
 *
 *	defaults	fills in the table with functions that refuse, each with its query's name
 *	its caller	calls that, and then puts the compiler's own functions there
 */

/*
 * `defaults` is the function that fills in a table of `n` functions. 1 and *function; 0 if no place
 * or several have the name, or the functions that call `defaults` put several functions there; or
 * -ENOMEM. Symbols must name all functions.
 */
int set_providers__find(struct elf_image *img, const struct bounds *bounds, uint64_t defaults,
			uint32_t n, const char *query, uint64_t *function);

#endif /* QPROF_PLAN_RECOVER_VTABLES_H */
