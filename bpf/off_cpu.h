/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a thread is not on a CPU: the interval from a switch away from it to the switch back.
 *
 * Pure logic like stack.h, compiled twice as that is. Both switches run before and after all that
 * the thread does itself, so nothing here runs twice at a time for one thread; but one may come in
 * the midst of any program of ours that the thread runs, as an interrupt would.
 *
 * Such an interval must nest in the thread's other ones, and come in the order of the ends. Between
 * two hits that is simple: it is sent at once, and belongs to what is on top. In the midst of a hit
 * these things keep it so:
 *
 * - An interval that ends before the hit is begun is sent before it, so no event may be dated
 *   earlier: off_cpu_begin() takes the time that was read, and gives the one that counts.
 * - After that, intervals wait until the hit is done. All of them are later than the event: in what
 *   it has started, or after what it has ended.
 * - Not every kernel tells of every switch. Who is seen to run, or to leave again, has returned
 *   before: such an interval is sent as left, its end an upper bound.
 * - What waits is taken by one side only at a time: by the thread while it is busy, by a switch
 *   while it is not.
 */
#ifndef QPROF_OFF_CPU_H
#define QPROF_OFF_CPU_H

#include "stack.h"

_Static_assert((OFF_CPU_WAITING & (OFF_CPU_WAITING - 1)) == 0, "masked index");

/* What the includer provides: send an interval, at this depth. */
static void off_cpu_emit(struct thread_stack *t, const struct off_interval *i, wire_u32 depth);

/* What one side has written before, the other sees after: both are one thread, or one after the
 * other on their CPUs. */
#define OFF_CPU_BARRIER() __asm__ volatile("" : : : "memory")

static inline void off_cpu_send(struct thread_stack *t, const struct off_interval *i)
{
	const struct frame *top = stack_top(t);

	off_cpu_emit(t, i, top ? stack_depth_above(top) : 0);
}

struct off_cpu_ctx {
	struct thread_stack *t;
};

static long off_cpu_send_one(wire_u32 n, void *p)
{
	const struct off_cpu_ctx *c = p;
	struct thread_stack *t = c->t;
	struct off_cpu *o = &t->off_cpu;

	(void)n;
	if (o->sent == o->noted)
		return 1;
	off_cpu_send(t, &o->waiting[o->sent & (OFF_CPU_WAITING - 1)]);
	OFF_CPU_BARRIER();
	o->sent++;
	return 0;
}

STACK_APART int off_cpu_send_noted(struct thread_stack *t)
{
	struct off_cpu_ctx c = {.t = t};

	if (t)
		stack_loop(2 * OFF_CPU_WAITING, off_cpu_send_one, &c);
	return 0;
}

static inline void off_cpu_send_waiting(struct thread_stack *t)
{
	if (t->off_cpu.sent != t->off_cpu.noted)
		off_cpu_send_noted(t);
}

static inline void off_cpu_note(struct off_cpu *o, const struct off_interval *i)
{
	if ((wire_u8)(o->noted - o->sent) < OFF_CPU_WAITING)
		o->waiting[o->noted++ & (OFF_CPU_WAITING - 1)] = *i;
	else
		/* What is in between the thread spent in our program. */
		o->waiting[(o->noted - 1) & (OFF_CPU_WAITING - 1)].end_ns = i->end_ns;
}

/* What the thread is in ends by `now`. */
STACK_APART int off_cpu_end(struct thread_stack *t, wire_u32 flags, wire_u64 now)
{
	struct off_cpu *o = &t->off_cpu;
	struct off_interval i = {.end_ns = now, .flags = flags};

	if (!t)
		return 0;
	i.reason = o->reason;
	/* A capture that stops takes it at the same time. */
	i.start_ns = __sync_lock_test_and_set(&o->since_ns, 0);
	if (!i.start_ns || i.start_ns > now)
		return 0;
	o->last_ns = now;
	if (flags & WIRE_SPAN_LEFT)
		stack_count(WIRE_COUNT_LEFT);
	if (flags & WIRE_SPAN_OPEN)
		stack_count(WIRE_COUNT_OPEN);
	if (o->state == OFF_CPU_BUSY) {
		off_cpu_note(o, &i);
		return 0;
	}
	off_cpu_send_waiting(t);
	off_cpu_send(t, &i);
	return 0;
}

/* A hit works on the thread's stack from here on, at a time that was read as `now`: its time. */
static inline wire_u64 off_cpu_begin(struct thread_stack *t, wire_u64 now)
{
	struct off_cpu *o = &t->off_cpu;

	/* We were not told that it is back. */
	if (o->since_ns && now)
		off_cpu_end(t, WIRE_SPAN_LEFT, now);
	o->state = OFF_CPU_BUSY;
	OFF_CPU_BARRIER();
	t->changes++;
	OFF_CPU_BARRIER();
	off_cpu_send_waiting(t);
	return now < o->last_ns ? o->last_ns : now;
}

/* It is done. */
static inline void off_cpu_done(struct thread_stack *t)
{
	off_cpu_send_waiting(t);
	OFF_CPU_BARRIER();
	/* What is noted just before this is sent with the next hit, or before the next interval. */
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

/* It is on one again. */
static inline void off_cpu_return(struct thread_stack *t, wire_u64 now)
{
	off_cpu_end(t, 0, now);
}

/*
 * A hit works on the stack: nobody else may. Nobody begins to once the capture has stopped, so who
 * stops it comes back.
 */
static inline int off_cpu_is_busy(const struct thread_stack *t)
{
	return *(volatile const wire_u8 *)&t->off_cpu.state == OFF_CPU_BUSY;
}

/*
 * The thread exits, or the capture stops: what waits is sent, and so is, as open, what it is in. Of
 * a thread that exits nothing comes any more. Gives the time that counts, as off_cpu_begin().
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
