/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The running intervals of a thread: copies of the frames on its stack.
 *
 * The thread may run meanwhile, and its hits may change the stack. Each hit first marks the thread
 * as busy and counts itself as a change (off_cpu.h). If the count is the same before and after the
 * copy, and the thread was busy neither time, the frames are of one moment. A thread in a ptrace
 * stop is between two hits.
 */
#ifndef QPROF_OPEN_STACKS_H
#define QPROF_OPEN_STACKS_H

#include "internals.h"
#include "maps.h"
#include "off_cpu.h"

/* The threads to copy, in the initial pid namespace: ascending, the rest all ones. */
volatile __u32 open_tids[WIRE_OPEN_TIDS];

static __always_inline bool open_stack_is_wanted(__u32 tid)
{
	__u32 at = 0;

#pragma unroll
	for (__u32 step = WIRE_OPEN_TIDS / 2; step; step /= 2)
		if (open_tids[at + step] <= tid)
			at += step;
	return open_tids[at] == tid;
}

/* The record about it: there is no room on the stack, and no two threads ask. */
struct wire_open_stack open_stack;

struct open_stack_ctx {
	struct thread_stack *t;
	__u32 tid;
	__u32 n;
};

static long open_stack_send_frame(__u32 i, void *p)
{
	struct open_stack_ctx *c = p;
	const struct frame *f = stack_frame(c->t, i);
	struct wire_open_frame *r;

	if (!f)
		return 1;
	if (f->hidden)
		return 0;
	c->n++;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return 0;
	*r = (struct wire_open_frame){
		.type = WIRE_OPEN_FRAME,
		.lib = f->lib,
		.kind = f->kind,
		.query = f->query,
		.tid = c->tid,
		.label = f->label,
		.sp = f->sp,
		.start_ns = f->start_ns,
		.key = f->key,
	};
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The thread's count of changes; sets *busy if a hit is changing the stack. */
static __always_inline __u32 open_stack_changes(volatile struct thread_stack *t, __u32 *busy)
{
	__u32 changes = t->changes;

	OFF_CPU_BARRIER();
	*busy |= t->off_cpu.state == OFF_CPU_BUSY;
	OFF_CPU_BARRIER();
	return changes;
}

static __always_inline void open_stack_send(struct task_struct *task, struct thread_stack *t,
					    __u32 tid)
{
	struct open_stack_ctx c = {.t = t, .tid = tid};
	struct wire_open_stack *end = &open_stack;
	__u32 busy = 0, before;

	*end = (struct wire_open_stack){.type = WIRE_OPEN_STACK, .tid = tid};
	end->time_ns = bpf_ktime_get_ns();
	internals_program(task, &end->process_ns, &end->execs);
	if (t && t->tid) {
		before = open_stack_changes(t, &busy);
		end->known = 1;
		end->n_lost = t->n_lost;
		end->off_since_ns = t->off_cpu.since_ns;
		end->reason = t->off_cpu.reason;
		stack_loop(t->n, open_stack_send_frame, &c);
		end->n = c.n;
		end->torn = open_stack_changes(t, &busy) != before || busy;
	}
	bpf_ringbuf_output(&ring, end, sizeof(*end), BPF_RB_FORCE_WAKEUP);
}

#endif /* QPROF_OPEN_STACKS_H */
