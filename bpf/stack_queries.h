/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries: their starts, their ends and their callers.
 *
 * Requests, if callers are recorded. A wrapper is called, and calls the body of its query at once;
 * but only some wrappers come to execute anything, and with incremental compilation a query is also
 * executed (forced) without one. So a request waits for the start that it leads to, and is alive
 * only while its wrapper's frame is. sp proves requests dead as it does frames. A start takes the
 * youngest request alive if two things hold; else its caller is unknown.
 *
 * The request is for the same query. A wrapper called from the starting body would be dead by now,
 * so the youngest request alive is of the wrapper that called this body, or of one far above it.
 *
 * The body lies as far below the wrapper as it does when that wrapper calls it: the plan knows the
 * sizes of both frames. A query that is forced while its own body decides whether it is green has
 * that body above it. The distance is wrong in one case only: if the stack was grown between a
 * request and the same query forced within it.
 */
#ifndef QPROF_STACK_QUERIES_H
#define QPROF_STACK_QUERIES_H

#include "stack_alive.h"

/*
 * WIRE_ROLE_REQUEST: a wrapper was called from a frame with `sp`, to which it returns at `caller`.
 * `now` is used only if that is another stack than the last event's.
 */
STACK_APART int stack_request(struct thread_stack *t, const struct wire_site *site, wire_u64 sp,
			      wire_u32 caller, wire_u64 now)
{
	struct request *r;

	if (!t || !site)
		return 0;
	stack_enter_segment(t, sp, now);
	stack_prune_requests(t, sp, now);
	r = &t->requests[t->requests_end++ & (STACK_REQUESTS - 1)];
	r->sp = sp;
	r->caller = caller;
	r->query = site->query;
	r->lib = site->lib;
	if (t->n_requests < STACK_REQUESTS)
		t->n_requests++;
	else
		stack_count(WIRE_COUNT_NO_CALLER);
	return 0;
}

/* Whether a request led to the start in scratch.event. */
static inline int stack_leads_to(const struct thread_stack *t, const struct request *r)
{
	const struct frame *start = &t->scratch.event;

	if (r->query != start->query || r->lib != start->lib)
		return 0;
	/* On the stack before this one, if it is known which this one is. */
	if (!stack_in_segment(t, r->sp))
		return !t->seg_guessed;
	return start->state == FRAME_WRAPPED || stack_is_reach(start, r->sp - start->sp);
}

/* The caller of the request that led to the start in scratch.event; removes the request. */
static inline wire_u32 stack_take_caller(struct thread_stack *t, wire_u64 now)
{
	const struct request *r;

	stack_prune_requests(t, t->scratch.event.sp, now);
	if (!t->n_requests)
		return 0;
	r = stack_request_at(t, t->n_requests - 1);
	if (!stack_leads_to(t, r))
		return 0;
	stack_drop_requests(t, t->n_requests - 1);
	return r->caller;
}

/*
 * A query starts, as scratch.event says: with FRAME_STARTED its sp is its body's, with
 * FRAME_WRAPPED its wrapper's.
 */
STACK_APART int stack_push(struct thread_stack *t, wire_u64 now)
{
	if (!t)
		return 0;
	stack_prune_event(t, WIRE_SPAN_LEFT, now);
	if (stack_wants_callers())
		t->scratch.event.caller = stack_take_caller(t, now);
	stack_add(t, now);
	return 0;
}

static inline int stack_is_at(const struct frame *f, wire_u64 sp)
{
	return f->sp == sp && f->state == FRAME_STARTED;
}

/*
 * A frame that started in this body, or at a provider that it calls through another function. (A
 * frame that started in this body may be left over from an older body at the same place; the
 * younger of the two is found.)
 */
static long stack_find_at(wire_u32 i, void *p)
{
	struct thread_stack *t = stack_searched(p);
	struct search *c = &t->scratch.search;
	wire_u32 at = t->n - 1 - i;
	struct frame *f = stack_frame(t, at);

	if (!f)
		return 1;
	if (!stack_is_at(f, c->sp) && (f->state != FRAME_STARTED || f->group != c->group ||
				       f->sp > c->sp || c->sp - f->sp >= c->near))
		return 0;
	c->found = at + 1;
	return 1;
}

static inline int stack_is_wrapper_of(const struct thread_stack *t, const struct frame *f,
				      wire_u32 group, wire_u64 sp)
{
	if (f->state != FRAME_WRAPPED || f->group != group)
		return 0;
	if (f->sp > sp && f->sp - sp < STACK_NEAR)
		return 1;
	/* On the stack before this one, if it is known which this one is. */
	return !t->seg_guessed && !stack_in_segment(t, f->sp);
}

static long stack_find_wrapper(wire_u32 i, void *p)
{
	struct thread_stack *t = stack_searched(p);
	struct search *c = &t->scratch.search;
	wire_u32 at = t->n - 1 - i;
	struct frame *f = stack_frame(t, at);

	if (!f)
		return 1;
	if (!stack_is_wrapper_of(t, f, c->group, c->sp))
		return 0;
	c->found = at + 1;
	return 1;
}

STACK_APART int stack_search_started(struct thread_stack *t, const struct wire_site *end,
				     wire_u64 sp, wire_u64 now)
{
	struct search *c = &t->scratch.search;

	if (!t || !end)
		return 0;
	*c = (struct search){.sp = sp, .group = end->group};
	c->near = STACK_CALL_NEAR + end->between;
	stack_search(t, t->n, stack_find_at);
	if (c->found)
		return c->found;
	stack_enter_segment(t, sp, now);
	if (t->n_lost) {
		/* The frame of this end, younger than all on the stack, found no room. */
		t->n_lost--;
		return 0;
	}
	*c = (struct search){.sp = sp, .group = end->group};
	stack_search(t, t->n, stack_find_wrapper);
	return c->found;
}

static inline wire_u32 stack_find_started(struct thread_stack *t, const struct wire_site *end,
					  wire_u64 sp, wire_u64 now)
{
	struct frame *top = stack_top(t);

	if (!top)
		return 0;
	if (stack_is_at(top, sp))
		return t->n;
	if (!t->n_lost && top->sp - sp < STACK_NEAR && stack_is_wrapper_of(t, top, end->group, sp))
		return t->n;
	return stack_search_started(t, end, sp, now);
}

/* WIRE_ROLE_END. */
STACK_APART int stack_on_end(struct thread_stack *t, const struct wire_site *end, wire_u64 sp,
			     wire_u64 now, wire_u32 invocation)
{
	struct frame *f;
	wire_u32 found;

	if (!t || !end)
		return 0;
	found = stack_find_started(t, end, sp, now);
	if (!found) {
		stack_count(WIRE_DROP_END_WITHOUT_START);
		stack_prune(t, sp, WIRE_SPAN_LEFT, now);
		stack_prune_requests(t, sp, now);
		return 0;
	}
	stack_pop_to(t, found, WIRE_SPAN_LEFT, now);
	f = stack_top(t);
	if (f && !f->hidden)
		stack_emit(t, f, 0, now, invocation);
	stack_drop_top(t);
	stack_prune_requests(t, sp, now);
	return 0;
}

#endif /* QPROF_STACK_QUERIES_H */
