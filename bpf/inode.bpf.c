/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the inode behind a mapping of the calling process. A file on an overlay has an inode of its
 * own there, but its mappings, and uprobes, use the inode of the file below.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "Dual BSD/GPL";

volatile __u64 found;

static long read_inode(struct task_struct *task, struct vm_area_struct *vma, void *unused)
{
	found = (__u64)BPF_CORE_READ(vma, vm_file, f_inode);
	return 0;
}

SEC("raw_tp")
int find_inode(struct bpf_raw_tracepoint_args *ctx)
{
	found = 0;
	return (int)bpf_find_vma(bpf_get_current_task_btf(), ctx->args[0], read_inode, NULL, 0);
}
