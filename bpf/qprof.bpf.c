// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The programs of the kernel half. Their logic is in the headers: sites.h has what each role of
 * probe site does, processes.h the life of the followed processes, off_cpu.h the switches.
 *
 * Entry-style probes only. A return probe replaces the return address on the compiler's stack.
 * rustc unwinds for every error it reports, and would abort on a replaced address.
 */
#include "begun.h"
#include "environment.h"
#include "internals.h"
#include "job_waits.h"
#include "maps.h"
#include "names_dying.h"
#include "off_cpu.h"
#include "open_stacks.h"
#include "processes.h"
#include "sampling.h"
#include "sites.h"
#include "tick_counts.h"
#include "waits.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* The process that prepare_waits() is for, in the initial pid namespace. */
volatile __u32 prepare_tgid;

/* enum wire_missing, for the user half. */
__u32 missing;

/*
 * The kernel may have skipped both programs of a thread's exit, or one of them may have found no
 * storage (until 6.1), but the program of the thread's last switch is never skipped.
 */
static __always_inline bool exit_may_be_unseen(void)
{
	return knobs.again || !internals_can_disable_preemption();
}

/* The same for the user half, which attaches no program in vain. */
__u32 unseen_exits = 1;

/* Run once, after loading. */
SEC("syscall")
int find_missing(void *ctx)
{
	missing = internals_missing();
	unseen_exits = exit_may_be_unseen();
	return 0;
}

__u64 found_inode;
struct wire_file_key found_key;

static long note_inode(struct task_struct *task, struct vm_area_struct *vma, void *unused)
{
	struct wire_file_key key;

	if (bpf_core_field_exists(vma->vm_file) && bpf_core_field_exists(struct file, f_inode))
		found_inode = (__u64)BPF_CORE_READ(vma, vm_file, f_inode);
	internals_file_key(BPF_CORE_READ(vma, vm_file), &key);
	found_key = key;
	return 0;
}

/*
 * Find the inode behind our own mapping of a file, at an address: see kernel__inode_of() and
 * kernel__file_key().
 */
SEC("raw_tp")
int find_inode(struct bpf_raw_tracepoint_args *ctx)
{
	const struct wire_file_key none = {};

	found_inode = 0;
	found_key = none;
	return (int)bpf_find_vma(bpf_get_current_task_btf(), ctx->args[0], note_inode, NULL, 0);
}

/* The verifier leaves out a role whose sites are not attached. */
static __always_inline bool is_attached(__u32 role)
{
	return knobs.roles >> role & 1;
}

#define ROLE(role, call)                        \
	case role:                              \
		if (is_attached(role))          \
			return call(ctx, site); \
		break

/*
 * All sites but those that read labels. One program serves all roles, so that the verifier checks
 * what they share once: its work is most of the time that a recording takes to begin.
 */
SEC("uprobe/site")
int qprof_site(struct pt_regs *ctx)
{
	const struct wire_site *site = site_of_probe(ctx);

	if (!site)
		return 0;
	switch (site->role) {
		ROLE(WIRE_ROLE_START, site_start);
		ROLE(WIRE_ROLE_START_BODY, site_start);
		ROLE(WIRE_ROLE_WRAPPER, site_wrapper);
		ROLE(WIRE_ROLE_REQUEST, site_request);
		ROLE(WIRE_ROLE_IDENTIFY, site_identify);
		ROLE(WIRE_ROLE_END, site_end);
		ROLE(WIRE_ROLE_CAUGHT, site_caught);
		ROLE(WIRE_ROLE_GUARD_QUERY, site_guard_query);
		ROLE(WIRE_ROLE_GUARD_CALLED, site_guard_called);
		ROLE(WIRE_ROLE_GUARD_END, site_guard_end);
		ROLE(WIRE_ROLE_TIMER_END, site_timer_end);
		ROLE(WIRE_ROLE_HIT, site_hit);
	}
	return 0;
}

/* The sites that read a label from user memory: the read may sleep to fetch a page. */
SEC("uprobe.s/label_site")
int qprof_label_site(struct pt_regs *ctx)
{
	const struct wire_site *site = site_of_probe(ctx);

	if (!site)
		return 0;
	if (is_attached(WIRE_ROLE_TIMER) && site->role == WIRE_ROLE_TIMER)
		return site_timer(ctx, site);
	return is_attached(WIRE_ROLE_GUARD) ? site_guard(ctx, site) : 0;
}

/* May sleep too: a part of the compiler's tables may be swapped out. */
SEC("uprobe.s/drop_site")
int qprof_drop_site(struct pt_regs *ctx)
{
	const struct wire_site *site = site_of_probe(ctx);

	if (!site)
		return 0;
	return site->moment ? names_over(ctx, site) : names_fed(ctx, site);
}

/*
 * Fork, exec and exit have two programs each; the second does what the first has not done. The
 * kernel skips a program that is active on the CPU, and from 7.0 on these may be preempted: then
 * the first program of another thread is skipped, but hardly ever both. Before 7.0 only the first
 * ones are loaded.
 */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	return process_fork(parent, child, 0);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork_again, struct task_struct *parent, struct task_struct *child)
{
	return process_fork(parent, child, 1);
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	return process_exec(ctx, 0);
}

SEC("raw_tp/sched_process_exec")
int on_exec_again(struct bpf_raw_tracepoint_args *ctx)
{
	return process_exec(ctx, 1);
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	if (knobs.keys && !knobs.silent)
		names_exit();
	return process_end_thread(internals_is_last_exit(ctx));
}

SEC("raw_tp/sched_process_exit")
int on_exit_again(struct bpf_raw_tracepoint_args *ctx)
{
	return process_end_thread(internals_is_last_exit(ctx));
}

/* Any signal of any process. With keys only. */
SEC("raw_tp/signal_deliver")
int on_signal(struct bpf_raw_tracepoint_args *ctx)
{
	return names_signal(ctx->args[0], (void *)ctx->args[2]);
}

SEC("perf_event")
int sample_cpu(struct bpf_perf_event_data *ctx)
{
	return sample_take(ctx, WIRE_SAMPLE_CPU, knobs.sample_ns);
}

/* In its place, where no site is attached. */
SEC("perf_event")
int sample_cpu_and_count(struct bpf_perf_event_data *ctx)
{
	sample_take(ctx, WIRE_SAMPLE_CPU, knobs.sample_ns);
	return tick_counts();
}

SEC("perf_event")
int sample_fault(struct bpf_perf_event_data *ctx)
{
	return sample_take(ctx, WIRE_SAMPLE_FAULT, knobs.fault_bytes);
}

static __always_inline __u8 off_cpu_reason(bool preempt, unsigned int state)
{
	if (preempt || !state)
		return WIRE_OFF_PREEMPTED;
	return state & TASK_UNINTERRUPTIBLE ? WIRE_OFF_UNINTERRUPTIBLE : WIRE_OFF_WAITING;
}

/*
 * Runs at every switch of every CPU, with interrupts off. Only threads of followed processes have
 * storage: a new thread gets it in on_fork(), an older one at its first hit. Any other thread costs
 * only the look-up. An interval that began while the capture was enabled is ended even after it was
 * disabled.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct thread_stack *from = enabled ? bpf_task_storage_get(&stacks, prev, NULL, 0) : NULL;
	struct thread_stack *to = bpf_task_storage_get(&stacks, next, NULL, 0);
	__u32 waits = 0;
	__u64 now;

	if (!from && !to)
		return 0;
	now = bpf_ktime_get_ns();
	if (from)
		off_cpu_leave(from, off_cpu_reason(preempt, prev_state), now);
	if (from && knobs.job_wait_ns && wait_is_one(preempt, prev_state)) {
		job_wait_begin(from, now);
		waits = 1;
	}
	/* The kernel may have skipped both programs of the thread's exit, but never this one. */
	if (from && exit_may_be_unseen() && prev_state & TASK_DEAD)
		process_end_thread(internals_is_last_thread(prev));
	if (to)
		off_cpu_return(to, now);
	if (to && knobs.job_wait_ns && to->wait.since_ns) {
		job_wait_end(to, now);
		waits = 1;
	}
	if (waits)
		wait_count_time(now);
	return 0;
}

/* Without on_switch(): only what makes up for the exit of a thread. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_last_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	if (exit_may_be_unseen() && prev_state & TASK_DEAD &&
	    bpf_task_storage_get(&stacks, prev, NULL, 0))
		process_end_thread(internals_is_last_thread(prev));
	return 0;
}

/* With stacks of threads that wait. As on_switch(), it runs at every switch. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_wait, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct wait *from = enabled && wait_is_one(preempt, prev_state)
				    ? bpf_task_storage_get(&waits, prev, NULL, 0)
				    : NULL;
	struct wait *to = bpf_task_storage_get(&waits, next, NULL, 0);
	__u64 now;

	to = to && to->since_ns ? to : NULL;
	if (!from && !to)
		return 0;
	now = bpf_ktime_get_ns();
	if (from)
		wait_begin(from, now);
	if (to)
		wait_end(to, now);
	wait_count_time(now);
	return 0;
}

/* Read when a compiler was found that runs already. */
SEC("iter/task")
int prepare_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && (__u32)BPF_CORE_READ(task, tgid) == prepare_tgid)
		wait_prepare(task);
	return 0;
}

/*
 * Settles the threads that still run when the capture stops. Read after `enabled` was cleared,
 * until it finds no busy thread: a grace period of RCU does not wait for programs that may sleep.
 */
SEC("iter/task")
int flush_all(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_stack *t;

	if (!task)
		return 0;
	if (knobs.wait_ns)
		wait_end(bpf_task_storage_get(&waits, task, NULL, 0), bpf_ktime_get_ns());
	t = bpf_task_storage_get(&stacks, task, NULL, 0);
	if (knobs.job_wait_ns)
		job_wait_end(t, bpf_ktime_get_ns());
	if (t && off_cpu_is_busy(t))
		n_busy++;
	else if (t)
		process_settle_thread(t, 0, bpf_ktime_get_ns());
	return 0;
}

/* Read whenever snapshots of some threads are wanted. */
SEC("iter/task")
int show_open(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 tid;

	if (!task)
		return 0;
	tid = BPF_CORE_READ(task, pid);
	if (open_stack_is_wanted(tid))
		open_stack_send(task, bpf_task_storage_get(&stacks, task, NULL, 0), tid);
	return 0;
}

/* Read while a thread that ran before the capture is stopped. */
SEC("iter/task")
int put_begun(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && (__u32)BPF_CORE_READ(task, pid) == begun_tid)
		begun_put(task);
	return 0;
}
