/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Where the argument of a guard's event is when the branch to its cold side is reached. */
#ifndef QPROF_PLAN_MINE_GUARD_ARGUMENTS_H
#define QPROF_PLAN_MINE_GUARD_ARGUMENTS_H

#include "plan/code/eval.h"
#include "plan/mine/cold_sides.h"

/*
 * `f` is the cold side in its function, up to the call of `side`; `site` is the branch. Sets *out
 * if every way from there to the call leaves the operands at known places. 0 or -ENOMEM.
 */
int guard_argument(const struct eval_function *f, const struct cold_side *side, uint64_t site,
		   struct wire_source *out);

#endif /* QPROF_PLAN_MINE_GUARD_ARGUMENTS_H */
