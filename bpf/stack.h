/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The per-thread stack of queries and other intervals: which of them a probe hit belongs to.
 *
 * Pure logic, compiled twice: into the BPF programs, and natively into its unit tests. The
 * includer provides the stack_* functions declared first.
 *
 * Why it never mispairs. Every frame of ours stands for one frame of try_execute_query (a body) on
 * the thread's own stack. The compiler keeps sp fixed within a body, so the body's sp identifies
 * that frame for as long as it lives: a start and an end belong together exactly if they saw the
 * same sp, however many frames were left in between without an end.
 *
 * The same holds of the other intervals (guards), but one function may have several of them at
 * once: each has a number within its function, its scope, and belongs to an end that saw the same
 * sp, scope and number. A body's scope is its group; its guards lie within its query, or end before
 * that starts. A timer may lie in the frame of any function but a body. Its place there is its
 * number, and all timers are of one scope. (One that was moved since is the youngest there or
 * below, where a function made it and gave it back: wrong only if that one was left unseen.) So a
 * guard that starts leaves alive, of what is at its very sp, the query of its body, guards of the
 * same scope and another number, and timers; a timer leaves all but queries and its like. If one of
 * those was left unseen in an older frame of that function, the next of its kind shows it, and
 * takes with it what is younger: that is sent as left, too, and its end finds nothing.
 *
 * Frames are left in three ways. By a normal end. By unwinding: whoever catches the panic calls
 * __rust_panic_cleanup, and every frame below that call's sp on the same stack is dead. (Growing
 * the stack catches and resumes on each stack it leaves, so one stack at a time is enough.) Or
 * unseen, if a probe was not there: a later event from above such a frame proves it dead.
 * "Above" only means something within one stack, and rustc switches stacks (`stacker`), so sp is
 * compared within one mapping only; mappings of stacks are kept apart by guard pages. Stacks nest:
 * a thread that is back on one has left every stack it went to from there. They are unmapped
 * then, so a frame on a stack that is no longer mapped is dead too.
 *
 * Requests, if callers are wanted. A wrapper is called, and calls the body of its query at once;
 * but only some wrappers come to execute anything, and with incremental compilation a query is also
 * executed (forced) without one. So a request waits for the start that it leads to, and is alive
 * only while its wrapper's frame is. What sp proves of frames it proves of requests as well, and a
 * start takes the youngest that is alive if two things hold; else its caller is not known.
 *
 * It is for the same query. A wrapper that was called from the body that starts would be dead by
 * now, so the youngest alive is the one that called this body, or one that this body is far below.
 *
 * And the body lies just so far below as it does if that wrapper calls it: the plan knows both
 * frames. A query that is forced while its own body decides whether it is green has that body above
 * it. Only where distance means nothing can this be wrong: if the stack was grown between a request
 * and the same query forced within it.
 */
#ifndef QPROF_STACK_H
#define QPROF_STACK_H

#include "thread_stack.h"

/* Two stacks are never this close: a red zone of 100 KiB and a guard page lie between them. */
#define STACK_NEAR 65536ULL
/*
 * More than lies between a body and a provider that it calls through another function, and less
 * than a body's own frame, so that no body called from there is this near.
 */
#define STACK_CALL_NEAR 256ULL
/* stack_find_segment(): nothing is mapped there. The kernel's -ENOENT. */
#define STACK_NOT_MAPPED (-2)

/*
 * What is long, or seldom needed: a function that the verifier looks at by itself, once for each
 * program, and not anew on every way that leads there. It knows nothing of the arguments then: that
 * a pointer is not NULL must be asked, and what it points to holds no pointer that can be used. The
 * frames of those that call each other take 512 bytes together, at most.
 */
#ifdef __bpf__
#define STACK_APART __attribute__((noinline))
#else
#define STACK_APART static inline
#endif

/* What the includer provides. */
static struct frame *stack_overflow_frame(struct thread_stack *t, wire_u32 i);
static struct frame *stack_overflow_push(struct thread_stack *t, wire_u32 i);
static void stack_overflow_pop(struct thread_stack *t, wire_u32 i);
/*
 * Set seg_lo and seg_hi to the mapping that holds `sp`; else nonzero and both are left alone:
 * STACK_NOT_MAPPED, or another error if it cannot be told.
 */
static long stack_find_segment(struct thread_stack *t, wire_u64 sp);
static void stack_emit(struct thread_stack *t, const struct frame *f, wire_u8 flags, wire_u64 now,
		       wire_u32 invocation);
static void stack_count(enum wire_counter counter);
/* True if callers are wanted. */
static int stack_wants_callers(void);
/*
 * True if a start this many bytes below the sp of who calls the query's wrapper is one in the body
 * that the wrapper calls, or up to STACK_CALL_NEAR bytes further down, at a provider that the body
 * calls through another function.
 */
static int stack_is_reach(wire_u64 cookie, wire_u64 distance);
/* Call fn(i, ctx) for i = 0.. below n until it returns nonzero. */
static void stack_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx);

static inline struct frame *stack_frame(struct thread_stack *t, wire_u32 i)
{
	if (i < STACK_INLINE_FRAMES)
		return &t->frames[i & (STACK_INLINE_FRAMES - 1)];
	return stack_overflow_frame(t, i);
}

static inline struct frame *stack_top(struct thread_stack *t)
{
	return t->n ? stack_frame(t, t->n - 1) : 0;
}

static inline int stack_in_segment(const struct thread_stack *t, wire_u64 sp)
{
	return sp >= t->seg_lo && sp < t->seg_hi;
}

/* Send off a frame that left the stack without an end of its own. */
static inline void stack_leave(struct thread_stack *t, const struct frame *f, wire_u8 flags,
			       wire_u64 now)
{
	if (f->hidden)
		return;
	if (f->state == FRAME_WRAPPED && flags == WIRE_SPAN_LEFT) {
		/* A wrapper that returned without reaching an end waited, or met a cycle. */
		stack_count(WIRE_COUNT_NOT_EXECUTED);
		return;
	}
	if (flags & WIRE_SPAN_UNWOUND)
		stack_count(WIRE_COUNT_UNWOUND);
	else if (flags & WIRE_SPAN_LEFT)
		stack_count(WIRE_COUNT_LEFT);
	else
		stack_count(WIRE_COUNT_OPEN);
	stack_emit(t, f, flags, now, WIRE_NO_INVOCATION);
}

struct stack_pop_ctx {
	struct thread_stack *t;
	wire_u64 now;
	wire_u8 flags;
};

/* Forget the top frame. */
static inline void stack_drop_top(struct thread_stack *t)
{
	if (!t->n)
		return;
	t->n--;
	t->n_lost = 0;
	if (t->n >= STACK_INLINE_FRAMES)
		stack_overflow_pop(t, t->n);
}

static long stack_pop_one(wire_u32 i, void *p)
{
	struct stack_pop_ctx *c = p;
	struct frame *f = stack_top(c->t);

	(void)i;
	if (f)
		stack_leave(c->t, f, c->flags, c->now);
	stack_drop_top(c->t);
	return 0;
}

STACK_APART int stack_pop_frames(struct thread_stack *t, wire_u32 n, wire_u32 flags, wire_u64 now)
{
	struct stack_pop_ctx c = {.t = t, .now = now, .flags = flags};

	if (t && t->n > n)
		stack_loop(t->n - n, stack_pop_one, &c);
	return 0;
}

/* Pop down to `n` frames, youngest first: records leave in the order of their ends. */
static inline void stack_pop_to(struct thread_stack *t, wire_u32 n, wire_u8 flags, wire_u64 now)
{
	if (t->n > n)
		stack_pop_frames(t, n, flags, now);
}

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
	/* The query of the guard's body, or its provider that was called through another function.
	 */
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

/*
 * WIRE_ROLE_REQUEST: a wrapper was called from a frame with `sp`, to which it returns at `caller`.
 * `now` is used only if that is another stack than the last event's.
 */
static inline void stack_request(struct thread_stack *t, wire_u64 cookie, wire_u64 sp,
				 wire_u32 caller, wire_u64 now)
{
	struct request *r;

	stack_enter_segment(t, sp, now);
	stack_prune_requests(t, sp, now);
	r = &t->requests[t->requests_end++ & (STACK_REQUESTS - 1)];
	r->sp = sp;
	r->caller = caller;
	r->query = wire_cookie_query(cookie);
	r->lib = wire_cookie_lib(cookie);
	if (t->n_requests < STACK_REQUESTS)
		t->n_requests++;
	else
		stack_count(WIRE_COUNT_NO_CALLER);
}

static inline int stack_leads_to(const struct thread_stack *t, const struct request *r,
				 wire_u64 cookie, wire_u64 sp, wire_u8 state)
{
	if (r->query != wire_cookie_query(cookie) || r->lib != wire_cookie_lib(cookie))
		return 0;
	/* On the stack before this one, if it is known which this one is. */
	if (!stack_in_segment(t, r->sp))
		return !t->seg_guessed;
	return state == FRAME_WRAPPED || stack_is_reach(cookie, r->sp - sp);
}

/* The caller of the request that led to a start, which is served with that. */
static inline wire_u32 stack_take_caller(struct thread_stack *t, wire_u64 cookie, wire_u64 sp,
					 wire_u8 state, wire_u64 now)
{
	const struct request *r;

	stack_prune_requests(t, sp, now);
	if (!t->n_requests)
		return 0;
	r = stack_request_at(t, t->n_requests - 1);
	if (!stack_leads_to(t, r, cookie, sp, state))
		return 0;
	stack_drop_requests(t, t->n_requests - 1);
	return r->caller;
}

/* The depth of what runs right within `top`. */
static inline wire_u32 stack_depth_above(const struct frame *top)
{
	wire_u32 depth = top->depth + !top->hidden;

	return depth < 0xffff ? depth : 0xffff;
}

/* Put a frame on top; of `new` everything but the time and the depth counts. */
static inline void stack_add(struct thread_stack *t, const struct frame *new, wire_u64 now)
{
	struct frame *top = stack_top(t), *f;
	wire_u32 depth = 0;

	if (top)
		depth = stack_depth_above(top);
	/* A wrapper whose body waits for another thread executes nothing, and is no span. */
	if (top && new->kind == WIRE_KIND_BLOCKED && top->state == FRAME_WRAPPED &&
	    top->group == new->group)
		depth = top->depth;
	/* Above a lost one the stack has a hole, and would misjudge who an end belongs to. */
	if (t->n_lost)
		f = 0;
	else if (t->n < STACK_INLINE_FRAMES)
		f = &t->frames[t->n & (STACK_INLINE_FRAMES - 1)];
	else
		f = stack_overflow_push(t, t->n);
	if (!f) {
		t->n_lost++;
		stack_count(WIRE_LOST_STACK_FULL);
		return;
	}
	*f = *new;
	f->start_ns = now;
	f->depth = depth;
	t->n++;
}

/*
 * A query starts: with FRAME_STARTED `sp` is its body's, with FRAME_WRAPPED its wrapper's. The
 * cookie names the query, its group and its library.
 */
STACK_APART int stack_push(struct thread_stack *t, wire_u64 cookie, wire_u64 sp, wire_u32 state,
			   wire_u64 now)
{
	struct frame new = {
		.sp = sp,
		.query = wire_cookie_query(cookie),
		.group = wire_cookie_group(cookie),
		.lib = wire_cookie_lib(cookie),
		.state = state,
		.hidden = wire_cookie_reg(cookie) == WIRE_HIDDEN,
	};

	if (!t)
		return 0;
	stack_prune_for(t, &new, WIRE_SPAN_LEFT, now);
	if (stack_wants_callers())
		new.caller = stack_take_caller(t, cookie, sp, state, now);
	stack_add(t, &new, now);
	return 0;
}

static inline int stack_is_at(const struct frame *f, wire_u64 sp)
{
	return f->sp == sp && f->state == FRAME_STARTED;
}

/*
 * A frame that started in this body, or at a provider that it calls through another function. (The
 * first may be left of an older body at the same place: the younger of the two it is.)
 */
static long stack_find_at(wire_u32 i, void *p)
{
	struct stack_find_ctx *c = p;
	wire_u32 at = c->t->n - 1 - i;
	struct frame *f = stack_frame(c->t, at);

	if (!f)
		return 1;
	if (!stack_is_at(f, c->sp) && (f->state != FRAME_STARTED || f->group != c->group ||
				       f->sp > c->sp || c->sp - f->sp >= STACK_CALL_NEAR))
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
	struct stack_find_ctx *c = p;
	wire_u32 at = c->t->n - 1 - i;
	struct frame *f = stack_frame(c->t, at);

	if (!f)
		return 1;
	if (!stack_is_wrapper_of(c->t, f, c->group, c->sp))
		return 0;
	c->found = at + 1;
	return 1;
}

STACK_APART int stack_search_started(struct thread_stack *t, wire_u32 group, wire_u64 sp,
				     wire_u64 now)
{
	struct stack_find_ctx c = {.t = t, .sp = sp, .group = group};

	if (!t)
		return 0;
	stack_loop(t->n, stack_find_at, &c);
	if (c.found)
		return c.found;
	stack_enter_segment(t, sp, now);
	if (t->n_lost) {
		/* Its frame, which would be younger than all there are, found no room. */
		t->n_lost--;
		return 0;
	}
	stack_loop(t->n, stack_find_wrapper, &c);
	return c.found;
}

static inline wire_u32 stack_find_started(struct thread_stack *t, wire_u32 group, wire_u64 sp,
					  wire_u64 now)
{
	struct frame *top = stack_top(t);

	if (!top)
		return 0;
	if (stack_is_at(top, sp))
		return t->n;
	if (!t->n_lost && top->sp - sp < STACK_NEAR && stack_is_wrapper_of(t, top, group, sp))
		return t->n;
	return stack_search_started(t, group, sp, now);
}

/* WIRE_ROLE_END. */
STACK_APART int stack_on_end(struct thread_stack *t, wire_u64 cookie, wire_u64 sp, wire_u64 now,
			     wire_u32 invocation)
{
	wire_u32 found = t ? stack_find_started(t, wire_cookie_group(cookie), sp, now) : 0;
	struct frame *f;

	if (!t)
		return 0;
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

/* WIRE_ROLE_CAUGHT: a panic was caught in a frame above `sp`. */
static inline void stack_on_caught(struct thread_stack *t, wire_u64 sp, wire_u64 now)
{
	stack_prune(t, sp, WIRE_SPAN_UNWOUND, now);
	stack_prune_requests(t, sp, now);
}

struct stack_flush_ctx {
	struct thread_stack *t;
	wire_u64 now;
	wire_u32 n;
};

static long stack_flush_one(wire_u32 i, void *p)
{
	struct stack_flush_ctx *c = p;
	wire_u32 at = c->n - 1 - i;
	struct frame *f = stack_frame(c->t, at);

	if (f)
		stack_leave(c->t, f, WIRE_SPAN_OPEN, c->now);
	if (at >= STACK_INLINE_FRAMES)
		stack_overflow_pop(c->t, at);
	return 0;
}

/*
 * The thread exits, or the capture stops: what is on the stack never ended. Both may happen at
 * once, on two CPUs: the first takes it all.
 */
static inline void stack_flush(struct thread_stack *t, wire_u64 now)
{
	struct stack_flush_ctx c = {.t = t, .now = now};

	c.n = __sync_lock_test_and_set(&t->n, 0);
	t->n_lost = 0;
	t->n_requests = 0;
	stack_loop(c.n, stack_flush_one, &c);
}

#endif /* QPROF_STACK_H */
