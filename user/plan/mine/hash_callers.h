/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Whose result is hashed: that of the query that runs, if this happens in its body or in a function
 * that only bodies call; a caller in no known function is no body. What is between bodies and their
 * providers (between.h), and only bodies call, counts as a part of these. In any other function it
 * is the result of another query, which the running query feeds.
 */
#ifndef QPROF_PLAN_MINE_HASH_CALLERS_H
#define QPROF_PLAN_MINE_HASH_CALLERS_H

#include "plan/mine/body.h"
#include "plan/mine/owners.h"
#include "plan/plan.h"

/*
 * Set `label_of_query` of all guards that hash results, or else a problem. `owners` are the
 * functions that hold these, `mined` is parallel to the plan's bodies. 0 or -ENOMEM, or an error of
 * elf_image__symbols().
 */
int hash_callers_find(struct elf_image *img, struct plan *plan, const struct mined_body *mined,
		      const struct owners *owners);

#endif /* QPROF_PLAN_MINE_HASH_CALLERS_H */
