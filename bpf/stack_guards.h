/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The intervals that are no queries: guards and timers, by the rule of stack.h.
 *
 * One function may have several of them at once: each has a number within its function, its scope,
 * and belongs to an end that saw the same sp, scope and number. A body's scope is its group; its
 * guards lie within its query, or end before that starts. A timer may lie in the frame of any
 * function but a body. Its place there is its number, and all timers are of one scope. (A function
 * may make a timer and return it, which moves it up. Its end then takes the youngest timer at or
 * below its sp: wrong only if that timer was left unseen.) So of the frames at its very sp, a guard
 * that starts keeps alive the query of its body, guards of the same scope and another number, and
 * timers; a timer keeps alive all but queries and timers of its number. If such a frame was left
 * unseen in an older frame of that function, the next one of its kind shows that. All younger
 * frames are then sent as left too, and their ends find nothing.
 */
#ifndef QPROF_STACK_GUARDS_H
#define QPROF_STACK_GUARDS_H

#include "stack_alive.h"

static long stack_find_query(wire_u32 i, void *p)
{
	struct thread_stack *t = stack_searched(p);
	struct search *c = &t->scratch.search;
	wire_u32 at = t->n - 1 - i;
	struct frame *f = stack_frame(t, at);

	if (!f)
		return 1;
	if (f->state == FRAME_GUARD)
		return 0;
	c->found = f->lib == c->lib ? at + 1 : 0;
	return 1;
}

/* The query that a new top frame runs in; WIRE_NO_QUERY if none is seen. */
static inline wire_u32 stack_query(struct thread_stack *t, wire_u32 lib)
{
	struct search *c = &t->scratch.search;
	struct frame *f;

	*c = (struct search){.lib = lib};
	stack_search(t, t->n, stack_find_query);
	f = c->found ? stack_frame(t, c->found - 1) : 0;
	return f ? f->query : WIRE_NO_QUERY;
}

/*
 * WIRE_ROLE_GUARD, _GUARD_QUERY, _TIMER: the current event starts an interval that is no query.
 * With `of_query` its label is that of the query that it runs in; else it has its own.
 */
STACK_APART int stack_on_guard(struct thread_stack *t, int of_query, wire_u64 now)
{
	if (!t)
		return 0;
	stack_prune_event(t, WIRE_SPAN_LEFT, now);
	if (of_query)
		t->scratch.event.query = stack_query(t, t->scratch.event.lib);
	stack_add(t, now);
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
	struct thread_stack *t = stack_searched(p);
	struct search *c = &t->scratch.search;
	wire_u32 at = t->n - 1 - i;
	struct frame *f = stack_frame(t, at);

	if (!f)
		return 1;
	if (stack_is_guard(f, c->sp, c->group, c->number, c->lib)) {
		c->found = at + 1;
		return 1;
	}
	/* A timer may be moved within the frame, or to it from a frame that has returned. */
	if (c->group != WIRE_SCOPE_TIMER || f->group != WIRE_SCOPE_TIMER || f->lib != c->lib ||
	    f->sp > c->sp || !stack_in_segment(t, f->sp))
		return 0;
	if (f->sp == c->sp && !c->moved)
		c->moved = at + 1;
	else if (!c->given)
		c->given = at + 1;
	return 0;
}

STACK_APART int stack_search_guard(struct thread_stack *t, wire_u64 now)
{
	const struct search *c = &t->scratch.search;

	if (!t)
		return 0;
	stack_enter_segment(t, t->scratch.event.sp, now);
	stack_search_event(t);
	stack_search(t, t->n, stack_find_guard);
	return c->found ? c->found : c->moved ? c->moved : c->given;
}

/*
 * WIRE_ROLE_GUARD_END, _TIMER_END: the current event ends an interval. With `quiet`, an end whose
 * start was not seen is not counted.
 */
STACK_APART int stack_on_guard_end(struct thread_stack *t, int quiet, wire_u64 now)
{
	struct frame *f = t ? stack_top(t) : 0;
	const struct frame *end;
	wire_u32 found;

	if (!t)
		return 0;
	end = &t->scratch.event;
	if (f && stack_is_guard(f, end->sp, end->group, end->number, end->lib))
		found = t->n;
	else
		found = stack_search_guard(t, now);
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

#endif /* QPROF_STACK_GUARDS_H */
