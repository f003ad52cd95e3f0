// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Measures the cost of one uprobe hit on this machine: calls a function whose first instruction is
 * a push, which the kernel emulates, with and without a probe on it, and prints the ns per hit. The
 * probe's program does nothing, so this is the floor for any profiler that uses uprobes.
 */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS	     400000
#define UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI; libbpf names it from 1.3 on */

/* The attributes of BPF_LINK_CREATE for a uprobe_multi link. */
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, multi_flags, pid, pad;
};

/* In assembly, because a compiler may begin a function with any instruction. */
void probed(void);
__asm__(".text\n"
	".globl probed\n"
	".type probed, @function\n"
	"probed:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n");

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static double ns_per_call(void)
{
	uint64_t start = now_ns();

	for (int i = 0; i < CALLS; i++)
		probed();
	return (double)(now_ns() - start) / CALLS;
}

/* The file offset of an address in this program's text; 0 if unknown. */
static uint64_t file_offset(const void *address)
{
	uint64_t at = (uint64_t)(uintptr_t)address, first, last, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &first, &last, &offset) ==
			    3 &&
		    at >= first && at < last)
			found = at - first + offset;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* Attach an empty program to one offset of this program; returns the link, or -1. */
static int attach(uint64_t offset)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)UPROBE_MULTI);
	int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "trap", "GPL", nothing, 2, &opts);
	struct link_create attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = UPROBE_MULTI,
		.path = (uintptr_t) "/proc/self/exe",
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};

	if (prog < 0)
		return -1;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

int main(void)
{
	double without = ns_per_call(), with;

	if (attach(file_offset((const void *)probed)) < 0) {
		perror("trap: cannot attach a uprobe_multi link");
		return 1;
	}
	ns_per_call(); /* the first hits set up the page */
	with = ns_per_call();
	printf("%.1f\n", with - without);
	return 0;
}
