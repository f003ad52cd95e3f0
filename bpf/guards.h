/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The intervals that are no query's: guards and timers, by the rule of stack.h.
 *
 * One function may have several of them at once: each has a number within its function, its scope,
 * and belongs to an end that saw the same sp, scope and number. A body's scope is its group; its
 * guards lie within its query, or end before that starts. A timer may lie in the frame of any
 * function but a body. Its place there is its number, and all timers are of one scope. (One that
 * was moved since is the youngest there or below, where a function made it and gave it back: wrong
 * only if that one was left unseen.) So a guard that starts leaves alive, of what is at its very
 * sp, the query of its body, guards of the same scope and another number, and timers; a timer
 * leaves all but queries and its like. If one of those was left unseen in an older frame of that
 * function, the next of its kind shows it, and takes with it what is younger: that is sent as left,
 * too, and its end finds nothing.
 */
#ifndef QPROF_GUARDS_H
#define QPROF_GUARDS_H

#include "alive.h"

static long stack_find_query(wire_u32 i, void *p)
{
	struct stack_find_ctx *c = p;
	wire_u32 at = c->t->n - 1 - i;
	struct frame *f = stack_frame(c->t, at);

	if (!f)
		return 1;
	if (f->state == FRAME_GUARD)
		return 0;
	c->found = f->lib == c->lib ? at + 1 : 0;
	return 1;
}

/* The query that the top frame, or what is put on it, runs in; WIRE_NO_QUERY if none is seen. */
static inline wire_u32 stack_query(struct thread_stack *t, wire_u32 lib)
{
	struct stack_find_ctx c = {.t = t, .lib = lib};
	struct frame *f;

	stack_loop(t->n, stack_find_query, &c);
	f = c.found ? stack_frame(t, c.found - 1) : 0;
	return f ? f->query : WIRE_NO_QUERY;
}

/*
 * WIRE_ROLE_GUARD, _GUARD_QUERY, _TIMER: an interval starts that is no query's. With `of_query` it
 * has the label of the query that it runs in; else `new` has its own.
 */
STACK_APART int stack_on_guard(struct thread_stack *t, struct frame *new, int of_query,
			       wire_u64 now)
{
	if (!t || !new)
		return 0;
	stack_prune_for(t, new, WIRE_SPAN_LEFT, now);
	if (of_query)
		new->query = stack_query(t, new->lib);
	stack_add(t, new, now);
	return 0;
}

static inline int stack_is_guard(const struct frame *f, wire_u64 sp, wire_u32 scope,
				 wire_u32 number, wire_u32 lib)
{
	return f->state == FRAME_GUARD && f->sp == sp && f->group == scope && f->number == number &&
	       f->lib == lib;
}

static long stack_find_guard(wire_u32 i, void *p)
{
	struct stack_find_ctx *c = p;
	wire_u32 at = c->t->n - 1 - i;
	struct frame *f = stack_frame(c->t, at);

	if (!f)
		return 1;
	if (stack_is_guard(f, c->sp, c->group, c->number, c->lib)) {
		c->found = at + 1;
		return 1;
	}
	/* A timer may have been moved, within the frame or to it from one that has returned. */
	if (c->group != WIRE_SCOPE_TIMER || f->group != WIRE_SCOPE_TIMER || f->lib != c->lib ||
	    f->sp > c->sp || !stack_in_segment(c->t, f->sp))
		return 0;
	if (f->sp == c->sp && !c->moved)
		c->moved = at + 1;
	else if (!c->given)
		c->given = at + 1;
	return 0;
}

STACK_APART int stack_search_guard(struct thread_stack *t, const struct frame *end, wire_u64 now)
{
	struct stack_find_ctx c = {.t = t};

	if (!t || !end)
		return 0;
	c.sp = end->sp;
	c.group = end->group;
	c.number = end->number;
	c.lib = end->lib;
	stack_enter_segment(t, c.sp, now);
	stack_loop(t->n, stack_find_guard, &c);
	return c.found ? c.found : c.moved ? c.moved : c.given;
}

/*
 * WIRE_ROLE_GUARD_END, _TIMER_END. With `quiet` it is nothing to tell of if no start was seen.
 */
STACK_APART int stack_on_guard_end(struct thread_stack *t, const struct frame *end, int quiet,
				   wire_u64 now)
{
	struct frame *f = t ? stack_top(t) : 0;
	wire_u32 found;

	if (!t || !end)
		return 0;
	if (f && stack_is_guard(f, end->sp, end->group, end->number, end->lib))
		found = t->n;
	else
		found = stack_search_guard(t, end, now);
	if (!found) {
		if (quiet)
			return 0;
		if (t->n_lost)
			t->n_lost--;
		stack_count(WIRE_DROP_END_WITHOUT_START);
		return 0;
	}
	stack_pop_to(t, found, WIRE_SPAN_LEFT, now);
	f = stack_top(t);
	if (f && !f->hidden)
		stack_emit(t, f, 0, now, WIRE_NO_INVOCATION);
	stack_drop_top(t);
	return 0;
}

#endif /* QPROF_GUARDS_H */
