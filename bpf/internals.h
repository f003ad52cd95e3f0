/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel internals that the programs use, all in one place. `make
 * kernels` tries it on 6.1, 6.12, 6.18 and 7.3, on x86-64. A trial of an earlier version also found
 * it on 6.8, 6.19, 7.0 and 7.2.
 *
 * Fields, whose offsets CO-RE finds when a program is loaded. One that a kernel does not have turns
 * off its feature: the test below is a constant by then, and the verifier drops the read.
 *
 *   task_struct.pid, .tgid                  without them nothing can be followed
 *   mm_struct.arg_start, .arg_end           WIRE_MISSING_ARGUMENTS
 *   signal_struct.live                      WIRE_MISSING_LAST_THREAD
 *   signal_struct.flags, .group_exit_code,
 *   task_struct.exit_code, .group_leader    WIRE_MISSING_STATUS
 *   vm_area_struct.vm_start, .vm_end        WIRE_MISSING_STACKS
 *   signal_struct.maxrss                    without it the peak of memory is unknown
 *   signal_struct.sum_sched_runtime,
 *   task_struct.se.sum_exec_runtime         without them CPU times of processes are unknown
 *   signal_struct.oom_mm                    without it a kill for want of memory is like others
 *   task_struct.self_exec_id,
 *   .start_boottime                         without them `stuck` shows no names
 *   task_struct.thread.fsbase               without it definitions have no names
 *   vm_area_struct.vm_pgoff                 without it those of compilers that are killed have none
 *   k_sigaction.sa.sa_handler               without it only SIGKILL is known to kill
 *   vm_area_struct.vm_file, file.f_inode    without them libraries are known by device and inode
 *                                           number
 *   inode.i_ino, .i_size, .i_sb, a ctime,
 *   super_block.s_dev, mm_struct.exe_file   without them only the user half knows what a compiler
 *                                           has mapped
 *   mm_struct.context.vdso                  without it the same of the vdso
 *   vm_area_struct.vm_userfaultfd_ctx,
 *   super_block.s_magic, .s_type,
 *   file_system_type.fs_flags               without them no page that is not there is waited for
 *
 * Arguments of tracepoints, which the kernel may change, though it rarely does:
 *
 *   tp_btf sched_process_fork(parent, child)
 *   raw_tp sched_process_exec(task, ...)
 *   raw_tp sched_process_exit(task, group_dead); the second since 6.16, when the record of the
 *          tracepoint got a field of this name. The task is the current one
 *   raw_tp signal_deliver(signal, info, k_sigaction)
 *   tp_btf sched_switch(preempt, prev, next, prev_state); prev_state since 5.18. A kernel whose
 *          types do not describe it records without times off the CPU (user/capture/kernel_load.c).
 *
 * Functions: bpf_preempt_disable() and bpf_preempt_enable(), if they exist. Without them, with
 * preemption and many threads, a hit may find no storage and is counted as lost.
 *
 * Numbers: TASK_UNINTERRUPTIBLE, TASK_STOPPED, TASK_TRACED, TASK_DEAD, SIGNAL_GROUP_EXIT,
 * FS_REQUIRES_DEV, and ENOENT from bpf_find_vma() (STACK_NOT_MAPPED in stack.h).
 */
#ifndef QPROF_INTERNALS_H
#define QPROF_INTERNALS_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "qprof/wire.h"

/* Bits of a task's state. */
#define TASK_UNINTERRUPTIBLE 2
#define TASK_STOPPED	     4
#define TASK_TRACED	     8
#define TASK_DEAD	     0x80
/* A bit of signal_struct.flags. */
#define SIGNAL_GROUP_EXIT 4

#define internals_has_arguments()                              \
	(bpf_core_field_exists(struct mm_struct, arg_start) && \
	 bpf_core_field_exists(struct mm_struct, arg_end))
#define internals_has_last_thread() bpf_core_field_exists(struct signal_struct, live)
#define internals_has_status()                                           \
	(bpf_core_field_exists(struct signal_struct, flags) &&           \
	 bpf_core_field_exists(struct signal_struct, group_exit_code) && \
	 bpf_core_field_exists(struct task_struct, group_leader) &&      \
	 bpf_core_field_exists(struct task_struct, exit_code))
#define internals_has_stacks()                                     \
	(bpf_core_field_exists(struct vm_area_struct, vm_start) && \
	 bpf_core_field_exists(struct vm_area_struct, vm_end))

/*
 * Since 6.10. libbpf before 1.2 gives a kernel function no address, so the list that the verifier
 * keeps of them is asked as well.
 */
extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;

enum special_kfunc_type {
	KF_bpf_preempt_disable = 1,
};

#define internals_can_disable_preemption() \
	(bpf_preempt_disable ||            \
	 bpf_core_enum_value_exists(enum special_kfunc_type, KF_bpf_preempt_disable))

/* enum wire_missing. */
static __always_inline __u32 internals_missing(void)
{
	return (internals_has_arguments() ? 0 : WIRE_MISSING_ARGUMENTS) |
	       (internals_has_last_thread() ? 0 : WIRE_MISSING_LAST_THREAD) |
	       (internals_has_status() ? 0 : WIRE_MISSING_STATUS) |
	       (internals_has_stacks() ? 0 : WIRE_MISSING_STACKS);
}

/* Where the arguments of the task's program are in its memory. */
static __always_inline void internals_arguments(struct task_struct *task, __u64 *start, __u64 *end)
{
	*start = *end = 0;
	if (!internals_has_arguments())
		return;
	*start = BPF_CORE_READ(task, mm, arg_start);
	*end = BPF_CORE_READ(task, mm, arg_end);
}

/*
 * For wire_exit. The kernel takes the peak of a memory when an exec replaces it, and when the last
 * thread of a process exits, before the tracepoints of both. 0: not yet, or there is no such field.
 */
static __always_inline __u32 internals_peak_kib(struct task_struct *task)
{
	__u64 kib;

	if (!bpf_core_field_exists(struct signal_struct, maxrss))
		return 0;
	kib = BPF_CORE_READ(task, signal, maxrss) * (4096 / 1024);
	return kib < (__u32)-1 ? kib : 0;
}

/*
 * CPU time of all threads of the current process, where it executes a program or its last thread
 * exits: of those that are gone, of the current one up to its last tick, and of a main thread that
 * exited first, which stays until its parent waits. 0: there are no such fields.
 */
static __always_inline __u64 internals_cpu_ns(struct task_struct *task)
{
	struct task_struct *leader;
	__u64 ns;

	if (!bpf_core_field_exists(struct signal_struct, sum_sched_runtime) ||
	    !bpf_core_field_exists(struct task_struct, se.sum_exec_runtime) ||
	    !bpf_core_field_exists(struct task_struct, group_leader))
		return 0;
	leader = BPF_CORE_READ(task, group_leader);
	ns = BPF_CORE_READ(task, signal, sum_sched_runtime) +
	     BPF_CORE_READ(task, se.sum_exec_runtime);
	return leader == task ? ns : ns + BPF_CORE_READ(leader, se.sum_exec_runtime);
}

/* As wait(2) reports it. For a process that is ending, from any of its threads. */
static __always_inline __u32 internals_exit_code(struct task_struct *task)
{
	if (!internals_has_status())
		return 0;
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(task, signal, group_exit_code);
	return BPF_CORE_READ(task, group_leader, exit_code);
}

/*
 * Whether the kernel chose the current process to be killed, as memory had run out: of the machine,
 * or of a control group. It marks the process when it does so, before it sends the signal. The
 * tracepoint oom:mark_victim reports the same to the programs that are attached to it.
 */
static __always_inline __u8 internals_kill(struct task_struct *task)
{
	if (!bpf_core_field_exists(struct signal_struct, oom_mm))
		return WIRE_KILL_UNKNOWN;
	return BPF_CORE_READ(task, signal, oom_mm) ? WIRE_KILL_MEMORY : WIRE_KILL_OTHER;
}

/*
 * The program that a task runs. exec() counts before it releases signal->exec_update_lock, which
 * each access to the memory of another process takes.
 */
static __always_inline void internals_program(struct task_struct *task, __u64 *process_ns,
					      __u64 *execs)
{
	if (!bpf_core_field_exists(struct task_struct, self_exec_id) ||
	    !bpf_core_field_exists(struct task_struct, start_boottime) ||
	    !bpf_core_field_exists(struct task_struct, group_leader))
		return;
	*process_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	*execs = BPF_CORE_READ(task, self_exec_id);
}

/* True if the exiting thread is among the last of its process; without the field, if it is the main
 * thread. */
static __always_inline bool internals_is_last_thread(struct task_struct *task)
{
	if (!internals_has_last_thread()) {
		__u64 id = bpf_get_current_pid_tgid();

		return (__u32)id == id >> 32;
	}
	return !BPF_CORE_READ(task, signal, live.counter);
}

/*
 * The tracepoint of an exit comes while the process has its memory. One change of Linux 6.16 moved
 * it there and gave it `group_dead`.
 */
static __always_inline bool internals_exits_have_memory(void)
{
	return bpf_core_field_exists(struct trace_event_raw_sched_process_exit, group_dead);
}

/*
 * The same at the tracepoint. Since 6.16 it is told, to one thread of a process only. Where it is
 * not, two threads that exit together may both be told; the earlier one may have no peak yet.
 */
static __always_inline bool internals_is_last_exit(const struct bpf_raw_tracepoint_args *ctx)
{
	if (internals_exits_have_memory())
		return ctx->args[1] & 1;
	return internals_is_last_thread(bpf_get_current_task_btf());
}

/* The base of the thread-local memory of the current thread; 0 if this kernel has no such field. */
static __always_inline __u64 internals_fs_base(void)
{
	if (!bpf_core_field_exists(struct task_struct, thread.fsbase))
		return 0;
	return BPF_CORE_READ((struct task_struct *)bpf_get_current_task_btf(), thread.fsbase);
}

struct segment {
	__u64 lo;
	__u64 hi;
};

/* A callback of bpf_find_vma(). */
static long internals_note_segment(struct task_struct *task, struct vm_area_struct *vma,
				   struct segment *seg)
{
	if (!internals_has_stacks())
		return 0;
	seg->lo = vma->vm_start;
	seg->hi = vma->vm_end;
	return 0;
}

struct code_mapping {
	__u64 start;
	__u64 page; /* of the file, at `start` */
};

/* A callback of bpf_find_vma(). */
static long internals_note_code(struct task_struct *task, struct vm_area_struct *vma,
				struct code_mapping *m)
{
	if (!bpf_core_field_exists(struct vm_area_struct, vm_pgoff) || !internals_has_stacks())
		return 0;
	m->start = vma->vm_start;
	m->page = BPF_CORE_READ(vma, vm_pgoff);
	return 0;
}

/* Addresses in the mapping that holds `ip`, less the offsets in its file; 0: unknown now. */
static __always_inline __u64 internals_bias(__u64 ip)
{
	struct code_mapping m = {};

	if (bpf_find_vma(bpf_get_current_task_btf(), ip, internals_note_code, &m, 0))
		return 0;
	return m.start - m.page * 4096;
}

#define internals_has_file_keys()                                  \
	(bpf_core_field_exists(struct vm_area_struct, vm_file) &&  \
	 bpf_core_field_exists(struct vm_area_struct, vm_pgoff) && \
	 bpf_core_field_exists(struct mm_struct, exe_file) &&      \
	 bpf_core_field_exists(struct file, f_inode) &&            \
	 bpf_core_field_exists(struct inode, i_ino) &&             \
	 bpf_core_field_exists(struct inode, i_size) &&            \
	 bpf_core_field_exists(struct inode, i_sb) &&              \
	 bpf_core_field_exists(struct super_block, s_dev) &&       \
	 (bpf_core_field_exists(struct inode, i_ctime_sec) ||      \
	  bpf_core_field_exists(struct inode, __i_ctime) ||        \
	  bpf_core_field_exists(struct inode, i_ctime)))

/* From 6.13 on the kernel sets this bit of the nanoseconds when a process reads the time. */
#define CTIME_QUERIED (1u << 31)

static __always_inline void internals_ctime(struct inode *inode, struct wire_file_key *key)
{
	if (bpf_core_field_exists(struct inode, i_ctime_sec)) {
		key->ctime_s = BPF_CORE_READ(inode, i_ctime_sec);
		key->ctime_ns = BPF_CORE_READ(inode, i_ctime_nsec) & ~CTIME_QUERIED;
	} else if (bpf_core_field_exists(struct inode, __i_ctime)) {
		key->ctime_s = BPF_CORE_READ(inode, __i_ctime.tv_sec);
		key->ctime_ns = BPF_CORE_READ(inode, __i_ctime.tv_nsec);
	} else if (bpf_core_field_exists(struct inode, i_ctime)) {
		key->ctime_s = BPF_CORE_READ(inode, i_ctime.tv_sec);
		key->ctime_ns = BPF_CORE_READ(inode, i_ctime.tv_nsec);
	}
}

/* Nonzero, and *key is all zeroes: there is no file, or this kernel does not show what it is. */
static __always_inline int internals_file_key(struct file *file, struct wire_file_key *key)
{
	struct inode *inode;

	__builtin_memset(key, 0, sizeof(*key));
	if (!internals_has_file_keys() || !file)
		return 1;
	inode = BPF_CORE_READ(file, f_inode);
	key->ino = BPF_CORE_READ(inode, i_ino);
	key->size = BPF_CORE_READ(inode, i_size);
	key->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	internals_ctime(inode, key);
	return 0;
}

/* The program of the current process. */
static __always_inline int internals_program_key(struct wire_file_key *key)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();

	return internals_file_key(
		internals_has_file_keys() ? BPF_CORE_READ(task, mm, exe_file) : NULL, key);
}

static __always_inline int internals_is_vdso(struct task_struct *task, __u64 start)
{
	return bpf_core_field_exists(struct mm_struct, context.vdso) &&
	       (__u64)BPF_CORE_READ(task, mm, context.vdso) == start;
}

/*
 * The offset of a mapping in its file, and the key of the file. Nonzero: the mapping is neither of
 * a file with an inode number, nor the vdso.
 */
static __always_inline int internals_mapped_file(struct task_struct *task,
						 struct vm_area_struct *vma, __u64 *offset,
						 struct wire_file_key *key)
{
	*offset = 0;
	if (internals_file_key(BPF_CORE_READ(vma, vm_file), key))
		return !internals_is_vdso(task, BPF_CORE_READ(vma, vm_start));
	*offset = BPF_CORE_READ(vma, vm_pgoff) * 4096;
	return !key->ino;
}

/* A bit of file_system_type.fs_flags: its files are on a disk. */
#define FS_REQUIRES_DEV 1
/* The type of a file in inode.i_mode. */
#define FILE_TYPE    0170000
#define FILE_REGULAR 0100000
/*
 * Numbers in super_block.s_magic. /dev has the first, too, and its devices serve their pages. FUSE
 * may have a disk too, and its server beside it.
 */
#define TMPFS_MAGIC	 0x01021994
#define FUSE_SUPER_MAGIC 0x65735546

#define internals_has_backing()                                              \
	(bpf_core_field_exists(struct vm_area_struct, vm_userfaultfd_ctx) && \
	 bpf_core_field_exists(struct vm_area_struct, vm_end) &&             \
	 bpf_core_field_exists(struct vm_area_struct, vm_file) &&            \
	 bpf_core_field_exists(struct file, f_inode) &&                      \
	 bpf_core_field_exists(struct inode, i_sb) &&                        \
	 bpf_core_field_exists(struct inode, i_mode) &&                      \
	 bpf_core_field_exists(struct super_block, s_magic) &&               \
	 bpf_core_field_exists(struct super_block, s_type) &&                \
	 bpf_core_field_exists(struct file_system_type, fs_flags))

struct backing {
	__u64 end; /* of what is read */
	__u64 is_local;
};

/*
 * A callback of bpf_find_vma(): whether the pages up to the end come from memory, swap or a disk. A
 * server, of FUSE or in a network, may never send one, nor may a handler of userfaultfd.
 */
static long internals_note_backing(struct task_struct *task, struct vm_area_struct *vma,
				   struct backing *b)
{
	struct super_block *sb;
	struct inode *inode;
	struct file *file;

	if (!internals_has_backing() || b->end > vma->vm_end)
		return 0;
	if (bpf_core_field_exists(struct vm_userfaultfd_ctx, ctx) && vma->vm_userfaultfd_ctx.ctx)
		return 0;
	file = vma->vm_file;
	if (!file) {
		b->is_local = 1;
		return 0;
	}
	inode = file->f_inode;
	sb = inode->i_sb;
	b->is_local = (sb->s_magic == TMPFS_MAGIC && (inode->i_mode & FILE_TYPE) == FILE_REGULAR) ||
		      (sb->s_magic != FUSE_SUPER_MAGIC && sb->s_type->fs_flags & FS_REQUIRES_DEV);
	return 0;
}

/* Signals whose default is to go on, or to stop: CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH. */
#define SIGNALS_HARMLESS \
	(1u << 17 | 1u << 18 | 1u << 19 | 1u << 20 | 1u << 21 | 1u << 22 | 1u << 23 | 1u << 28)
#define SIGNAL_KILL 9

/* True if the delivery of `signal` ends the process. */
static __always_inline int internals_kills(__u32 signal, const struct k_sigaction *action)
{
	if (signal == SIGNAL_KILL)
		return 1;
	if (!bpf_core_field_exists(struct k_sigaction, sa.sa_handler))
		return 0;
	return !BPF_CORE_READ(action, sa.sa_handler) &&
	       (signal >= 32 || !(SIGNALS_HARMLESS >> signal & 1));
}

/* True if not only the current thread ends, but its process. */
static __always_inline int internals_process_ends(struct task_struct *task)
{
	if (internals_has_status() && BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		return 1;
	return internals_is_last_thread(task);
}

#endif /* QPROF_INTERNALS_H */
