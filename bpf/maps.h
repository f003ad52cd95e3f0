/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The global state of the kernel half: variables, maps, counters. */
#ifndef QPROF_MAPS_H
#define QPROF_MAPS_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "internals.h"
#include "noted.h"
#include "qprof/wire.h"
#include "stack.h"

const volatile struct wire_knobs knobs = {.wakeup_bytes = 1 << 20, .roles = ~0u, .again = 1};

/* True during a capture. Probes are attached before it and stay after it. */
volatile __u32 enabled;

/* Threads that flush_all skipped because a hit was changing their stacks. */
volatile __u32 n_busy;

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

/* State of a followed process. */
#define TARGET		1
#define TARGET_EXECUTED 2 /* the exec that is being handled was sent */

/* The followed processes, by tgid. Their children are followed too. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

/*
 * With samples: where the compilers among them have mapped which files, by tgid. The user half adds
 * them; an exec or the end of the process removes them.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct wire_mappings);
} mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct noted_mappings);
} noted SEC(".maps");

/*
 * Forks and execs whose first program was skipped and whose second one was not (processes.h): these
 * skips are no losses.
 */
volatile __s64 n_made_up[2];

/* Forks and execs that the first program has seen: by its kind and thread, the child or 1. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u32);
} seen SEC(".maps");

/*
 * From 6.19 on the kernel allocates task storage with kmalloc_nolock(), which gives at most 8 KiB,
 * its own header of some 100 bytes included.
 */
_Static_assert(sizeof(struct thread_stack) <= 8192 - 256, "task storage");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_stack);
} stacks SEC(".maps");

/*
 * As bpf_task_storage_get(), for programs that may be preempted. Up to 6.19 each CPU has one lock
 * for all task storage, and a look-up takes it too: while a preempted thread holds it, every new
 * thread on that CPU would lose its hits.
 */
static __always_inline void *maps_storage_of(void *map, struct task_struct *task, __u64 flags)
{
	void *value;

	if (!internals_can_disable_preemption())
		return bpf_task_storage_get(map, task, NULL, flags);
	bpf_preempt_disable();
	value = bpf_task_storage_get(map, task, NULL, flags);
	bpf_preempt_enable();
	return value;
}

static __always_inline struct thread_stack *maps_storage(struct task_struct *task, __u64 flags)
{
	return maps_storage_of(&stacks, task, flags);
}

/* What each probe means, by its cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct wire_site);
} sites SEC(".maps");

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

/* With callers: how far below its wrappers each query starts; by wire_lib_key(). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct wire_wrappers);
} wrappers SEC(".maps");

/* Where keys in memory have their definition; by wire_lib_key(). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct wire_memory_key);
} memory_keys SEC(".maps");

/* Dynamic labels, by their text, which is the same in every process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct wire_label_key);
	__type(value, struct wire_label_state);
} labels SEC(".maps");

__u32 last_label;

/* Number of the last argument that was sent. */
__u64 last_argument;

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

/* Atomic, although each CPU has its own counters: the program may be preempted by one that counts
 * too. */
static __always_inline void maps_count_n(__u32 counter, __u64 by)
{
	__u64 *n = bpf_map_lookup_elem(&counters, &counter);

	if (n)
		__sync_fetch_and_add(n, by);
}

static __always_inline void maps_count(__u32 counter)
{
	maps_count_n(counter, 1);
}

/* When a start, a load or what was fed was last lost, of any process; 0: never. */
__u64 last_loss_ns;

/* The same, of these. The time does not go back where another program came between. */
static __always_inline void maps_lose(__u32 counter)
{
	__u64 before = last_loss_ns, now = bpf_ktime_get_ns();

	if (now > before && __sync_val_compare_and_swap(&last_loss_ns, before, now) != before)
		last_loss_ns = bpf_ktime_get_ns();
	maps_count(counter);
}

/*
 * A wakeup costs more than a span. The reader polls many times a second; only the few records that
 * are sent just beyond a multiple of wakeup_bytes wake it. A longer record than the window may step
 * over one: then the next multiple wakes the reader, or the next poll.
 */
static __always_inline __u64 maps_wakeup_flags(void)
{
	__u64 waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);

	return waiting % knobs.wakeup_bytes < 2 * sizeof(struct wire_span) &&
			       waiting >= knobs.wakeup_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/*
 * Copy memory of the current process. Nonzero if that fails. While a program waits for a page, no
 * probe of any recording goes, and what serves the page may never answer. So a page that is not
 * there is waited for only if it comes from memory or a disk (internals_note_backing()), in
 * processes of root and of the user who records, which do not map another page at this moment. In
 * programs that may not sleep the user half replaces the call that may by its failure
 * (kernel_load.c).
 */
static __always_inline long maps_read_user(void *to, __u32 n, __u64 from)
{
	struct backing b = {.end = from + n};
	__u32 uid;

	if (!bpf_probe_read_user(to, n, (void *)from))
		return 0;
	uid = (__u32)bpf_get_current_uid_gid();
	if (uid && uid != knobs.invoker)
		return -1;
	bpf_find_vma(bpf_get_current_task_btf(), from, internals_note_backing, &b, 0);
	return b.is_local ? bpf_copy_from_user(to, n, (void *)from) : -1;
}

#define MAPS_SCRATCH(field) __builtin_offsetof(struct scratch, field)

/*
 * The same, to a field of the thread's scratch: a function apart, as the verifier then follows a
 * read once. Nonzero if that fails.
 */
STACK_APART int maps_read_scratch(struct thread_stack *t, __u64 at, __u64 n, __u64 from)
{
	if (!t || at > sizeof(t->scratch) || n > WIRE_ARGUMENT_MAX)
		return -1;
	return maps_read_user((__u8 *)&t->scratch + at, n, from);
}

#endif /* QPROF_MAPS_H */
