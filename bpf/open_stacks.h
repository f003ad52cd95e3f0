/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread is in at this moment: copies of the frames on its stack, which stay there.
 *
 * The thread may go on meanwhile, and its hits change the stack under our eyes. Each one is busy
 * and counts itself as a change first (off_cpu.h): who saw the same count before and after, and it
 * busy neither time, has read what was there at one moment. A thread that is stopped, by ptrace,
 * stands between two hits.
 */
#ifndef QPROF_OPEN_STACKS_H
#define QPROF_OPEN_STACKS_H

#include "maps.h"
#include "off_cpu.h"

/* The thread that is asked for, in the initial pid namespace. */
volatile __u32 open_tid;

struct open_ctx {
	struct thread_stack *t;
	__u32 tid;
	__u32 n;
};

static long send_open_frame(__u32 i, void *p)
{
	struct open_ctx *c = p;
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
	};
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* A program whose hit is in the midst of its work is seen as busy, or will have counted itself. */
static __always_inline __u32 changes_of(volatile struct thread_stack *t, __u32 *busy)
{
	__u32 changes = t->changes;

	OFF_CPU_BARRIER();
	*busy |= t->off_cpu.state == OFF_CPU_BUSY;
	OFF_CPU_BARRIER();
	return changes;
}

static __always_inline void send_open_stack(struct thread_stack *t, __u32 tid)
{
	struct wire_open_stack end = {.type = WIRE_OPEN_STACK, .tid = tid};
	struct open_ctx c = {.t = t, .tid = tid};
	__u32 busy = 0, before;

	end.time_ns = bpf_ktime_get_ns();
	if (t) {
		before = changes_of(t, &busy);
		end.known = 1;
		end.n_lost = t->n_lost;
		end.off_since_ns = t->off_cpu.since_ns;
		end.reason = t->off_cpu.reason;
		stack_loop(t->n, send_open_frame, &c);
		end.n = c.n;
		end.torn = changes_of(t, &busy) != before || busy;
	}
	bpf_ringbuf_output(&ring, &end, sizeof(end), BPF_RB_FORCE_WAKEUP);
}

/* Read whenever a picture of one thread is wanted. */
SEC("iter/task")
int show_open(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && (__u32)BPF_CORE_READ(task, pid) == open_tid)
		send_open_stack(bpf_task_storage_get(&stacks, task, NULL, 0), open_tid);
	return 0;
}

#endif /* QPROF_OPEN_STACKS_H */
