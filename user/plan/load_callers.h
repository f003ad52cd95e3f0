/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which query a load is for, where the function that loads cannot know: several queries share it,
 * or were the same code, of which the compiler kept one copy under one name. The body that wants
 * the result does know, and is one or two calls away:
 *
 *	try_execute_query	holds the query's vtable, in a register or a slot of its frame
 *	  {closure}		one for each query, or for several
 *	    try_load_from_disk	one for each type of results: the GUARD site is here, or above
 *
 * So the probe goes by the return addresses on the stack. Each that it may find is a step in the
 * plan (struct plan_step): where the next return address is, or the vtable.
 */
#ifndef QPROF_PLAN_LOAD_CALLERS_H
#define QPROF_PLAN_LOAD_CALLERS_H

#include "plan/flow.h"
#include "plan/mine.h"
#include "plan/owners.h"
#include "plan/plan.h"

/*
 * Fill plan->steps, by guard, and turn the GUARD sites that they lead on from into GUARD_CALLED.
 * What no body can be found for stays as it is. `owners` has the functions that hold guards,
 * `mined` is parallel to the plan's bodies. Returns 0, -ENOMEM or -EFAULT.
 */
int load_callers_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		      const struct mined_body *mined, const struct owners *owners);

/*
 * What a mask site's vtable is called at the entry of its body: FLOW_ENTRY, or FLOW_UNKNOWN. The
 * flow must have been asked for the site.
 */
struct flow_value load_callers_vtable(const struct walk *w, const struct flow *flow,
				      const struct mined_site *mask);

/* rustc_query_impl::query_impl::<query>::...: the query that a function is named after. */
uint32_t load_callers_named(const struct plan *plan, const char *function);

#endif /* QPROF_PLAN_LOAD_CALLERS_H */
