/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The per-thread stack of queries and other intervals: which of them a probe hit belongs to.
 *
 * Pure logic, compiled twice: into the BPF programs, and natively into its unit tests.
 * environment.h defines the functions declared first, and so does each test.
 *
 * Why a start is never paired with a wrong end. Every frame of ours stands for one frame of
 * try_execute_query (a body) on the thread's own stack. The compiler keeps sp fixed within a body,
 * so the body's sp identifies that frame for as long as it lives: a start and an end belong
 * together exactly if they saw the same sp, however many frames were left in between without an
 * end.
 *
 * This header has the frames, and how they are added and removed. stack_alive.h has which of them
 * an event proves dead, stack_queries.h the starts and ends of queries, stack_guards.h those of
 * other intervals.
 */
#ifndef QPROF_STACK_H
#define QPROF_STACK_H

#include "thread_stack.h"

/* Two stacks are never this close: a red zone of 100 KiB and a guard page lie between them. */
#define STACK_NEAR 65536ULL
/*
 * More than the distance between a body and a provider that it calls through a small function, such
 * as __rust_begin_short_backtrace; larger ones are known to the plan, and in the site of an end.
 * Less than a body's own frame, so no other body is this near.
 */
#define STACK_CALL_NEAR 256ULL
/* Result of stack_find_segment(): nothing is mapped there. The kernel's -ENOENT. */
#define STACK_NOT_MAPPED (-2)

/*
 * For long or rarely run functions. The verifier checks such a function by itself, once per
 * program, instead of on every path that leads to it. It then assumes nothing about the arguments:
 * the function must test a pointer for NULL, and cannot use a pointer read through it. The frames
 * of a chain of calls may take 512 bytes together.
 */
#ifdef __bpf__
#define STACK_APART __attribute__((noinline))
#else
#define STACK_APART static inline
#endif

/* Defined in environment.h, and in each test. */
static struct frame *stack_overflow_frame(struct thread_stack *t, wire_u32 i);
static struct frame *stack_overflow_push(struct thread_stack *t, wire_u32 i);
static void stack_overflow_pop(struct thread_stack *t, wire_u32 i);
/*
 * Set seg_lo and seg_hi to the mapping that holds `sp`. On failure both keep their values:
 * STACK_NOT_MAPPED, or another nonzero value if the mapping is unknown.
 */
static long stack_find_segment(struct thread_stack *t, wire_u64 sp);
static void stack_emit(struct thread_stack *t, const struct frame *f, wire_u8 flags, wire_u64 now,
		       wire_u32 invocation);
static void stack_count(enum wire_counter counter);
/* True if callers are recorded. */
static int stack_wants_callers(void);
/*
 * True if a start `distance` bytes below the sp of the wrapper's caller lies in the body that the
 * wrapper calls, or up to STACK_CALL_NEAR bytes (more where the plan knows it) further down, at a
 * provider that the body calls through another function.
 */
static int stack_is_reach(const struct frame *start, wire_u64 distance);
/* Call fn(i, ctx) for i = 0.. below n until it returns nonzero. */
static void stack_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx);

/* bpf_loop() passes its callback only a pointer into the caller's frame; this struct is there, and
 * holds the thread's.
 */
struct stack_search_ctx {
	struct thread_stack *t;
};

/* Call fn(i, p) as stack_loop() does, where stack_searched(p) is `t`. */
static inline void stack_search(struct thread_stack *t, wire_u32 n, long (*fn)(wire_u32 i, void *p))
{
	struct stack_search_ctx c = {.t = t};

	stack_loop(n, fn, &c);
}

static inline struct thread_stack *stack_searched(void *p)
{
	return ((struct stack_search_ctx *)p)->t;
}

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

/* The depth of what runs right within `top`. */
static inline wire_u32 stack_depth_above(const struct frame *top)
{
	wire_u32 depth = top->depth + !top->hidden;

	return depth < 0xffff ? depth : 0xffff;
}

/* Put the current event (scratch.event) on top, and set its time and its depth. */
static inline void stack_add(struct thread_stack *t, wire_u64 now)
{
	const struct frame *new = &t->scratch.event;
	struct frame *top = stack_top(t), *f;
	wire_u32 depth = 0;

	if (top)
		depth = stack_depth_above(top);
	/* A wrapper whose body waits for another thread executes nothing, and is no span. */
	if (top && new->kind == WIRE_KIND_BLOCKED && top->state == FRAME_WRAPPED &&
	    top->group == new->group)
		depth = top->depth;
	/* Above a lost frame the stack has a hole: an end could be paired with a wrong start. */
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
 * The thread exits, or the capture stops: the frames on the stack never ended. Both may happen at
 * once, on two CPUs: the first takes all frames.
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
