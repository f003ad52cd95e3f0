/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * With a budget: executions that are counted and not recorded. They are counted with the thread,
 * and told a few at a time: a record for each would cost what the budget is to save.
 */
#ifndef QPROF_COUNTED_H
#define QPROF_COUNTED_H

#include "maps.h"

/* So many hits of a thread go into the counters at once. */
#define HITS_STEP 32

/* Nonzero if there is no room. */
static __always_inline int send_counted(const struct thread_stack *t, __u32 query, __u32 n,
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
	bpf_ringbuf_submit(r, wakeup_flags());
	return 0;
}

/* True if a start of this query is not to be recorded: it was counted. */
static __always_inline int count_execution(struct thread_stack *t, __u32 lib, __u32 query,
					   __u64 now)
{
	volatile struct wire_watched *w = find_watched(lib, query);
	__u32 n;

	if (!w || !w->counted)
		return 0;
	t->counted_lib = lib;
	n = ++t->counted[query & (WIRE_WATCHED_QUERIES - 1)];
	/* What finds no room now is told of with the next ones. */
	if (n >= WIRE_COUNTED_STEP && !send_counted(t, query, n, now))
		t->counted[query & (WIRE_WATCHED_QUERIES - 1)] = 0;
	return 1;
}

struct counted_ctx {
	struct thread_stack *t;
	__u64 now;
};

static long send_rest(__u32 query, void *p)
{
	struct counted_ctx *c = p;
	__u32 *rest = &c->t->counted[query & (WIRE_WATCHED_QUERIES - 1)];
	__u32 n = *rest ? __sync_lock_test_and_set(rest, 0) : 0;

	if (n && send_counted(c->t, query, n, c->now))
		count_n(WIRE_LOST_RING_FULL, n);
	return 0;
}

/* The thread exits, or the capture stops. */
static __always_inline void settle_counted(struct thread_stack *t, __u64 now)
{
	struct counted_ctx c = {.t = t, .now = now};

	if (knobs.governed)
		bpf_loop(WIRE_WATCHED_QUERIES, send_rest, &c, 0);
}

#endif /* QPROF_COUNTED_H */
