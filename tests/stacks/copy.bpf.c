// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The program that takes samples, and after each one a copy of the registers and the stack that it
 * was made of, for another unwinder.
 */
#include "sampling.h"

#include "copy.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* In page 0: a thread that exits has no memory, and is of no use. */
volatile __u64 n_without;

static long copy_page(__u32 i, void *p)
{
	struct copy *c = *(struct copy **)p;
	__u32 at = i & (COPY_PAGES - 1);

	if (bpf_probe_read_user(c->bytes + COPY_PAGE * at, COPY_PAGE,
				(void *)(c->from + COPY_PAGE * at)))
		return 1;
	c->pages = at + 1;
	return 0;
}

static __always_inline void copy_registers(struct copy *c, const struct pt_regs *r)
{
	c->registers[0] = r->ax;
	c->registers[1] = r->dx;
	c->registers[2] = r->cx;
	c->registers[3] = r->bx;
	c->registers[4] = r->si;
	c->registers[5] = r->di;
	c->registers[6] = r->bp;
	c->registers[7] = r->sp;
	c->registers[8] = r->r8;
	c->registers[9] = r->r9;
	c->registers[10] = r->r10;
	c->registers[11] = r->r11;
	c->registers[12] = r->r12;
	c->registers[13] = r->r13;
	c->registers[14] = r->r14;
	c->registers[15] = r->r15;
	c->registers[16] = r->ip;
}

SEC("perf_event")
int sample_and_copy(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32;
	struct copy *c;

	if (!enabled || !bpf_map_lookup_elem(&mappings, &pid))
		return 0;
	sample_take(ctx, WIRE_SAMPLE_CPU, 1);
	c = bpf_ringbuf_reserve(&ring, sizeof(*c), 0);
	if (!c) {
		__sync_fetch_and_add(&n_without, 1);
		return 0;
	}
	c->type = COPY_TYPE;
	c->pid = pid;
	c->tid = (__u32)id;
	c->pages = 0;
	copy_registers(c, (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()));
	c->from = c->registers[7] & ~(COPY_PAGE - 1ull);
	bpf_loop(COPY_PAGES, copy_page, &c, 0);
	bpf_ringbuf_submit(c, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* The processes that are followed are all below one. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 ppid = parent->tgid, cpid = child->tgid, target = TARGET;

	if (ppid != cpid && bpf_map_lookup_elem(&targets, &ppid))
		bpf_map_update_elem(&targets, &cpid, &target, BPF_ANY);
	return 0;
}
