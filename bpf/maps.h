/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel half keeps: its switches, its maps, its counters. */
#ifndef QPROF_MAPS_H
#define QPROF_MAPS_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "qprof/wire.h"
#include "stack.h"

const volatile struct wire_knobs knobs = {.wakeup_bytes = 1 << 20};

/* Probes sit there before and after a capture; only in between do they count. */
volatile __u32 enabled;

/* Threads that flush_all has left alone, as a hit was at work on their stacks. */
volatile __u32 n_busy;

/* With a budget: what is recorded. The user half writes it at any time. */
volatile struct wire_watched watched[WIRE_WATCHED_LIBS * WIRE_WATCHED_QUERIES];

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20); /* the user half sets the real size */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_COUNTER_MAX);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* The followed processes, by tgid. Children of one are followed too. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_stack);
} stacks SEC(".maps");

/* The providers of bodies that serve several queries, by their distance from the site. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct wire_provider_key);
	__type(value, struct wire_provider);
} providers SEC(".maps");

/* The return addresses between loads and the bodies that want them, by their distance from the
 * site. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct wire_provider_key);
	__type(value, struct wire_step);
} steps SEC(".maps");

/* With callers: the group of each query that starts at its wrapper; keys from wire_wrapper_key().
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct wire_wrappers);
} wrappers SEC(".maps");

/* Labels that only the compiler's memory tells, by their text: it tells them everywhere. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct wire_label_key);
	__type(value, struct wire_label_state);
} labels SEC(".maps");

__u32 last_label;

struct overflow_key {
	__u32 tid;
	__u32 index;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STACK_MAX_FRAMES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct overflow_key);
	__type(value, struct frame);
} overflow SEC(".maps");

/* Atomic, though each CPU has its own: a program may be preempted, and the next one counts too. */
static __always_inline void count_n(__u32 counter, __u64 by)
{
	__u64 *n = bpf_map_lookup_elem(&counters, &counter);

	if (n)
		__sync_fetch_and_add(n, by);
}

static __always_inline void count(__u32 counter)
{
	count_n(counter, 1);
}

/*
 * A wakeup costs more than a span. The reader comes by itself many times a second; it is woken only
 * when much is waiting, and then by the few records that cross a step of that much.
 */
static __always_inline __u64 wakeup_flags(void)
{
	__u64 waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);

	return waiting % knobs.wakeup_bytes < 2 * sizeof(struct wire_span) &&
			       waiting >= knobs.wakeup_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* NULL if the query is recorded always. */
static __always_inline volatile struct wire_watched *find_watched(__u32 lib, __u32 query)
{
	if (!knobs.governed || lib >= WIRE_WATCHED_LIBS || query >= WIRE_WATCHED_QUERIES)
		return NULL;
	return &watched[WIRE_WATCHED(lib, query)];
}

#endif /* QPROF_MAPS_H */
