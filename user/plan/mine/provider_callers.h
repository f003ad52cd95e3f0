/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions that call providers, one for each. In 1.85 (1.95 has none) a query's vtable has the
 * address of such a closure, which is given the context and the key, and calls the provider:
 *
 *	vtable + OFFSET  --->  closure:  call provider
 */
#ifndef QPROF_PLAN_MINE_PROVIDER_CALLERS_H
#define QPROF_PLAN_MINE_PROVIDER_CALLERS_H

#include "plan/code/decode.h"
#include "plan/plan.h"

/*
 * Set `provider_caller` of all queries, if each provider is called by one function, which calls no
 * other: otherwise of none. 0 or -ENOMEM, or an error of elf_image__symbols().
 */
int provider_callers_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan);

#endif /* QPROF_PLAN_MINE_PROVIDER_CALLERS_H */
