/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interval that a thread is in when it is sampled, by the kernel half's own stack.
 *
 * Pure logic, compiled twice, like stack.h. A sample may interrupt any program that the thread
 * runs, between any two instructions, on the same CPU. A hit marks the thread as busy before it
 * changes the stack, and until it is done (off_cpu.h): meanwhile nothing is known. At any other
 * moment the stack is whole, and no other program changes it while it is read, but the one that
 * settles all threads when a capture has stopped.
 *
 * An interval that was left by unwinding is on the stack until the thread's next hit.
 */
#ifndef QPROF_SAMPLE_INTERVALS_H
#define QPROF_SAMPLE_INTERVALS_H

#include "off_cpu.h"
#include "qprof/wire_samples.h"

struct sample_search {
	struct thread_stack *t;
	wire_u32 n;	/* frames, when the search began */
	wire_u32 found; /* index + 1; 0: none */
};

/* Walks down the frames that are not recorded. */
static long sample_find_interval(wire_u32 i, void *ctx)
{
	struct sample_search *c = ctx;
	const struct frame *f = stack_frame(c->t, c->n - 1 - i);

	if (!f || f->hidden)
		return !f;
	c->found = c->n - i;
	return 1;
}

static inline void sample_note_nothing(struct wire_sample *s, wire_u8 busy)
{
	s->busy = busy;
	s->lib = 0;
	s->query = WIRE_NO_QUERY;
	s->depth = 0;
	s->kind = 0;
	s->label = 0;
}

/* Note in `s` which interval is on top of the stack, and return the sp that it began at, or 0. */
STACK_APART wire_u64 sample_note_interval(struct thread_stack *t, struct wire_sample *s)
{
	struct sample_search c = {.t = t};
	const struct frame *f;

	if (!t || !s)
		return 0;
	/* An interval that found no room is above all others. */
	sample_note_nothing(s, off_cpu_is_busy(t) || t->n_lost);
	if (s->busy)
		return 0;
	c.n = t->n;
	stack_loop(c.n, sample_find_interval, &c);
	f = c.found ? stack_frame(t, c.found - 1) : 0;
	if (!f)
		return 0;
	s->lib = f->lib;
	s->query = f->query;
	s->depth = stack_depth_above(f);
	s->kind = f->kind;
	s->label = f->label;
	return f->sp;
}

#endif /* QPROF_SAMPLE_INTERVALS_H */
