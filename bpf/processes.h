/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows processes through fork, exec and exit, and settles what their threads leave. Each
 * function runs in two programs (qprof.bpf.c); with `again` it does what the first has not done.
 */
#ifndef QPROF_PROCESSES_H
#define QPROF_PROCESSES_H

#include "contexts.h"
#include "internals.h"
#include "maps.h"
#include "off_cpu.h"
#include "waits.h"

enum process_event { PROCESS_FORK, PROCESS_EXEC };

/* Both programs of an event, if there are two, call this first, in the same thread. */
static __always_inline void process_see(enum process_event kind, __u32 event, int again)
{
	__u64 key = (__u64)kind << 32 | (__u32)bpf_get_current_pid_tgid();
	__u32 *before;

	if (!knobs.again)
		return;
	if (!again) {
		/* The second program will find nothing, and count the event as made up for. */
		if (bpf_map_update_elem(&seen, &key, &event, BPF_ANY))
			__sync_fetch_and_add(&n_made_up[kind], -1);
		return;
	}
	before = bpf_map_lookup_elem(&seen, &key);
	if (before && *before == event)
		bpf_map_delete_elem(&seen, &key);
	else
		__sync_fetch_and_add(&n_made_up[kind], 1);
}

/* A new thread gets its storage here. If that fails, its first hit tries again. */
static __always_inline void process_prepare_thread(struct task_struct *task)
{
	maps_storage(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	wait_prepare(task);
}

static __always_inline int process_fork(struct task_struct *parent, struct task_struct *child,
					int again)
{
	__u32 ppid = parent->tgid, cpid = child->tgid, target = TARGET;
	struct wire_fork *f;

	process_see(PROCESS_FORK, child->pid, again);
	if (!bpf_map_lookup_elem(&targets, &ppid))
		return 0;
	if (ppid == cpid) {
		process_prepare_thread(child);
		return 0;
	}
	if (again && bpf_map_lookup_elem(&targets, &cpid))
		return 0;
	if (bpf_map_update_elem(&targets, &cpid, &target, BPF_ANY))
		maps_count(WIRE_LOST_TARGETS_FULL);
	f = bpf_ringbuf_reserve(&ring, sizeof(*f), 0);
	if (!f) {
		maps_count(WIRE_LOST_PROCESS_RECORD);
		return 0;
	}
	*f = (struct wire_fork){
		.type = WIRE_FORK,
		.parent_pid = ppid,
		.child_pid = cpid,
		.time_ns = bpf_ktime_get_ns(),
	};
	bpf_ringbuf_submit(f, BPF_RB_FORCE_WAKEUP);
	return 0;
}

static __always_inline void process_read_args(struct task_struct *task, struct wire_exec *e)
{
	__u64 start, end, len;

	internals_arguments(task, &start, &end);
	len = end - start;
	e->args_len = 0;
	e->truncated = len > WIRE_ARGS_MAX || !start;
	if (len > WIRE_ARGS_MAX)
		len = WIRE_ARGS_MAX;
	/* Keeps the bound in the register that the helper gets, where the verifier sees it. */
	asm volatile("" : "+r"(len));
	if (len > WIRE_ARGS_MAX)
		return;
	/* A page of them may be absent; then only the name is known. */
	if (bpf_probe_read_user(e->args, len, (void *)start))
		e->truncated = 1;
	else
		e->args_len = len;
}

/*
 * A thread has ended: send the frames that are on its stack, and add its hits and spans to the
 * counters. Until then the thread keeps them: rustc fills every cache, so a look-up of a counter
 * per hit would be expensive.
 */
STACK_APART int process_settle_thread(struct thread_stack *t, int exits, __u64 now)
{
	if (!t)
		return 0;
	stack_flush(t, off_cpu_settle(t, exits, now));
	maps_count_n(WIRE_COUNT_HITS, __sync_lock_test_and_set(&t->hits, 0));
	maps_count_n(WIRE_COUNT_SPANS, __sync_lock_test_and_set(&t->spans, 0));
	maps_count_n(WIRE_COUNT_SPANS, __sync_lock_test_and_set(&t->off_cpu.n_sent, 0));
	return 0;
}

/*
 * The thread that executes a new image starts anew: it gets another name, and the tid of its
 * process. The other threads have exited by now.
 */
static __always_inline void process_end_image(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_stack *t = bpf_task_storage_get(&stacks, task, NULL, 0);

	if (!t)
		return;
	process_settle_thread(t, 1, bpf_ktime_get_ns());
	t->context_tries = 0;
	t->finished = 0;
	t->tid = 0;
	t->seg_lo = t->seg_hi = 0;
}

/* The mappings of the process are gone. */
static __always_inline void process_unmap(__u32 pid)
{
	if (!knobs.sampled)
		return;
	bpf_map_delete_elem(&mappings, &pid);
	bpf_map_delete_elem(&noted, &pid);
}

/* False if the process is not followed, or its exec was sent already. */
static __always_inline int process_begin_image(__u32 pid, int again)
{
	__u32 *target = bpf_map_lookup_elem(&targets, &pid);

	if (again && target && *target == TARGET_EXECUTED) {
		*target = TARGET;
		return 0;
	}
	process_end_image();
	if (!target)
		return 0;
	contexts_forget(pid);
	process_unmap(pid);
	if (knobs.again && !again)
		*target = TARGET_EXECUTED;
	process_prepare_thread(bpf_get_current_task_btf());
	return 1;
}

static __always_inline int process_exec(struct bpf_raw_tracepoint_args *ctx, int again)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 pid = BPF_CORE_READ(task, tgid);
	struct wire_exec *e;

	process_see(PROCESS_EXEC, 1, again);
	if (!process_begin_image(pid, again))
		return 0;
	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (!e) {
		maps_count(WIRE_LOST_PROCESS_RECORD);
		return 0;
	}
	e->type = WIRE_EXEC;
	e->pad[0] = e->pad[1] = 0;
	e->peak_kib = internals_peak_kib(task);
	e->cpu_ns = internals_cpu_ns(task);
	e->pid = pid;
	e->time_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	process_read_args(task, e);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

STACK_APART int process_send_exit(__u32 pid, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_exit *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);

	if (!e) {
		maps_count(WIRE_LOST_PROCESS_RECORD);
		return 0;
	}
	*e = (struct wire_exit){
		.type = WIRE_EXIT,
		.pid = pid,
		.time_ns = now,
		.exit_code = internals_exit_code(task),
		.kill = internals_kill(task),
		.peak_kib = internals_peak_kib(task),
	};
	e->cpu_ns = internals_cpu_ns(task);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/*
 * Runs in each exiting thread; `last`: it is the last of its process. The second run finds nothing
 * to settle, and no target.
 */
static __attribute__((noinline)) int process_end_thread(bool last)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_ns();
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct thread_stack *t = bpf_task_storage_get(&stacks, task, NULL, 0);

	if (t)
		process_settle_thread(t, 1, now);
	if (!last)
		return 0;
	process_unmap(pid);
	/* Two threads may both see themselves as the last: the one that removes the target sends
	 * the exit. */
	if (!bpf_map_delete_elem(&targets, &pid) && !contexts_end(pid))
		process_send_exit(pid, now);
	return 0;
}

#endif /* QPROF_PROCESSES_H */
