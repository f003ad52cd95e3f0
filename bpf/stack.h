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
 * Here are the frames and how they come and go. Which of them an event proves dead is in alive.h,
 * the starts and ends of queries in queries.h, those of other intervals in guards.h.
 */
#ifndef QPROF_STACK_H
#define QPROF_STACK_H

#include "qprof/wire.h"

#ifndef STACK_INLINE_FRAMES
#define STACK_INLINE_FRAMES 512 /* a power of two; deeper frames go to the overflow map */
#endif
#define STACK_MAX_FRAMES 65536
/* Two stacks are never this close: a red zone of 100 KiB and a guard page lie between them. */
#define STACK_NEAR 65536ULL
/*
 * More than lies between a body and a provider that it calls through another function, and less
 * than a body's own frame, so that no body called from there is this near.
 */
#define STACK_CALL_NEAR 256ULL
/*
 * Requests that wait at a time, a power of two: the oldest is forgotten for one more, and its
 * query's caller is not known then.
 */
#ifndef STACK_REQUESTS
#define STACK_REQUESTS 32
#endif
/* stack_find_segment(): nothing is mapped there. The kernel's -ENOENT. */
#define STACK_NOT_MAPPED (-2)

enum frame_state {
	FRAME_STARTED = 1, /* sp is the body's */
	FRAME_WRAPPED,	   /* started; sp is its wrapper's, above the body's */
	FRAME_GUARD,	   /* no query's: a guard's or a timer's; sp is that of its function */
};

struct frame {
	wire_u64 sp;
	wire_u64 start_ns;
	wire_u16 query; /* or what else wire_span.query is */
	wire_u16 group; /* or scope */
	wire_u16 depth; /* frames below this one that are not hidden */
	wire_u8 lib;
	wire_u8 state; /* enum frame_state */
	union {
		wire_u32 caller; /* as in struct wire_span */
		wire_u32 label;
	};
	wire_u16 number; /* within its scope; 0: a query's */
	wire_u8 kind;	 /* enum wire_kind */
	wire_u8 hidden;	 /* not asked for: never sent */
};

/* A wrapper that was called and has not led to a start. */
struct request {
	wire_u64 sp; /* its caller's, at the call: above all of the wrapper's frame */
	wire_u32 caller;
	wire_u16 query;
	wire_u8 lib;
	wire_u8 pad;
};

/* The logic of these two is in off_cpu.h. */
struct off_interval {
	wire_u64 start_ns;
	wire_u64 end_ns;
	wire_u32 reason; /* enum wire_off_reason */
	wire_u32 flags;	 /* enum wire_span_flag */
};

/* Intervals within one hit that can wait for its end, a power of two. */
#define OFF_CPU_WAITING 4

enum off_cpu_state {
	OFF_CPU_NOBODY, /* has no hit yet, or has exited: nothing is noted of it */
	OFF_CPU_IDLE,
	OFF_CPU_BUSY, /* in a program that works on the stack */
};

struct off_cpu {
	wire_u64 since_ns; /* the thread left its CPU then; 0: it is on one */
	wire_u64 last_ns;  /* end of its last interval */
	wire_u32 reason;   /* of since_ns */
	wire_u8 state;
	wire_u8 noted; /* intervals that ever waited, modulo 256, and of them: */
	wire_u8 sent;
	wire_u8 pad;
	wire_u64 n_told; /* that is not in the counters yet */
	struct off_interval waiting[OFF_CPU_WAITING];
};

struct thread_stack {
	wire_u64 seg_lo; /* bounds of the mapping that holds the sp of the last event */
	wire_u64 seg_hi;
	wire_u32 pid;
	wire_u32 tid;
	wire_u32 n;
	wire_u32 n_lost;      /* starts since the top frame's that found no room: all younger */
	wire_u32 seg_guessed; /* the mapping could not be told: only what is near sp is known */
	wire_u32 n_requests;
	wire_u64 hits; /* probe hits and spans sent that are not in the counters yet */
	wire_u64 spans;
	wire_u32 requests_end; /* index behind the youngest, modulo STACK_REQUESTS */
	wire_u32 changes;      /* how often a hit has begun, for who looks on from elsewhere */
	wire_u32 counted_lib;  /* whose queries are counted */
	wire_u32 pad;
	struct off_cpu off_cpu;
	struct request requests[STACK_REQUESTS];
	struct frame frames[STACK_INLINE_FRAMES];
	wire_u32 counted[WIRE_WATCHED_QUERIES]; /* executions that were not sent yet */
};

_Static_assert(sizeof(struct frame) == 32, "frame");
_Static_assert(sizeof(struct request) == 16, "request");
_Static_assert((STACK_REQUESTS & (STACK_REQUESTS - 1)) == 0, "masked index");
_Static_assert((STACK_INLINE_FRAMES & (STACK_INLINE_FRAMES - 1)) == 0, "masked index");

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

/* Pop down to `n` frames, youngest first: records leave in the order of their ends. */
static inline void stack_pop_to(struct thread_stack *t, wire_u32 n, wire_u8 flags, wire_u64 now)
{
	struct stack_pop_ctx c = {.t = t, .now = now, .flags = flags};

	if (t->n > n)
		stack_loop(t->n - n, stack_pop_one, &c);
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
