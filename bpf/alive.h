/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an event on a thread's stack proves dead, of the frames and of the requests.
 *
 * Frames are left in three ways. By a normal end. By unwinding: whoever catches the panic calls
 * __rust_panic_cleanup, and every frame below that call's sp on the same stack is dead. (Growing
 * the stack catches and resumes on each stack it leaves, so one stack at a time is enough.) Or
 * unseen, if a probe was not there: a later event from above such a frame proves it dead.
 * "Above" only means something within one stack, and rustc switches stacks (`stacker`), so sp is
 * compared within one mapping only; mappings of stacks are kept apart by guard pages. Stacks nest:
 * a thread that is back on one has left every stack it went to from there. They are unmapped
 * then, so a frame on a stack that is no longer mapped is dead too.
 */
#ifndef QPROF_ALIVE_H
#define QPROF_ALIVE_H

#include "stack.h"

struct stack_find_ctx {
	struct thread_stack *t;
	wire_u64 sp;
	wire_u32 group;
	wire_u32 number; /* of a guard; 0: what else is at sp is dead */
	wire_u32 lib;	 /* of a guard */
	wire_u32 found;	 /* index + 1; 0 if none */
	wire_u32 keep;	 /* frames that are not known to be dead */
	wire_u32 moved;	 /* as found: the youngest timer at sp, */
	wire_u32 given;	 /* and the youngest below */
	wire_u32 alive;	 /* the last one that was looked at on this stack is not */
};

/* Walks down the frames whose stacks are gone. */
static long stack_find_freed(wire_u32 i, void *p)
{
	struct stack_find_ctx *c = p;
	wire_u32 at = c->t->n - 1 - i;
	struct frame *f = stack_frame(c->t, at);

	if (!f || stack_in_segment(c->t, f->sp) ||
	    stack_find_segment(c->t, f->sp) != STACK_NOT_MAPPED)
		return 1;
	c->keep = at;
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
	struct stack_find_ctx *c = p;
	wire_u32 at = c->t->n_requests - 1 - i;
	wire_u64 sp = stack_request_at(c->t, at)->sp;

	if (stack_in_segment(c->t, sp) || stack_find_segment(c->t, sp) != STACK_NOT_MAPPED)
		return 1;
	c->keep = at;
	return 0;
}

STACK_APART int stack_drop_freed_requests(struct thread_stack *t)
{
	struct stack_find_ctx c = {.t = t};

	if (!t)
		return 0;
	c.keep = t->n_requests;
	stack_loop(t->n_requests, stack_find_freed_request, &c);
	stack_drop_requests(t, c.keep);
	return 0;
}

STACK_APART int stack_change_segment(struct thread_stack *t, wire_u64 sp, wire_u64 now)
{
	struct stack_find_ctx c = {.t = t};
	wire_u64 lo, hi;

	if (!t)
		return 0;
	c.keep = t->n;
	t->seg_guessed = stack_find_segment(t, sp) != 0;
	if (t->seg_guessed) {
		/* Near is surely the same stack; what is farther is looked up again. */
		stack_count(WIRE_COUNT_STACK_UNKNOWN);
		t->seg_lo = sp - STACK_NEAR / 2;
		t->seg_hi = sp + STACK_NEAR / 2;
	}
	lo = t->seg_lo;
	hi = t->seg_hi;
	stack_loop(t->n, stack_find_freed, &c);
	if (stack_wants_callers()) {
		t->seg_lo = lo;
		t->seg_hi = hi;
		stack_drop_freed_requests(t);
	}
	t->seg_lo = lo;
	t->seg_hi = hi;
	stack_pop_to(t, c.keep, WIRE_SPAN_LEFT, now);
	return 0;
}

static inline void stack_enter_segment(struct thread_stack *t, wire_u64 sp, wire_u64 now)
{
	if (!stack_in_segment(t, sp))
		stack_change_segment(t, sp, now);
}

/* Whether a frame that is not above the event's sp may be alive beside the guard of that event. */
static inline int stack_is_beside(const struct stack_find_ctx *c, const struct frame *f)
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
 * Walks down to the youngest frame on this stack that lies above sp. It is alive, and so may be
 * some at sp; everything younger is dead, on this stack or on one that was left.
 */
static long stack_find_dead(wire_u32 i, void *p)
{
	struct stack_find_ctx *c = p;
	wire_u32 at = c->t->n - 1 - i;
	struct frame *f = stack_frame(c->t, at);

	if (!f)
		return 1;
	if (!stack_in_segment(c->t, f->sp))
		return 0;
	if (f->sp <= c->sp && !stack_is_beside(c, f)) {
		c->keep = at;
		c->alive = 0;
		return 0;
	}
	if (!c->alive)
		c->keep = at + 1;
	c->alive = 1;
	/* What is older than the query of the guard's body was judged when that started. */
	return f->sp > c->sp || f->state == FRAME_STARTED;
}

STACK_APART int stack_drop_dead(struct thread_stack *t, const struct frame *event, wire_u32 flags,
				wire_u64 now)
{
	struct stack_find_ctx c = {.t = t};

	if (!t || !event)
		return 0;
	c.sp = event->sp;
	c.group = event->group;
	c.number = event->number;
	c.lib = event->lib;
	c.keep = t->n;
	stack_loop(t->n, stack_find_dead, &c);
	stack_pop_to(t, c.keep, flags, now);
	return 0;
}

/*
 * Drop the frames that an event proves dead: one at event->sp, of a guard if event->number is not
 * 0, whose scope and library count then.
 */
static inline void stack_prune_for(struct thread_stack *t, const struct frame *event, wire_u8 flags,
				   wire_u64 now)
{
	struct frame *top;

	stack_enter_segment(t, event->sp, now);
	top = stack_top(t);
	if (top && (top->sp <= event->sp || !stack_in_segment(t, top->sp)))
		stack_drop_dead(t, event, flags, now);
}

static inline void stack_prune(struct thread_stack *t, wire_u64 sp, wire_u8 flags, wire_u64 now)
{
	struct frame event = {.sp = sp};

	stack_prune_for(t, &event, flags, now);
}

/* As stack_find_dead(), of requests. */
static long stack_find_dead_request(wire_u32 i, void *p)
{
	struct stack_find_ctx *c = p;
	wire_u32 at = c->t->n_requests - 1 - i;
	wire_u64 sp = stack_request_at(c->t, at)->sp;

	if (!stack_in_segment(c->t, sp))
		return 0;
	c->keep = sp > c->sp ? at + 1 : at;
	return sp > c->sp;
}

STACK_APART int stack_drop_dead_requests(struct thread_stack *t, wire_u64 sp)
{
	struct stack_find_ctx c = {.t = t, .sp = sp};

	if (!t)
		return 0;
	c.keep = t->n_requests;
	stack_loop(t->n_requests, stack_find_dead_request, &c);
	stack_drop_requests(t, c.keep);
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

#endif /* QPROF_ALIVE_H */
