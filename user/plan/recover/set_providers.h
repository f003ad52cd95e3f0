/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The provider that the compiler has set for a query: the function in the query's place of the
 * table of providers, which the function that is a query's "provider" in the plan calls.
 *
 *	defaults	fills in the table with functions that refuse, each with its query's name
 *	its caller	calls that, and then puts the compiler's own functions there
 */
#ifndef QPROF_PLAN_RECOVER_SET_PROVIDERS_H
#define QPROF_PLAN_RECOVER_SET_PROVIDERS_H

#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"

/*
 * `defaults` is the function that fills in a table of `n` functions. 1 and *function; 0 if no place
 * or several have the name, or the functions that call `defaults` put several functions there; or
 * -ENOMEM. Symbols must name all functions.
 */
int set_providers__find(struct elf_image *img, const struct bounds *bounds, uint64_t defaults,
			uint32_t n, const char *query, uint64_t *function);

#endif /* QPROF_PLAN_RECOVER_SET_PROVIDERS_H */
