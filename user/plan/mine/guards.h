/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The part of a plan for intervals that are not executions of a query: the events that rustc's
 * self-profiler names GenericActivity, QueryBlocked, IncrementalLoadResult and
 * IncrementalResultHashing, and the timers that -Ztime-passes prints.
 */
#ifndef QPROF_PLAN_MINE_GUARDS_H
#define QPROF_PLAN_MINE_GUARDS_H

#include "plan/mine/body.h"
#include "plan/plan.h"
#include "plan/symbols/function_name.h"

/*
 * Fill plan->guards and add their sites, in order, and to `frames` the parts that run within them.
 * The rest of the plan is complete; `mined` is parallel to its bodies. Returns 0, -ENOMEM, -EFAULT
 * (an address that holds no code), or -E2BIG (a function has more guards than 8 bits can number).
 */
int guards_add(struct elf_image *img, const struct known_symbols *known,
	       struct code_decoder *decoder, struct plan *plan, const struct mined_body *mined,
	       struct frame_drafts *frames);

#endif /* QPROF_PLAN_MINE_GUARDS_H */
