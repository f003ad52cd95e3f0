/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few kernel types the BPF half touches, cut by hand. CO-RE finds the real offsets at load
 * time by name, so only names and types matter here. A full dump would be three megabytes. libbpf
 * compares the name of each type that is relocated with those of all of the kernel's types, which
 * takes more than a millisecond: have few.
 */
/* The guard is the name libbpf looks for: with it, PT_REGS_SP() uses the kernel's field names. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef int pid_t;
typedef _Bool bool;

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1 << 10,
};

enum {
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
};

enum {
	BPF_RB_AVAIL_DATA = 0,
};

#if defined(__TARGET_ARCH_x86)
/* UAPI layout: what a uprobe program gets as its context; not relocated. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip,
		cs, flags, sp, ss;
};
#endif

#if defined(__TARGET_ARCH_x86)
/* UAPI too: the context of a perf event's program. */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};
#endif

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

/* Likewise: the context of an iterator's program. */
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	void *vdso;
} mm_context_t;

struct file;

struct mm_struct {
	unsigned long arg_start, arg_end;
	mm_context_t context;
	struct file *exe_file;
};

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
	unsigned long maxrss;
	unsigned long long sum_sched_runtime;
	struct mm_struct *oom_mm;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct trace_event_raw_sched_process_exit {
	bool group_dead;
};

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	struct thread_struct thread;
	struct sched_entity se;
	struct mm_struct *mm;
	pid_t pid;
	pid_t tgid;
	int exit_code;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	__u64 start_boottime;
	__u64 self_exec_id;
	char comm[16];
};

struct file_system_type {
	int fs_flags;
};

struct super_block {
	unsigned int s_dev;
	unsigned long s_magic;
	struct file_system_type *s_type;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	long long i_size;
	struct super_block *i_sb;
	/* A kernel has one of these: until 6.5, until 6.10, since 6.11. */
	struct timespec64 i_ctime;
	struct timespec64 __i_ctime;
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
};

struct file {
	struct inode *f_inode;
};

/* Empty in a kernel without userfaultfd(2). */
struct vm_userfaultfd_ctx {
	void *ctx;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	struct file *vm_file;
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

#pragma clang attribute pop

#endif /* __VMLINUX_H__ */
