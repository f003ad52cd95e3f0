/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds which parts of the code run within an execution of a query, or another interval, so that a
 * stack of return addresses shows the intervals that its thread is in:
 *
 *	wrapper		asks for a query:  call body
 *	  body		MASK site .. call provider .. END site: an execution runs
 *	    provider	of one query; often it is left by a jump, and has no frame
 *
 * A body's mask and end sites are in plan/mine/body.h, a guard's in guards.h. The instructions on
 * the paths between them, which the search for the ends has walked, are the parts that run within.
 * A wrapper also checks whether it has to call its body, and that may force other queries: only the
 * part that cannot reach the call any more, and the call itself, stand for the request.
 */
#ifndef QPROF_PLAN_MINE_FRAMES_H
#define QPROF_PLAN_MINE_FRAMES_H

#include "plan/code/walk.h"
#include "plan/plan.h"

/* A part of the code while the plan is made. All zeroes is an empty list. */
struct frame_draft {
	uint64_t addr;
	uint64_t entry; /* of its function; PLAN_FRAME_CALLS: of the one called */
	uint32_t size;
	uint32_t guard; /* of PLAN_FRAME_GUARD; PLAN_NONE: of none */
	uint8_t kind;	/* enum plan_frame_kind */
};

struct frame_drafts {
	struct frame_draft *items;
	uint32_t n, capacity;
};

void frame_drafts__clear(struct frame_drafts *d);

/* These add parts. All return 0 or -ENOMEM. `d` may be NULL: nothing is added. */

/* All of a function: a provider, or what surrounds the executions in a body. */
int frame_drafts__function(struct frame_drafts *d, enum plan_frame_kind kind, uint64_t entry,
			   const struct code_region *regions, size_t n);

/* The instructions of a body that the last walk__ends() reached, and the calls among them. */
int frame_drafts__runs(struct frame_drafts *d, const struct walk *w, uint64_t entry);

/* The same of a guard, which the caller sets. */
int frame_drafts__guard(struct frame_drafts *d, const struct walk *w);

/* The part of a wrapper in which its body, or what calls that, may run. */
int frame_drafts__wrapper(struct frame_drafts *d, const struct code *code, uint64_t entry,
			  uint64_t body);

/*
 * Fill plan->frames and plan->guard_frames. Queries, bodies and guards are complete. Parts that
 * belong to none of them are left out. 0 or -ENOMEM.
 */
int frames_place(struct plan *plan, const struct frame_drafts *d);

/*
 * True if a run of the function always has a frame while it calls another one: it leaves by no
 * jump.
 */
bool frames_stays(const struct code *code);

#endif /* QPROF_PLAN_MINE_FRAMES_H */
