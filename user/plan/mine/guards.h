/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The part of a plan for intervals that are not executions of a query: the events that rustc's
 * self-profiler names GenericActivity, QueryBlocked, IncrementalLoadResult and
 * IncrementalResultHashing, and the timers that -Ztime-passes prints.
 */
#ifndef QPROF_PLAN_MINE_GUARDS_H
#define QPROF_PLAN_MINE_GUARDS_H

#include "plan/code/flow.h"
#include "plan/mine/body.h"
#include "plan/mine/frames.h"
#include "plan/mine/owners.h"
#include "plan/plan.h"
#include "plan/symbols/function_name.h"

/* ---- One guard ------------------------------------------------------------------------------- */

/*
 * Mining: the guards that rustc's self-profiler starts for what is no query. In any function, not
 * only in bodies (plan/mine/body.h), stands
 *
 *	lea   text(%rip), %rax
 *	mov   %rax, X(%rsp)		the label, put where the cold side's closure finds it
 *	movq  $len, X+8(%rsp)
 *	testb $bit, mask(%prof)		the event filter, zero in a normal run
 *	jne   cold			the GUARD site
 *	movq  $0, D(%rsp)		"no guard"; else the cold side calls cold_call(&D, .., &X)
 *	...
 *	cmpq  $0, D(%rsp)		the END site is the branch after a test of D, as in a body,
 *	jne   cold
 *	...
 *	lea   D(%rsp), %rdi		or the call that drops D, or both on different ways
 *	call  drop_in_place
 *
 * A label may also be computed: then it is in X by the time of the branch, for the probe to read.
 */

/* Branches that may lead to one call of a cold side. */
#define MINED_BRANCHES_MAX 4

#define MINED_NO_SLOT (-1)

struct mined_guard {
	uint64_t addr;	 /* of the branch; 0 if it was not recognised: only `problem` is set then */
	size_t index;	 /* its instruction */
	uint64_t cold;	 /* where the cold side begins */
	uint32_t filter; /* the bits of the event filter that are tested */

	/* The label is `label_len` bytes at `label`; or, if that is 0, its address and length are
	 * `label_slot` bytes above sp; or neither is known: MINED_NO_SLOT. */
	uint64_t label;
	uint64_t label_len;
	int64_t label_slot;

	size_t ends[WALK_MAX_ENDS]; /* instructions: a branch or a call each */
	size_t n_ends;
	const char *problem; /* static text: why some normal path meets no end, or NULL */
	uint32_t first_frame, end_frame; /* the parts that run within it, among the drafts */
};

/* The function that is being mined, and the known parts of the profiler. */
struct mine_guard {
	struct walk *walk;
	const struct fixpoint *flow;
	const struct profiler *profiler;
	struct frame_drafts *frames; /* the parts that run within guards are added */
};

/*
 * The guards that the call of a cold side, instruction `call`, starts: one for each branch to it.
 * Sets *n, at least 1. Returns 0 or -ENOMEM.
 */
int mine_guard(struct mine_guard *m, size_t call, struct mined_guard out[MINED_BRANCHES_MAX],
	       size_t *n);

/*
 * Fill plan->guards and add their sites, in order, and to `frames` the parts that run within them.
 * The rest of the plan is complete; `mined` is parallel to its bodies. Returns 0, -ENOMEM, -EFAULT
 * (an address that holds no code), or -E2BIG (a function has more guards than 8 bits can number).
 */
int guards_add(struct elf_image *img, const struct known_symbols *known,
	       struct code_decoder *decoder, struct plan *plan, const struct mined_body *mined,
	       struct frame_drafts *frames);

#endif /* QPROF_PLAN_MINE_GUARDS_H */
