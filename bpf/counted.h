/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * With a budget: executions that are counted and not recorded. Each thread counts its own, and
 * sends a few at a time: a record for each would cost as much as the budget saves.
 */
#ifndef QPROF_COUNTED_H
#define QPROF_COUNTED_H

#include "maps.h"

/* Nonzero if the ring buffer has no room. */
static __always_inline int counted_send(const struct thread_stack *t, __u32 query, __u32 n,
					__u64 now)
{
	struct wire_counted *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r)
		return -1;
	*r = (struct wire_counted){
		.type = WIRE_COUNTED,
		.lib = t->counted_lib,
		.query = query,
		.pid = t->pid,
		.tid = t->tid,
		.n = n,
		.time_ns = now,
	};
	bpf_ringbuf_submit(r, maps_wakeup_flags());
	return 0;
}

/* Count an execution. True if it was counted; false if it has to be recorded instead. */
static __always_inline int counted_add(struct thread_stack *t, __u32 lib, __u32 query, __u64 now)
{
	volatile struct wire_watched *w = maps_watched(lib, query);
	__u32 n;

	if (!w || !w->counted)
		return 0;
	t->counted_lib = lib;
	n = ++t->counted[query & (WIRE_WATCHED_QUERIES - 1)];
	/* If there is no room, the next record has these too. */
	if (n >= WIRE_COUNTED_STEP && !counted_send(t, query, n, now))
		t->counted[query & (WIRE_WATCHED_QUERIES - 1)] = 0;
	return 1;
}

struct counted_ctx {
	struct thread_stack *t;
	__u64 now;
};

static long counted_send_rest(__u32 query, void *p)
{
	struct counted_ctx *c = p;
	__u32 *rest = &c->t->counted[query & (WIRE_WATCHED_QUERIES - 1)];
	__u32 n = *rest ? __sync_lock_test_and_set(rest, 0) : 0;

	if (n && counted_send(c->t, query, n, c->now))
		maps_count_n(WIRE_LOST_RING_FULL, n);
	return 0;
}

/* Send the rest: the thread exits, or the capture stops. */
static __always_inline void counted_settle(struct thread_stack *t, __u64 now)
{
	struct counted_ctx c = {.t = t, .now = now};

	if (knobs.governed)
		bpf_loop(WIRE_WATCHED_QUERIES, counted_send_rest, &c, 0);
}

#endif /* QPROF_COUNTED_H */
