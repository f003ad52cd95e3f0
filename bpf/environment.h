/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions that stack.h and off_cpu.h declare, by maps, mappings and records of the kernel. */
#ifndef QPROF_ENVIRONMENT_H
#define QPROF_ENVIRONMENT_H

#include "internals.h"
#include "maps.h"
#include "off_cpu.h"

static void stack_count(enum wire_counter counter)
{
	if (counter == WIRE_LOST_STACK_FULL)
		maps_lose(counter);
	else
		maps_count(counter);
}

static int stack_wants_callers(void)
{
	return knobs.callers;
}

static __always_inline int stack_reaches(__u64 distance, __u32 reach, __u32 between)
{
	return reach && distance >= reach && distance - reach < STACK_CALL_NEAR + between;
}

static int stack_is_reach(const struct frame *start, wire_u64 distance)
{
	__u32 key = wire_lib_key(start->lib, start->query);
	const struct wire_wrappers *w = bpf_map_lookup_elem(&wrappers, &key);

	return w && (stack_reaches(distance, w->reach[0], w->between[0]) ||
		     stack_reaches(distance, w->reach[1], w->between[1]));
}

static struct frame *stack_overflow_frame(struct thread_stack *t, wire_u32 i)
{
	struct overflow_key key = {t->tid, i};

	return bpf_map_lookup_elem(&overflow, &key);
}

static struct frame *stack_overflow_push(struct thread_stack *t, wire_u32 i)
{
	struct overflow_key key = {t->tid, i};
	struct frame empty = {};

	bpf_map_update_elem(&overflow, &key, &empty, BPF_ANY);
	return bpf_map_lookup_elem(&overflow, &key);
}

/* Deep frames of all threads share one table: a popped frame must not fill it. */
static void stack_overflow_pop(struct thread_stack *t, wire_u32 i)
{
	struct overflow_key key = {t->tid, i};

	bpf_map_delete_elem(&overflow, &key);
}

static long stack_find_segment(struct thread_stack *t, wire_u64 sp)
{
	struct segment seg = {};
	long err = bpf_find_vma(bpf_get_current_task_btf(), sp, internals_note_segment, &seg, 0);

	if (err)
		return err;
	if (!seg.hi)
		return -1;
	t->seg_lo = seg.lo;
	t->seg_hi = seg.hi;
	return 0;
}

STACK_APART int stack_send_span(struct thread_stack *t, const struct frame *f, wire_u32 flags,
				wire_u64 now, wire_u32 invocation)
{
	struct wire_span *s;

	if (!t || !f || knobs.silent)
		return 0;
	s = bpf_ringbuf_reserve(&ring, sizeof(*s), 0);
	if (!s) {
		if (f->kind == WIRE_KIND_LOAD)
			maps_lose(WIRE_LOST_RING_FULL);
		else
			maps_count(WIRE_LOST_RING_FULL);
		return 0;
	}
	*s = (struct wire_span){
		.type = WIRE_SPAN,
		.flags = flags,
		.lib = f->lib,
		.kind = f->kind,
		.query = f->query,
		.depth = f->depth,
		.pid = t->pid,
		.tid = t->tid,
		.start_ns = f->start_ns,
		.end_ns = now,
		.invocation = invocation,
		.caller = f->caller,
		.key = f->key,
	};
	bpf_ringbuf_submit(s, maps_wakeup_flags());
	t->spans++;
	return 0;
}

static void stack_emit(struct thread_stack *t, const struct frame *f, wire_u8 flags, wire_u64 now,
		       wire_u32 invocation)
{
	stack_send_span(t, f, flags, now, invocation);
}

static void stack_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx)
{
	bpf_loop(n, fn, ctx, 0);
}

STACK_APART int off_cpu_send_interval(struct thread_stack *t, const struct off_interval *i,
				      wire_u32 depth)
{
	struct wire_off_cpu *r;

	if (!t || !i || knobs.silent)
		return 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		maps_count(WIRE_LOST_RING_FULL);
		return 0;
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
	bpf_ringbuf_submit(r, maps_wakeup_flags());
	/* Not in t->spans, which an interrupted hit may be changing. */
	t->off_cpu.n_sent++;
	return 0;
}

static void off_cpu_emit(struct thread_stack *t, const struct off_interval *i, wire_u32 depth)
{
	off_cpu_send_interval(t, i, depth);
}

#endif /* QPROF_ENVIRONMENT_H */
