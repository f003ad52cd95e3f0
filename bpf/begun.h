/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The intervals that a thread was in when the capture began (struct wire_begun). Its stack gets a
 * frame for each, below those that the thread has entered since. The thread is in a ptrace stop, so
 * no hit changes its stack meanwhile.
 */
#ifndef QPROF_BEGUN_H
#define QPROF_BEGUN_H

#include "internals.h"
#include "maps.h"
#include "off_cpu.h"
#include "threads.h"

/* Set by the user half, for one thread at a time. */
volatile __u32 begun_tid;
volatile __u32 n_begun;
volatile __u64 begun_ns;
struct wire_begun begun[WIRE_BEGUN_MAX];

/* 1: the frames are there. */
volatile __u32 begun_done;

_Static_assert(WIRE_BEGUN_MAX < STACK_INLINE_FRAMES, "begun");

static __always_inline struct frame *begun_inline_frame(struct thread_stack *t, __u32 i)
{
	return &t->frames[i & (STACK_INLINE_FRAMES - 1)];
}

/* Frames move up, the youngest first. */
static long begun_move_one(wire_u32 i, void *p)
{
	struct thread_stack *t = stack_searched(p);
	struct frame *to = begun_inline_frame(t, t->n - 1 - i + n_begun);

	*to = *begun_inline_frame(t, t->n - 1 - i);
	to->depth += n_begun;
	return 0;
}

static long begun_put_one(wire_u32 i, void *p)
{
	struct frame *f = begun_inline_frame(stack_searched(p), i);
	const struct wire_begun *b;

	if (i >= WIRE_BEGUN_MAX)
		return 1;
	b = &begun[i];
	*f = (struct frame){
		.sp = b->sp,
		.start_ns = begun_ns,
		.query = b->query,
		.group = b->group,
		.depth = i,
		.lib = b->lib,
		.state = b->number ? FRAME_GUARD : FRAME_STARTED,
		.number = b->number,
		.kind = b->kind,
		.key = b->key,
	};
	return 0;
}

/* As thread_init(), of a thread that has hit no probe yet. */
static __always_inline void begun_init(struct thread_stack *t, struct task_struct *task)
{
	struct wire_thread *r;

	t->pid = BPF_CORE_READ(task, tgid);
	t->tid = BPF_CORE_READ(task, pid);
	t->off_cpu.state = OFF_CPU_IDLE;
	r = thread_reserve(t);
	if (!r)
		return;
	bpf_probe_read_kernel_str(r->name, sizeof(r->name), task->comm);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

static __always_inline void begun_put(struct task_struct *task)
{
	struct thread_stack *t =
		bpf_task_storage_get(&stacks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 n = n_begun;

	if (!t || n > WIRE_BEGUN_MAX || t->n > STACK_INLINE_FRAMES - WIRE_BEGUN_MAX)
		return;
	if (!t->tid)
		begun_init(t, task);
	stack_search(t, t->n, begun_move_one);
	stack_search(t, n, begun_put_one);
	t->n += n;
	begun_done = 1;
}

#endif /* QPROF_BEGUN_H */
