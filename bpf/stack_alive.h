/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the frames and the requests that an event on a thread's stack proves dead.
 *
 * Frames are left in three ways. By a normal end. By unwinding: the function that catches the panic
 * calls __rust_panic_cleanup, and every frame below that call's sp on the same stack is dead.
 * (Growing the stack catches and resumes on each stack it leaves, so one stack at a time is
 * enough.) Or unseen, if a probe was not there: a later event from above such a frame proves it
 * dead. "Above" has a meaning only within one stack, and rustc switches stacks (`stacker`), so sp
 * is compared within one mapping only; mappings of stacks are kept apart by guard pages. Stacks
 * nest: a thread that is back on one has left every stack it went to from there. They are unmapped
 * then, so a frame on a stack that is no longer mapped is dead too.
 */
#ifndef QPROF_STACK_ALIVE_H
#define QPROF_STACK_ALIVE_H

#include "stack.h"

/* Walks down the frames whose stacks are gone. */
static long stack_find_freed(wire_u32 i, void *p)
{
	struct thread_stack *t = stack_searched(p);
	wire_u32 at = t->n - 1 - i;
	struct frame *f = stack_frame(t, at);

	if (!f || stack_in_segment(t, f->sp) || stack_find_segment(t, f->sp) != STACK_NOT_MAPPED)
		return 1;
	t->scratch.search.keep = at;
	return 0;
}

/* Request `i`, 0 the oldest. */
static inline struct request *stack_request_at(struct thread_stack *t, wire_u32 i)
{
	return &t->requests[(t->requests_end - t->n_requests + i) & (STACK_REQUESTS - 1)];
}

/* Forget the youngest but `n`. */
static inline void stack_drop_requests(struct thread_stack *t, wire_u32 n)
{
	t->requests_end -= t->n_requests - n;
	t->n_requests = n;
}

/* Walks down the requests whose stacks are gone. */
static long stack_find_freed_request(wire_u32 i, void *p)
{
	struct thread_stack *t = stack_searched(p);
	wire_u32 at = t->n_requests - 1 - i;
	wire_u64 sp = stack_request_at(t, at)->sp;

	if (stack_in_segment(t, sp) || stack_find_segment(t, sp) != STACK_NOT_MAPPED)
		return 1;
	t->scratch.search.keep = at;
	return 0;
}

STACK_APART int stack_drop_freed_requests(struct thread_stack *t)
{
	if (!t)
		return 0;
	t->scratch.search.keep = t->n_requests;
	stack_search(t, t->n_requests, stack_find_freed_request);
	stack_drop_requests(t, t->scratch.search.keep);
	return 0;
}

STACK_APART int stack_change_segment(struct thread_stack *t, wire_u64 sp, wire_u64 now)
{
	wire_u64 lo, hi;
	wire_u32 keep;

	if (!t)
		return 0;
	t->scratch.search.keep = t->n;
	t->seg_guessed = stack_find_segment(t, sp) != 0;
	if (t->seg_guessed) {
		/* An address this near is surely on the same stack; one farther away is looked up
		 * again. */
		stack_count(WIRE_COUNT_STACK_UNKNOWN);
		t->seg_lo = sp - STACK_NEAR / 2;
		t->seg_hi = sp + STACK_NEAR / 2;
	}
	lo = t->seg_lo;
	hi = t->seg_hi;
	stack_search(t, t->n, stack_find_freed);
	keep = t->scratch.search.keep;
	if (stack_wants_callers()) {
		t->seg_lo = lo;
		t->seg_hi = hi;
		stack_drop_freed_requests(t);
	}
	t->seg_lo = lo;
	t->seg_hi = hi;
	stack_pop_to(t, keep, WIRE_SPAN_LEFT, now);
	return 0;
}

static inline void stack_enter_segment(struct thread_stack *t, wire_u64 sp, wire_u64 now)
{
	if (!stack_in_segment(t, sp))
		stack_change_segment(t, sp, now);
}

/* Whether a frame that is not above the event's sp may be alive beside the guard of that event. */
static inline int stack_is_beside(const struct search *c, const struct frame *f)
{
	if (!c->number || f->state == FRAME_WRAPPED)
		return 0;
	/* The query of the guard's body, or its provider, called through another function. */
	if (f->state == FRAME_STARTED)
		return f->group == c->group && f->lib == c->lib && c->sp - f->sp < STACK_CALL_NEAR;
	if (f->sp != c->sp)
		return 0;
	if (f->group == c->group && f->lib == c->lib)
		return f->number != c->number;
	return f->group == WIRE_SCOPE_TIMER || c->group == WIRE_SCOPE_TIMER;
}

/*
 * Walks down to the youngest frame on this stack that lies above sp. That frame is alive, and
 * frames at sp may be; all younger frames are dead, on this stack or on one that was left.
 */
static long stack_find_dead(wire_u32 i, void *p)
{
	struct thread_stack *t = stack_searched(p);
	struct search *c = &t->scratch.search;
	wire_u32 at = t->n - 1 - i;
	struct frame *f = stack_frame(t, at);

	if (!f)
		return 1;
	if (!stack_in_segment(t, f->sp))
		return 0;
	if (f->sp <= c->sp && !stack_is_beside(c, f)) {
		c->keep = at;
		c->alive = 0;
		return 0;
	}
	if (!c->alive)
		c->keep = at + 1;
	c->alive = 1;
	/* Frames older than the query of the guard's body were judged when that query started. */
	return f->sp > c->sp || f->state == FRAME_STARTED;
}

/* Begin a search by the current event. */
static inline void stack_search_event(struct thread_stack *t)
{
	const struct frame *event = &t->scratch.event;

	t->scratch.search = (struct search){
		.sp = event->sp,
		.group = event->group,
		.number = event->number,
		.lib = event->lib,
		.keep = t->n,
	};
}

STACK_APART int stack_drop_dead(struct thread_stack *t, wire_u32 flags, wire_u64 now)
{
	if (!t)
		return 0;
	stack_search_event(t);
	stack_search(t, t->n, stack_find_dead);
	stack_pop_to(t, t->scratch.search.keep, flags, now);
	return 0;
}

/*
 * Drop the frames that the current event (scratch.event) proves dead. Frames at its sp are dead
 * too, unless the event is a guard's (its number is not 0): then scope and library decide.
 */
static inline void stack_prune_event(struct thread_stack *t, wire_u8 flags, wire_u64 now)
{
	wire_u64 sp = t->scratch.event.sp;
	struct frame *top;

	stack_enter_segment(t, sp, now);
	top = stack_top(t);
	if (top && (top->sp <= sp || !stack_in_segment(t, top->sp)))
		stack_drop_dead(t, flags, now);
}

static inline void stack_prune(struct thread_stack *t, wire_u64 sp, wire_u8 flags, wire_u64 now)
{
	t->scratch.event = (struct frame){.sp = sp};
	stack_prune_event(t, flags, now);
}

/* As stack_find_dead(), of requests. */
static long stack_find_dead_request(wire_u32 i, void *p)
{
	struct thread_stack *t = stack_searched(p);
	struct search *c = &t->scratch.search;
	wire_u32 at = t->n_requests - 1 - i;
	wire_u64 sp = stack_request_at(t, at)->sp;

	if (!stack_in_segment(t, sp))
		return 0;
	c->keep = sp > c->sp ? at + 1 : at;
	return sp > c->sp;
}

STACK_APART int stack_drop_dead_requests(struct thread_stack *t, wire_u64 sp)
{
	if (!t)
		return 0;
	t->scratch.search = (struct search){.sp = sp, .keep = t->n_requests};
	stack_search(t, t->n_requests, stack_find_dead_request);
	stack_drop_requests(t, t->scratch.search.keep);
	return 0;
}

/* Drop the requests that an event at `sp` proves dead. */
static inline void stack_prune_requests(struct thread_stack *t, wire_u64 sp, wire_u64 now)
{
	if (!stack_wants_callers() || !t->n_requests)
		return;
	stack_enter_segment(t, sp, now);
	stack_drop_dead_requests(t, sp);
}

/* WIRE_ROLE_CAUGHT: a panic was caught in a frame above `sp`. */
static inline void stack_on_caught(struct thread_stack *t, wire_u64 sp, wire_u64 now)
{
	stack_prune(t, sp, WIRE_SPAN_UNWOUND, now);
	stack_prune_requests(t, sp, now);
}

#endif /* QPROF_STACK_ALIVE_H */
