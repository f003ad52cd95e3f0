/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs that follow processes through fork, exec and exit, and settle what they leave. */
#ifndef QPROF_PROCESSES_H
#define QPROF_PROCESSES_H

#include "counted.h"
#include "maps.h"
#include "off_cpu.h"

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 ppid = BPF_CORE_READ(parent, tgid), cpid = BPF_CORE_READ(child, tgid), one = 1;
	struct wire_fork *f;

	if (ppid == cpid || !bpf_map_lookup_elem(&targets, &ppid))
		return 0;
	if (bpf_map_update_elem(&targets, &cpid, &one, BPF_ANY))
		count(WIRE_LOST_TARGETS_FULL);
	f = bpf_ringbuf_reserve(&ring, sizeof(*f), 0);
	if (!f) {
		count(WIRE_LOST_PROCESS_RECORD);
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

static __always_inline void read_args(struct task_struct *task, struct wire_exec *e)
{
	unsigned long start = BPF_CORE_READ(task, mm, arg_start);
	unsigned long end = BPF_CORE_READ(task, mm, arg_end);
	__u64 len = end - start;

	e->args_len = 0;
	e->truncated = len > WIRE_ARGS_MAX;
	if (len > WIRE_ARGS_MAX)
		len = WIRE_ARGS_MAX;
	/* Keeps the bound in the register that the helper gets, where the verifier sees it. */
	asm volatile("" : "+r"(len));
	if (len > WIRE_ARGS_MAX)
		return;
	/* A page of it may be absent. Then only the name is known. */
	if (bpf_probe_read_user(e->args, len, (void *)start))
		e->truncated = 1;
	else
		e->args_len = len;
}

/*
 * A thread's queries are over: send off what is on its stack, and count what it did. Hits and spans
 * are kept with the thread until then: in rustc, whose data fills every cache, each look-up of a
 * counter would cost more than it does in a small loop.
 */
static __always_inline void settle(struct thread_stack *t, int exits, __u64 now)
{
	stack_flush(t, off_cpu_settle(t, exits, now));
	settle_counted(t, now);
	count_n(WIRE_COUNT_HITS, __sync_lock_test_and_set(&t->hits, 0));
	count_n(WIRE_COUNT_SPANS, __sync_lock_test_and_set(&t->spans, 0));
	count_n(WIRE_COUNT_SPANS, __sync_lock_test_and_set(&t->off_cpu.n_told, 0));
}

/*
 * The thread that executes a new image takes nothing of itself there: it gets another name, and the
 * number of its process. The other threads have exited by now.
 */
static __always_inline void end_image(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_stack *t = bpf_task_storage_get(&stacks, task, NULL, 0);

	if (!t)
		return;
	settle(t, 1, bpf_ktime_get_ns());
	bpf_task_storage_delete(&stacks, task);
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 pid = BPF_CORE_READ(task, tgid);
	struct wire_exec *e;

	end_image();
	if (!bpf_map_lookup_elem(&targets, &pid))
		return 0;
	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (!e) {
		count(WIRE_LOST_PROCESS_RECORD);
		return 0;
	}
	e->type = WIRE_EXEC;
	e->pad[0] = e->pad[1] = 0;
	e->pad2 = 0;
	e->pid = pid;
	e->time_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	read_args(task, e);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#define SIGNAL_GROUP_EXIT 4

static __always_inline __u32 exit_code_of(struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(task, signal, group_exit_code);
	return BPF_CORE_READ(task, group_leader, exit_code);
}

static __always_inline void send_exit(struct task_struct *task, __u32 pid, __u64 now)
{
	struct wire_exit *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);

	if (!e) {
		count(WIRE_LOST_PROCESS_RECORD);
		return;
	}
	*e = (struct wire_exit){
		.type = WIRE_EXIT,
		.pid = pid,
		.time_ns = now,
		.exit_code = exit_code_of(task),
	};
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

/* Runs in each exiting thread; `live` is zero in the last ones of its process. */
SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_ns();
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct thread_stack *t = bpf_task_storage_get(&stacks, task, NULL, 0);

	if (t)
		settle(t, 1, now);
	if (BPF_CORE_READ(task, signal, live.counter))
		return 0;
	/* Two threads may both be the last: the one that takes the target away tells. */
	if (!bpf_map_delete_elem(&targets, &pid))
		send_exit(task, pid, now);
	return 0;
}

/*
 * Read after `enabled` was cleared, until it finds nobody busy: what still runs when the capture
 * stops. Programs that may sleep are not waited for by a grace period of RCU.
 */
SEC("iter/task")
int flush_all(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_stack *t;

	if (!task)
		return 0;
	t = bpf_task_storage_get(&stacks, task, NULL, 0);
	if (t && off_cpu_is_busy(t))
		n_busy++;
	else if (t)
		settle(t, 0, bpf_ktime_get_ns());
	return 0;
}

#endif /* QPROF_PROCESSES_H */
