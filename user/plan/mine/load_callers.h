/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the query of a load in a function that several queries share, or whose copies for several
 * queries the compiler folded into one. The body that wants the result knows its query, and is one
 * or two calls up:
 *
 *	try_execute_query	holds the query's vtable, in a register or a slot of its frame
 *	  {closure}		one for each query, or for several
 *	    try_load_from_disk	one for each type of results: the GUARD site is here, or above
 *
 * So the probe follows the return addresses on the stack. Each possible address is a step in the
 * plan (struct plan_step), which says where the next return address is, or the vtable. A closure
 * that jumps to the function leaves no return address.
 */
#ifndef QPROF_PLAN_MINE_LOAD_CALLERS_H
#define QPROF_PLAN_MINE_LOAD_CALLERS_H

#include "plan/code/flow.h"
#include "plan/mine/body.h"
#include "plan/mine/owners.h"
#include "plan/plan.h"

/*
 * Fill plan->steps, by guard, and turn the GUARD sites that they lead on from into GUARD_CALLED.
 * A site for which no body is found, or only bodies whose queries have numbers, stays GUARD.
 * `owners` has the functions that hold guards, `mined` is parallel to the plan's bodies. Returns 0,
 * -ENOMEM or -EFAULT.
 */
int load_callers_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		      const struct mined_body *mined, const struct owners *owners);

/*
 * A mask site's vtable, as the function got it: FLOW_ENTRY, or FLOW_FIELD, or FLOW_UNKNOWN. The
 * flow must cover the site.
 */
struct flow_value load_callers_vtable(const struct walk *w, const struct fixpoint *flow,
				      const struct mined_site *mask);

/* The query that a function is named after: rustc_query_impl::query_impl::<query>::... */
uint32_t load_callers_named(const struct plan *plan, const char *function);

/* ---- Hashing --------------------------------------------------------------------------------- */

/*
 * Whose result is hashed: that of the query that runs, if this happens in its body or in a function
 * that only bodies call; a caller in no known function is no body. What is between bodies and their
 * providers (between.h), and only bodies call, counts as a part of these. In any other function it
 * is the result of another query, which the running query feeds.
 */

/*
 * Set `label_of_query` of all guards that hash results, or else a problem. `owners` are the
 * functions that hold these, `mined` is parallel to the plan's bodies. 0 or -ENOMEM, or an error of
 * elf_image__symbols().
 */
int hash_callers_find(struct elf_image *img, struct plan *plan, const struct mined_body *mined,
		      const struct owners *owners);

#endif /* QPROF_PLAN_MINE_LOAD_CALLERS_H */
