/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * From a stack of code addresses to the queries and other intervals that its thread is in, by the
 * parts of the code in a plan (plan/mine/frames.h).
 *
 * A body's frame shows that one of its queries runs. Which one, the first of these shows:
 *
 *   a body of one query;
 *   a call in the body, if it is of one query's provider;
 *   the wrapper, which is the next frame outside the body but for those that grow the stack. A
 *   query that the dependency graph forces has none;
 *   the provider, which is the next frame inside. A provider that calls another function last has
 *   none.
 *
 * Functions that were folded into one leave several queries possible. A query for which more than
 * one is left is unknown, and so is every query whose body's frame is missing.
 */
#ifndef QPROF_PLAN_FRAMES_H
#define QPROF_PLAN_FRAMES_H

#include "base/cleanup.h"
#include "plan/plan.h"

struct plan_frames;

/* Copies what it needs of the plan. 0 or -ENOMEM. */
int plan_frames__new(const struct plan *plan, struct plan_frames **out);
void plan_frames__free(struct plan_frames *f);
DEFINE_CLEANUP(struct plan_frames, plan_frames__free)
#define _plan_frames_ __cleanup(plan_frames__free_p)

/* The frame and the guard of an address. All zeroes: none. Valid as long as the frames. */
struct plan_frame_code {
	uint32_t frame; /* 1 + index */
	uint32_t guard;
};

/*
 * `addr` is an ELF address of the library; `is_return`: it is a return address, so that the call
 * before it counts.
 */
struct plan_frame_code plan_frames__code(const struct plan_frames *f, uint64_t addr,
					 bool is_return);

/* Whether a probe may be at `addr`. */
bool plan_frames__is_site(const struct plan_frames *f, uint64_t addr);

/* An interval that a stack shows. */
struct plan_shown {
	uint32_t frame;	  /* the outermost one that runs in it */
	uint32_t request; /* of an execution: the frame of its wrapper, or PLAN_NONE */
	uint32_t query;	  /* the one that it is of; PLAN_NONE: unknown, or it is of none */
	uint32_t guard;	  /* PLAN_NONE: an execution */
	uint8_t kind;	  /* enum wire_kind */
};

/*
 * The intervals of a stack, the outermost first, of which at most `max` are put into `out`.
 * `codes` has its frames, the innermost first; frames in other files are all zeroes. Returns their
 * number. Timers, and guards whose ends are not known, are not shown.
 */
uint32_t plan_frames__shown(const struct plan_frames *f, const struct plan_frame_code *codes,
			    uint32_t n, struct plan_shown *out, uint32_t max);

/* How sure the frames of a query's executions show it. */
enum plan_shows {
	PLAN_SHOWS_ALWAYS,
	PLAN_SHOWS_REQUESTED, /* if it is requested, not if the dependency graph forces it */
	PLAN_SHOWS_NOT,
};

enum plan_shows plan_query__shows(const struct plan *plan, uint32_t query);

/* Stable machine name ("always", "requested", "no"). */
const char *plan_shows_name(enum plan_shows shows);

#endif /* QPROF_PLAN_FRAMES_H */
