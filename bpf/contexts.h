/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the query contexts of running compilers are, so that names can be read before a context is
 * dropped: by the programs that see a process die (names_dying.h), and by the user half. A context
 * is found when a thread's first query starts, as every thread in a query has it at hand, or when a
 * sample meets one (jobs.h).
 */
#ifndef QPROF_CONTEXTS_H
#define QPROF_CONTEXTS_H

#include "internals.h"
#include "maps.h"

/* Times that a thread looks for its context. */
#define CONTEXTS_TRIES 254
#define CONTEXTS_FOUND 255

/* By tgid. The entry is removed before the memory of the context is freed. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct wire_context);
} contexts SEC(".maps");

/* By library. All zeroes: not known. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_LIBS + 1);
	__type(key, __u32);
	__type(value, struct wire_layout);
} layouts SEC(".maps");

__u64 last_context;

/* By tgid: contexts that were forgotten. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} epochs SEC(".maps");

__u32 last_epoch;

/* No other context of process `pid`, or of another one that has its pid, has this number. */
static __always_inline __u32 contexts_epoch(__u32 pid)
{
	const __u32 *epoch = bpf_map_lookup_elem(&epochs, &pid);

	return epoch ? *epoch : 0;
}

/* The word at an address of user memory; 0 if it cannot be read now. */
static __always_inline __u64 contexts_word(__u64 at)
{
	__u64 value = 0;

	if (bpf_probe_read_user(&value, sizeof(value), (void *)at))
		return 0;
	return value;
}

/* The word in the thread-local memory of the current thread, at an offset that `at` holds. */
static __always_inline __u64 contexts_of_thread(__u64 at)
{
	__u64 offset = contexts_word(at);

	return offset ? contexts_word(internals_fs_base() + offset) : 0;
}

/* Nonzero if the context of the current thread is known now. `ip` lies in the library's code. */
static __noinline int contexts_note(struct thread_stack *t, __u32 lib, __u64 ip)
{
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	struct wire_context *found;
	__u64 bias;

	if (!t || !l || !l->size || !l->current.known)
		return 0;
	found = &t->scratch.context;
	bias = internals_bias(ip);
	if (!bias)
		return 0;
	bias -= l->current.code;
	found->bias = bias;
	found->context = contexts_of_thread(bias + l->current.offset);
	if (found->context)
		found->context = contexts_word(found->context + l->current.context);
	found->globals = contexts_of_thread(bias + l->globals);
	if (!found->context || !found->globals)
		return 0;
	found->serial = __sync_fetch_and_add(&last_context, 1) + 1;
	found->lib = lib;
	found->claimed = 0;
	found->counted_ns = 0;
	/* Another thread of the process may have found it before. */
	bpf_map_update_elem(&contexts, &t->pid, found, BPF_NOEXIST);
	return 1;
}

/* A query starts. */
static __always_inline void contexts_see(struct thread_stack *t, __u32 lib, __u64 ip)
{
	if (t->context_tries < CONTEXTS_TRIES)
		t->context_tries =
			contexts_note(t, lib, ip) ? CONTEXTS_FOUND : t->context_tries + 1;
}

STACK_APART int contexts_renew(__u32 pid)
{
	__u32 epoch = __sync_fetch_and_add(&last_epoch, 1) + 1;

	bpf_map_update_elem(&epochs, &pid, &epoch, BPF_ANY);
	return 0;
}

/* The context of process `pid` is dropped, or the process has another program or none. */
static __always_inline void contexts_forget(__u32 pid)
{
	bpf_map_delete_elem(&contexts, &pid);
	if (knobs.sampled)
		contexts_renew(pid);
}

/*
 * The last thread of process `pid` ends. Nonzero if another one is copying names, which are to come
 * before the record of the exit: that thread sends it.
 */
static __always_inline int contexts_end(__u32 pid)
{
	struct wire_context *c = bpf_map_lookup_elem(&contexts, &pid);

	if (!c)
		return 0;
	if (__sync_val_compare_and_swap(&c->claimed, WIRE_CONTEXT_COPIED_NOW,
					WIRE_CONTEXT_EXITED) == WIRE_CONTEXT_COPIED_NOW)
		return 1;
	contexts_forget(pid);
	return 0;
}

#endif /* QPROF_CONTEXTS_H */
