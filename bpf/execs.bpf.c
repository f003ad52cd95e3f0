/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports every exec on the machine, for systems where perf events do not report mappings. An
 * object of its own, which is loaded only there.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "qprof/wire.h"

char _license[] SEC("license") = "Dual BSD/GPL";

volatile __u64 n_lost;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10); /* 1,350 execs */
} execs SEC(".maps");

static __always_inline int send(void)
{
	struct wire_any_exec *e = bpf_ringbuf_reserve(&execs, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&n_lost, 1);
		return 0;
	}
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->pad = 0;
	e->time_ns = bpf_ktime_get_ns();
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int report_exec(struct bpf_raw_tracepoint_args *ctx)
{
	return send();
}

/* Twice, as the kernel may skip either (see on_fork in qprof.bpf.c). The user half counts two as
 * one. */
SEC("raw_tp/sched_process_exec")
int report_exec_again(struct bpf_raw_tracepoint_args *ctx)
{
	return send();
}
