/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the logic of stack.h leaves to its includer: maps, mappings and records of the kernel. */
#ifndef QPROF_ENVIRONMENT_H
#define QPROF_ENVIRONMENT_H

#include "maps.h"

/* With a budget, an end without a start is mostly one of a query that is not recorded. */
static void stack_count(enum wire_counter counter)
{
	if (!knobs.governed || counter != WIRE_DROP_END_WITHOUT_START)
		count(counter);
}

static int stack_wants_callers(void)
{
	return knobs.callers;
}

static __always_inline int is_reach(__u64 distance, __u32 reach)
{
	return reach && distance >= reach && distance - reach < STACK_CALL_NEAR;
}

static int stack_is_reach(wire_u64 cookie, wire_u64 distance)
{
	__u32 key = wire_wrapper_key(wire_cookie_lib(cookie), wire_cookie_query(cookie));
	const struct wire_wrappers *w = bpf_map_lookup_elem(&wrappers, &key);

	return w && (is_reach(distance, w->reach[0]) || is_reach(distance, w->reach[1]));
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

/* Deep frames of all threads share one table: what is not in it any more must not fill it. */
static void stack_overflow_pop(struct thread_stack *t, wire_u32 i)
{
	struct overflow_key key = {t->tid, i};

	bpf_map_delete_elem(&overflow, &key);
}

struct segment {
	__u64 lo;
	__u64 hi;
};

static long note_segment(struct task_struct *task, struct vm_area_struct *vma, struct segment *seg)
{
	seg->lo = vma->vm_start;
	seg->hi = vma->vm_end;
	return 0;
}

static long stack_find_segment(struct thread_stack *t, wire_u64 sp)
{
	struct segment seg = {};
	long err = bpf_find_vma(bpf_get_current_task_btf(), sp, note_segment, &seg, 0);

	if (err)
		return err;
	t->seg_lo = seg.lo;
	t->seg_hi = seg.hi;
	return 0;
}

/*
 * Its start came before the end probes of its query were taken away, and what ended it may be
 * another's end.
 */
static __always_inline __u8 untimed(const struct frame *f)
{
	volatile struct wire_watched *w = find_watched(f->lib, f->query);

	return w && f->kind == WIRE_KIND_QUERY && f->start_ns <= w->lapsed_ns ? WIRE_SPAN_UNTIMED
									      : 0;
}

STACK_APART int send_span(struct thread_stack *t, const struct frame *f, wire_u32 flags,
			  wire_u64 now, wire_u32 invocation)
{
	struct wire_span *s;

	if (!t || !f || knobs.silent)
		return 0;
	s = bpf_ringbuf_reserve(&ring, sizeof(*s), 0);
	if (!s) {
		count(WIRE_LOST_RING_FULL);
		return 0;
	}
	*s = (struct wire_span){
		.type = WIRE_SPAN,
		.flags = flags | untimed(f),
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
	};
	bpf_ringbuf_submit(s, wakeup_flags());
	t->spans++;
	return 0;
}

static void stack_emit(struct thread_stack *t, const struct frame *f, wire_u8 flags, wire_u64 now,
		       wire_u32 invocation)
{
	send_span(t, f, flags, now, invocation);
}

static void stack_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx)
{
	bpf_loop(n, fn, ctx, 0);
}

#endif /* QPROF_ENVIRONMENT_H */
