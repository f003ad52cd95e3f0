/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the calls that a thread is in, with libdw, from a copy of its registers and of its stack,
 * and the unwind tables of the files that the process has mapped.
 */
#ifndef QPROF_TESTS_STACKS_LIBDW_WALK_H
#define QPROF_TESTS_STACKS_LIBDW_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The DWARF numbers of x86-64: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip. */
#define LIBDW_REGISTERS 17
#define LIBDW_PC	16

struct libdw_copy {
	pid_t tid;
	uint64_t registers[LIBDW_REGISTERS];
	uint64_t addr; /* of the copied bytes */
	uint64_t size;
	const uint8_t *bytes;
};

struct libdw_call {
	uint64_t pc;	  /* in the call instruction; of the innermost call, the thread's pc */
	const char *path; /* of the file that contains the pc, owned by the walker; NULL: none */
	uint64_t addr;	  /* the pc as an ELF address of that file */
};

struct libdw_calls {
	struct libdw_call *items; /* the innermost first */
	uint32_t n, capacity;
};

/* The most calls of a thread; outer ones are left out. */
#define LIBDW_MOST 20000

struct libdw_walker;

/* For the threads of process `pid`. 0 or a negative errno. */
int libdw_walker__new(pid_t pid, struct libdw_walker **out);

/* Read the mappings again, because the process may have mapped a library since. */
int libdw_walker__refresh(struct libdw_walker *w);

/* Unwind the copied stack of one thread. The caller clears `out` in any case. */
int libdw_walker__walk(struct libdw_walker *w, const struct libdw_copy *copy,
		       struct libdw_calls *out);

void libdw_calls__clear(struct libdw_calls *c);

#endif /* QPROF_TESTS_STACKS_LIBDW_WALK_H */
