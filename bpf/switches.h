/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that sees threads leave their CPUs and come back, and what of it is sent. */
#ifndef QPROF_SWITCHES_H
#define QPROF_SWITCHES_H

#include "maps.h"
#include "off_cpu.h"

/* Of a task's state; the kernel's, the same since long. */
#define TASK_UNINTERRUPTIBLE 2

static void off_cpu_emit(struct thread_stack *t, const struct off_interval *i, wire_u32 depth)
{
	struct wire_off_cpu *r;

	if (knobs.silent)
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		count(WIRE_LOST_RING_FULL);
		return;
	}
	*r = (struct wire_off_cpu){
		.type = WIRE_OFF_CPU,
		.reason = i->reason,
		.depth = depth,
		.pid = t->pid,
		.tid = t->tid,
		.flags = i->flags,
		.start_ns = i->start_ns,
		.end_ns = i->end_ns,
	};
	bpf_ringbuf_submit(r, wakeup_flags());
	/* Not among the spans, which a hit may be counting just now. */
	t->off_cpu.n_told++;
}

static __always_inline __u8 off_cpu_reason(bool preempt, unsigned int state)
{
	if (preempt || !state)
		return WIRE_OFF_PREEMPTED;
	return state & TASK_UNINTERRUPTIBLE ? WIRE_OFF_UNINTERRUPTIBLE : WIRE_OFF_WAITING;
}

/*
 * Runs at every switch of every CPU, with interrupts off. A thread without storage is not followed,
 * or has not hit a probe: it costs the look-up. What was left while we were enabled is ended
 * whatever we are now.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct thread_stack *from = enabled ? bpf_task_storage_get(&stacks, prev, NULL, 0) : NULL;
	struct thread_stack *to = bpf_task_storage_get(&stacks, next, NULL, 0);
	__u64 now;

	if (!from && !to)
		return 0;
	now = bpf_ktime_get_ns();
	if (from)
		off_cpu_leave(from, off_cpu_reason(preempt, prev_state), now);
	if (to)
		off_cpu_return(to, now);
	return 0;
}

#endif /* QPROF_SWITCHES_H */
