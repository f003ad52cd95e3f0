/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which job a thread waits in, where stacks of waits are not asked for (waits.h): the number of the
 * job is read when the thread leaves its CPU, as its memory is another's when it is back. Then a
 * sample without a stack is sent, if the thread has waited long enough.
 *
 * Only switches use what is kept of a thread, and a capture that stops: waits.h says why an atomic
 * exchange is enough.
 */
#ifndef QPROF_JOB_WAITS_H
#define QPROF_JOB_WAITS_H

#include "waits.h"

/*
 * The current thread leaves its CPU. One that no probe has seen is of a compiler if it has a job.
 * Not a function of its own: calls would nest too deep.
 */
static __always_inline int job_wait_begin(struct thread_stack *t, __u64 now)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32, cause = WIRE_SAMPLE_OFF_CPU;
	const struct wire_context *c = bpf_map_lookup_elem(&contexts, &pid);
	struct jobs_scan *s = bpf_map_lookup_elem(&jobs_scans, &cause);

	if (!t || !s)
		return 0;
	t->wait.job = 0;
	t->wait.lib = c ? c->lib : 0;
	t->wait.lost = 0;
	if (c) {
		t->wait.job = jobs_find(s, t->wait.lib, c->bias, cause);
		t->wait.lost = s->lost;
	}
	t->wait.current = t->wait.job ? s->current : 0;
	t->wait.pid = pid;
	t->wait.tid = (__u32)id;
	t->wait.since_ns = t->tid || t->wait.job ? now : 0;
	return 0;
}

/*
 * An activity that began deeper in the stack than the thread's ImplicitCtxt lies is within the job.
 * Addresses on two stacks say nothing.
 */
static __always_inline __u32 job_wait_inner(const struct thread_stack *t, __u64 activity)
{
	__u64 current = t->wait.current;

	return activity && activity < current && stack_in_segment(t, activity) &&
			       stack_in_segment(t, current)
		       ? 0
		       : WIRE_INNER_UNKNOWN;
}

STACK_APART int job_wait_send(struct thread_stack *t, struct wire_sample *s, __u64 since)
{
	if (!t || !s)
		return 0;
	s->type = WIRE_SAMPLE;
	s->cause = WIRE_SAMPLE_OFF_CPU;
	s->cut = WIRE_CUT_NOT;
	s->light = WIRE_LIGHT_NOT;
	s->job_lib = t->wait.lib;
	s->pid = t->wait.pid;
	s->tid = t->wait.tid;
	s->time_ns = since;
	s->job = t->wait.job;
	s->n = 0;
	if (t->wait.lost)
		maps_count(WIRE_LOST_JOBS);
	s->inner = job_wait_inner(t, sample_note_interval(t, s));
	return sample_send(s);
}

/* The thread is back, or the capture stops: that may be interrupted by a switch. */
STACK_APART int job_wait_end(struct thread_stack *t, __u64 now)
{
	__u32 which = SAMPLE_SLOT_WAIT;
	struct sample_slot *slot = bpf_map_lookup_elem(&sample_slots, &which);
	__u64 since;

	if (!t || !slot)
		return 0;
	since = __sync_lock_test_and_set(&t->wait.since_ns, 0);
	if (!since || now - since < knobs.job_wait_ns)
		return 0;
	if (__sync_lock_test_and_set(&slot->taken, 1)) {
		maps_count(WIRE_LOST_SAMPLES_NESTED);
		return 0;
	}
	slot->unwind.sample.value = now - since;
	job_wait_send(t, &slot->unwind.sample, since);
	__sync_lock_test_and_set(&slot->taken, 0);
	return 0;
}

#endif /* QPROF_JOB_WAITS_H */
