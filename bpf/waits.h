/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where threads wait: the stack is walked when a thread leaves its CPU, and kept with the thread.
 * It is sent when the thread is back, if it has waited long enough.
 *
 * Both happen at switches, with interrupts off. Only they use what is kept of a thread, and they
 * never run at once for one thread; but a capture that stops sends what is still kept, so each
 * takes the start of the wait by an atomic exchange.
 *
 * No wait: a thread that could have gone on, one that was stopped by a signal or a debugger, and
 * one that has ended.
 */
#ifndef QPROF_WAITS_H
#define QPROF_WAITS_H

#include "sampling.h"

struct wait {
	__u64 since_ns; /* 0: the thread does not wait, or its stack is not known */
	struct unwind unwind;
};

_Static_assert(sizeof(struct wait) <= 8192 - 256, "task storage");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait);
} waits SEC(".maps");

/* For a thread that may wait from now on. */
static __always_inline void wait_prepare(struct task_struct *task)
{
	if (knobs.wait_ns)
		maps_storage_of(&waits, task, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline int wait_is_one(bool preempt, __u32 state)
{
	return !preempt && state && !(state & (TASK_DEAD | TASK_STOPPED | TASK_TRACED));
}

/* Part of what samples cost. Both happen for threads of compilers only. */
STACK_APART int wait_count_time(__u64 since_ns)
{
	maps_count_n(WIRE_COUNT_SAMPLES_NS, bpf_ktime_get_ns() - since_ns);
	return 0;
}

STACK_APART int wait_note_stack(struct wait *w, __u64 now)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (!w)
		return 0;
	sample_begin(&w->unwind.sample, WIRE_SAMPLE_OFF_CPU, id, now);
	w->unwind.interval = sample_note(&w->unwind.sample, 1, 0);
	return sample_unwind(&w->unwind, 0, WIRE_LIGHT_NOT);
}

/*
 * The current thread leaves its CPU. Its job is looked for now, as its memory is another's when it
 * is back, and not in wait_note_stack(): calls would nest too deep.
 */
static __always_inline void wait_begin(struct wait *w, __u64 now)
{
	wait_note_stack(w, now);
	jobs_sample(&w->unwind);
	/* The waits of programs that are no compilers are not wanted. */
	w->since_ns = w->unwind.sample.n ? now : 0;
}

/* The thread is back, or the capture stops. */
STACK_APART int wait_end(struct wait *w, __u64 now)
{
	__u64 since;

	if (!w)
		return 0;
	since = __sync_lock_test_and_set(&w->since_ns, 0);
	if (!since || now - since < knobs.wait_ns)
		return 0;
	if (w->unwind.job_lost)
		maps_count(WIRE_LOST_JOBS);
	w->unwind.sample.value = now - since;
	return sample_send(&w->unwind.sample);
}

#endif /* QPROF_WAITS_H */
