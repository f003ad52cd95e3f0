/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of copy.bpf.c: follows the struct wire_sample of the same thread. */
#ifndef QPROF_TESTS_STACKS_COPY_H
#define QPROF_TESTS_STACKS_COPY_H

#include "qprof/wire_types.h"

#define COPY_TYPE 200
#define COPY_PAGE 4096
/* The function that runs a compilation has a frame of 540 KB. */
#define COPY_PAGES 256

struct copy {
	wire_u8 type;
	wire_u8 pad[3];
	wire_u32 pid, tid;
	wire_u32 pages; /* from `from` on; the ones behind were not resident */
	wire_u64 from;	/* address: the start of the page that rsp is in */
	/* In DWARF's order: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip. */
	wire_u64 registers[17];
	wire_u8 bytes[COPY_PAGES * COPY_PAGE];
};

#endif /* QPROF_TESTS_STACKS_COPY_H */
