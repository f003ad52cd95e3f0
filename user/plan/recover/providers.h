/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Providers and the table of functions that they call: rustc's Providers, one place for each query,
 * within the query context. A provider's first or second argument is that context, and the function
 * is read at a fixed distance from it. Extern providers are one more such table, elsewhere.
 */
#ifndef QPROF_PLAN_RECOVER_PROVIDERS_H
#define QPROF_PLAN_RECOVER_PROVIDERS_H

#include "plan/recover/recovered.h"
#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"

/*
 * 1 if each of these functions reads another one of `n` consecutive places, and *numbers: which
 * one; 2 if there are several such tables; 0 if there is none; or -ENOMEM.
 */
int providers_places(struct elf_image *img, const struct bounds *bounds, const uint64_t *functions,
		     uint32_t n, uint32_t *numbers);

/* Put the function that each one calls first in its place, if there is one. 0 or -ENOMEM. */
int providers_called(struct elf_image *img, const struct bounds *bounds, uint64_t *functions,
		     uint32_t n);

/*
 * 1 if one of the functions in `counts` fills in a table of just `n` functions, as the default
 * Providers are, and *function: which one; 0 if not; or -ENOMEM.
 */
int providers_defaults(struct elf_image *img, const struct bounds *bounds,
		       const struct address_counts *counts, uint32_t n, uint64_t *function);

#endif /* QPROF_PLAN_RECOVER_PROVIDERS_H */
