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

#define COUNTED_MOST 0xff

static __always_inline __u8 counted_lose(__u32 n)
{
	maps_count_n(WIRE_LOST_RING_FULL, n);
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
	if (n < WIRE_COUNTED_STEP)
		return 1;
	/* If there is no room, a later record has these too, as long as they can be counted. */
	if (!counted_send(t, query, n, now))
		t->counted[query & (WIRE_WATCHED_QUERIES - 1)] = 0;
	else if (n == COUNTED_MOST)
		t->counted[query & (WIRE_WATCHED_QUERIES - 1)] = counted_lose(n);
	return 1;
}

struct counted_ctx {
	struct thread_stack *t;
	__u64 now;
};

/* Takes four counters at once: two threads may send the rest. */
static long counted_send_rest(__u32 word, void *p)
{
	struct counted_ctx *c = p;
	__u32 *rest = &c->t->counted_words[word & (WIRE_WATCHED_QUERIES / 4 - 1)];
	__u32 taken = *rest ? __sync_lock_test_and_set(rest, 0) : 0;

	for (__u32 i = 0; taken && i < 4; i++, taken >>= 8)
		if (taken & 0xff && counted_send(c->t, 4 * word + i, taken & 0xff, c->now))
			counted_lose(taken & 0xff);
	return 0;
}

/* Send the rest: the thread exits, or the capture stops. */
static __always_inline void counted_settle(struct thread_stack *t, __u64 now)
{
	struct counted_ctx c = {.t = t, .now = now};

	if (knobs.governed)
		bpf_loop(WIRE_WATCHED_QUERIES / 4, counted_send_rest, &c, 0);
}

#endif /* QPROF_COUNTED_H */
