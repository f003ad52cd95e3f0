/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts of a compiler without any probe (-e none), whose context is dropped unseen: they are read
 * at ticks of the CPU's clock that find the current thread in an execution, as the context that
 * the thread is in is there until the thread goes on. Each reading replaces the one before, and
 * none is known to be the last.
 */
#ifndef QPROF_TICK_COUNTS_H
#define QPROF_TICK_COUNTS_H

#include "jobs.h"
#include "names_drop.h"

/* Between two readings of a process. */
#define TICK_COUNTS_EVERY_NS 50000000ull
/* The time that a reading may take in the interrupt; 0.2 ms is usual. */
#define TICK_COUNTS_NS 2000000ull

/* The context that the current thread executes a query in; 0: none. */
static __always_inline __u64 tick_context(const struct wire_context *found,
					  const struct wire_layout *l)
{
	__u32 lib = found->lib;
	const struct wire_job_tables *tables = bpf_map_lookup_elem(&job_tables, &lib);
	__u64 current = contexts_of_thread(found->bias + l->current.offset);

	if (!tables || !current || !contexts_word(current + tables->current))
		return 0;
	return contexts_word(current + l->current.context);
}

/* The process has another context than before, whose jobs have numbers of their own. */
STACK_APART int tick_renew(struct wire_context *found, __u64 context, __u32 pid)
{
	if (!found)
		return 0;
	found->context = context;
	found->serial = __sync_fetch_and_add(&last_context, 1) + 1;
	found->counted_ns = 0;
	contexts_renew(pid);
	return 0;
}

/* Apart, for the frame; the copy is called from the program, as its calls are nested to the limit.
 */
static __noinline struct names_slot *tick_begin(__u32 lib)
{
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	return l ? names_begin(pid, lib, l, TICK_COUNTS_NS) : NULL;
}

static __always_inline int tick_counts(void)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32, lib;
	struct wire_context *found = enabled ? bpf_map_lookup_elem(&contexts, &pid) : NULL;
	__u64 now = bpf_ktime_get_ns(), context, before, bias;
	const struct wire_layout *l;
	struct names_slot *s;

	if (!found)
		return 0;
	lib = found->lib;
	bias = found->bias;
	before = found->counted_ns;
	if (now - before < TICK_COUNTS_EVERY_NS)
		return 0;
	l = bpf_map_lookup_elem(&layouts, &lib);
	context = l ? tick_context(found, l) : 0;
	if (!context)
		return 0;
	if (context != found->context)
		return tick_renew(found, context, pid);
	/* Another thread may do so now. */
	if (__sync_val_compare_and_swap(&found->counted_ns, before, now) != before)
		return 0;
	/* Entries of `contexts` may be another process's by now: `context` is this thread's. */
	s = tick_begin(lib);
	if (s) {
		tables_copy(s, context, bias, WIRE_COUNTS_RUNNING);
		__sync_lock_test_and_set(&s->owner, 0);
	}
	maps_count_n(WIRE_COUNT_SAMPLES_NS, bpf_ktime_get_ns() - now);
	return 0;
}

#endif /* QPROF_TICK_COUNTS_H */
