/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Off-CPU intervals: from a switch away from a thread to the switch back.
 *
 * Pure logic, compiled twice, like stack.h. A thread runs no code between the two switches, so the
 * functions for switches never run twice at a time for one thread. But a switch may interrupt any
 * of our programs that the thread runs.
 *
 * An off-CPU interval must nest in the thread's other intervals, and must be sent in the order of
 * the ends. Between two hits that is simple: it is sent at once, and nests in the top frame. During
 * a hit these rules keep the order:
 *
 * - An interval that ends before the hit begins is sent before it, so the event must not have an
 *   earlier time: off_cpu_begin() takes the time that was read, and returns the time to use.
 * - off_cpu_begin() reads the number of waiting intervals once. These precede the event. Intervals
 *   noted later follow the event, and wait until the hit is done.
 * - Not every kernel reports every switch. A thread that hits a probe, or leaves its CPU again, has
 *   returned before: such an interval is sent as left, and its end is an upper bound.
 * - Only one side at a time takes waiting intervals: the thread while it is busy, a switch while it
 *   is not.
 */
#ifndef QPROF_OFF_CPU_H
#define QPROF_OFF_CPU_H

#include "stack.h"

_Static_assert((OFF_CPU_WAITING & (OFF_CPU_WAITING - 1)) == 0, "masked index");

/* Send an interval, at this depth. Defined in environment.h, and in each test. */
static void off_cpu_emit(struct thread_stack *t, const struct off_interval *i, wire_u32 depth);

/*
 * Orders the accesses around it. A compiler barrier is enough: a hit and a switch of one thread
 * never run on two CPUs at once. A test runs a switch here.
 */
#ifndef OFF_CPU_BARRIER
#define OFF_CPU_BARRIER() __asm__ volatile("" : : : "memory")
#endif

static inline void off_cpu_send(struct thread_stack *t, const struct off_interval *i)
{
	const struct frame *top = stack_top(t);

	t->off_cpu.last_ns = i->end_ns;
	/* Here, not where an interval ends: several may have been merged into this one. */
	if (i->flags & WIRE_SPAN_LEFT)
		stack_count(WIRE_COUNT_LEFT);
	if (i->flags & WIRE_SPAN_OPEN)
		stack_count(WIRE_COUNT_OPEN);
	off_cpu_emit(t, i, top ? stack_depth_above(top) : 0);
}

struct off_cpu_ctx {
	struct thread_stack *t;
	wire_u32 until;
};

static long off_cpu_send_one(wire_u32 n, void *p)
{
	const struct off_cpu_ctx *c = p;
	struct thread_stack *t = c->t;
	struct off_cpu *o = &t->off_cpu;

	(void)n;
	if (o->sent == (wire_u8)c->until)
		return 1;
	off_cpu_send(t, &o->waiting[o->sent & (OFF_CPU_WAITING - 1)]);
	OFF_CPU_BARRIER();
	o->sent++;
	return 0;
}

/* Send the waiting intervals, up to this count of off_cpu.noted. */
STACK_APART int off_cpu_send_noted(struct thread_stack *t, wire_u32 until)
{
	struct off_cpu_ctx c = {.t = t, .until = until};

	if (t)
		stack_loop(OFF_CPU_WAITING, off_cpu_send_one, &c);
	return 0;
}

static inline void off_cpu_send_waiting(struct thread_stack *t)
{
	wire_u8 noted = t->off_cpu.noted;

	if (t->off_cpu.sent != noted)
		off_cpu_send_noted(t, noted);
}

/*
 * At most OFF_CPU_WAITING intervals wait, so the difference of the two counts is right although
 * each wraps at 256. When there is no room, the newest one that waits grows: between the two the
 * thread ran only our program. With OFF_CPU_WAITING of them the newest is not the one that
 * off_cpu_send_one() is reading.
 */
static inline void off_cpu_note(struct off_cpu *o, const struct off_interval *i)
{
	struct off_interval *newest = &o->waiting[(o->noted - 1) & (OFF_CPU_WAITING - 1)];

	if ((wire_u8)(o->noted - o->sent) < OFF_CPU_WAITING) {
		o->waiting[o->noted++ & (OFF_CPU_WAITING - 1)] = *i;
		return;
	}
	newest->end_ns = i->end_ns;
	/* The end is now as uncertain as that of the merged interval. */
	newest->flags |= i->flags;
}

/* The thread's current interval ends by `now`. */
STACK_APART int off_cpu_end(struct thread_stack *t, wire_u32 flags, wire_u64 now)
{
	struct off_cpu *o = &t->off_cpu;
	struct off_interval i = {.end_ns = now, .flags = flags};

	if (!t)
		return 0;
	i.reason = o->reason;
	/* A capture that stops may take it at the same time. */
	i.start_ns = __sync_lock_test_and_set(&o->since_ns, 0);
	if (!i.start_ns)
		return 0;
	/* The thread left after `now` was read; the time of its return is unknown. */
	if (i.start_ns > now)
		i.end_ns = i.start_ns;
	if (o->state == OFF_CPU_BUSY) {
		off_cpu_note(o, &i);
		return 0;
	}
	off_cpu_send_waiting(t);
	off_cpu_send(t, &i);
	return 0;
}

/* A hit begins to change the thread's stack. `now` is the time that it read. Returns the time to
 * use. */
static inline wire_u64 off_cpu_begin(struct thread_stack *t, wire_u64 now)
{
	struct off_cpu *o = &t->off_cpu;
	wire_u64 last;
	wire_u8 noted;

	/* Its return was not reported. */
	if (o->since_ns && now)
		off_cpu_end(t, WIRE_SPAN_LEFT, now);
	o->state = OFF_CPU_BUSY;
	OFF_CPU_BARRIER();
	t->changes++;
	OFF_CPU_BARRIER();
	noted = *(volatile wire_u8 *)&o->noted;
	OFF_CPU_BARRIER();
	if (o->sent != noted)
		off_cpu_send_noted(t, noted);
	OFF_CPU_BARRIER();
	/* Read after sending: an interval that waited may have grown until then. */
	last = o->last_ns;
	return now < last ? last : now;
}

/* The hit is done. */
static inline void off_cpu_done(struct thread_stack *t)
{
	off_cpu_send_waiting(t);
	OFF_CPU_BARRIER();
	/* An interval noted between the two lines is sent with the next hit, or before the next
	 * interval. */
	t->off_cpu.state = OFF_CPU_IDLE;
}

/* The thread leaves its CPU. */
static inline void off_cpu_leave(struct thread_stack *t, wire_u32 reason, wire_u64 now)
{
	struct off_cpu *o = &t->off_cpu;

	if (o->state == OFF_CPU_NOBODY)
		return;
	if (o->since_ns)
		off_cpu_end(t, WIRE_SPAN_LEFT, now);
	o->reason = reason;
	o->since_ns = now;
}

/* The thread is on a CPU again. */
static inline void off_cpu_return(struct thread_stack *t, wire_u64 now)
{
	off_cpu_end(t, 0, now);
}

/*
 * A hit is changing the stack; no other program may. No hit begins after the capture has stopped,
 * so the program that settles the thread tries again.
 */
static inline int off_cpu_is_busy(const struct thread_stack *t)
{
	return *(volatile const wire_u8 *)&t->off_cpu.state == OFF_CPU_BUSY;
}

/*
 * The thread exits, or the capture stops: send the waiting intervals, and the current one as open.
 * After an exit no more intervals are kept. Returns the time to use, as off_cpu_begin().
 */
static inline wire_u64 off_cpu_settle(struct thread_stack *t, int exits, wire_u64 now)
{
	struct off_cpu *o = &t->off_cpu;

	if (exits)
		o->state = OFF_CPU_NOBODY;
	OFF_CPU_BARRIER();
	off_cpu_send_waiting(t);
	off_cpu_end(t, WIRE_SPAN_OPEN, now);
	return now < o->last_ns ? o->last_ns : now;
}

#endif /* QPROF_OFF_CPU_H */
