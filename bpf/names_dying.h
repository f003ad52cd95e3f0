/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies the names of a compiler that dies before it drops its query context: at the end of its
 * first thread. Kernels before 6.16 report that when its memory is gone, unless other threads still
 * have it; there a signal that kills it is the first occasion.
 *
 * The program may not sleep: pages that are not resident are missing, and are counted.
 */
#ifndef QPROF_NAMES_DYING_H
#define QPROF_NAMES_DYING_H

#include "names_drop.h"
#include "processes.h"

static __always_inline int names_copy_dying(__u32 pid, struct wire_context *found)
{
	const struct wire_layout *l;
	struct names_slot *s;
	__u32 lib;

	if (!found)
		return 0;
	lib = found->lib;
	l = bpf_map_lookup_elem(&layouts, &lib);
	if (!l || !l->size)
		return 0;
	s = names_begin(pid, lib, l, NAMES_DYING_NS);
	/* Without probes, contexts before this one may be unknown. */
	tables_copy(s, found->context, found->bias,
		    knobs.unprobed ? WIRE_COUNTS_RUNNING : WIRE_COUNTS_DYING);
	if (!knobs.unprobed)
		tables_copy_keys(s);
	names_copy(s, found->context, found->globals);
	return names_end(s, pid, lib, WIRE_COUNTS_DYING, 1);
}

/*
 * The context of the current process, or NULL: looked up first, as these programs run for every
 * process of the machine.
 */
static __always_inline struct wire_context *names_context(__u32 *pid)
{
	*pid = bpf_get_current_pid_tgid() >> 32;
	return enabled ? bpf_map_lookup_elem(&contexts, pid) : NULL;
}

/* Without probes the context may have been dropped, but not while this thread is in it. */
static __noinline int names_is_dropped(const struct wire_context *found)
{
	__u32 lib = found->lib;
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	__u64 current = l ? contexts_of_thread(found->bias + l->current.offset) : 0;

	return !current || contexts_word(current + l->current.context) != found->context;
}

static __always_inline int names_die(__u32 pid, struct wire_context *found)
{
	if (knobs.unprobed && names_is_dropped(found))
		return 0;
	if (__sync_val_compare_and_swap(&found->claimed, 0, WIRE_CONTEXT_COPIED_NOW))
		return 0;
	names_copy_dying(pid, found);
	if (__sync_lock_test_and_set(&found->claimed, WIRE_CONTEXT_COPIED) != WIRE_CONTEXT_EXITED)
		return 0;
	/* This thread still keeps the pid from being another process's. */
	contexts_forget(pid);
	process_send_exit(pid, bpf_ktime_get_ns());
	return 0;
}

/*
 * A signal is delivered to the current thread. Where the end of a thread is early enough, the
 * verifier leaves all of this out, which takes a sixth of the time to load everything.
 */
static __always_inline int names_signal(__u32 signal, const struct k_sigaction *action)
{
	struct wire_context *found;
	__u32 pid;

	if (internals_exits_have_memory())
		return 0;
	found = names_context(&pid);
	if (!found || !internals_kills(signal, action))
		return 0;
	return names_die(pid, found);
}

/* A thread ends; all of the process, if it ends by exit_group(). */
static __always_inline int names_exit(void)
{
	__u32 pid;
	struct wire_context *found = names_context(&pid);

	if (!found || !internals_process_ends(bpf_get_current_task_btf()))
		return 0;
	return names_die(pid, found);
}

#endif /* QPROF_NAMES_DYING_H */
