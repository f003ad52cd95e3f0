/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The current thread at a probe: whether its process is followed, and what is kept of it. */
#ifndef QPROF_THREADS_H
#define QPROF_THREADS_H

#include "environment.h"
#include "maps.h"
#include "off_cpu.h"

/* A record of the thread, without its name; NULL is counted. */
static __always_inline struct wire_thread *thread_reserve(const struct thread_stack *t)
{
	struct wire_thread *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		maps_count(WIRE_LOST_PROCESS_RECORD);
		return NULL;
	}
	*r = (struct wire_thread){
		.type = WIRE_THREAD,
		.pid = t->pid,
		.tid = t->tid,
		.time_ns = bpf_ktime_get_ns(),
	};
	return r;
}

/* Sends the thread's name now: it may be gone before the user half could read it. */
static __always_inline void thread_send(const struct thread_stack *t)
{
	struct wire_thread *r = thread_reserve(t);

	if (!r)
		return;
	bpf_get_current_comm(r->name, sizeof(r->name));
	bpf_ringbuf_submit(r, maps_wakeup_flags());
}

static __always_inline void thread_init(struct thread_stack *t, __u64 id)
{
	t->pid = id >> 32;
	t->tid = (__u32)id;
	thread_send(t);
}

/* Give the current thread storage if its process is followed. True if it has storage now. */
STACK_APART int thread_begin(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32;
	struct thread_stack *t;

	if (!bpf_map_lookup_elem(&targets, &pid)) {
		maps_count(WIRE_COUNT_HITS_OTHER);
		return 0;
	}
	t = maps_storage(bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		maps_count(WIRE_COUNT_HITS);
		maps_lose(WIRE_LOST_NO_STORAGE);
		return 0;
	}
	t->hits++;
	/*
	 * The storage may exist already: until 6.1 a look-up fails while another one on this CPU is
	 * preempted.
	 */
	if (!t->tid)
		thread_init(t, id);
	return 1;
}

/*
 * The current thread's stack, or NULL if its process is not followed. A followed thread has
 * storage, so the table of targets is searched once per thread.
 */
static __always_inline struct thread_stack *thread_current(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_stack *t;

	if (!enabled)
		return NULL;
	t = maps_storage(task, 0);
	if (t && t->tid) {
		t->hits++;
		return t;
	}
	return thread_begin() ? maps_storage(task, 0) : NULL;
}

/*
 * Begin a hit now; *now becomes the time to use (off_cpu.h). NULL if the thread is not followed;
 * else end the hit with off_cpu_done().
 */
static __always_inline struct thread_stack *thread_begin_hit(__u64 *now)
{
	struct thread_stack *t;

	*now = bpf_ktime_get_ns();
	t = thread_current();
	if (t)
		*now = off_cpu_begin(t, *now);
	return t;
}

/*
 * For sleepable programs, which the end of the capture may overtake. If the capture still runs
 * after the stack was marked as busy, flush_all waits for this hit. If it has stopped, this ends
 * the hit.
 */
static __always_inline int thread_has_stopped(struct thread_stack *t)
{
	OFF_CPU_BARRIER();
	if (enabled)
		return 0;
	off_cpu_done(t);
	return 1;
}

#endif /* QPROF_THREADS_H */
