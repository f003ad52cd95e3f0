/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies a thread's registers and stack. The thread is in a ptrace stop only during the copy, so
 * the result is consistent and can be read at any later time.
 *
 * If we are killed during the stop, the kernel lets the thread continue.
 */
#ifndef QPROF_STUCK_STOPPED_H
#define QPROF_STUCK_STOPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

/* The DWARF numbers of x86-64: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip. */
#define STOPPED_REGISTERS 17
#define STOPPED_SP	  7
#define STOPPED_PC	  16
/* The most stacks copied of a thread that switches stacks; the outermost are left out. */
#define STOPPED_STACKS 64
/* The most bytes copied of one stack; as large as the stacks of rustc's threads. */
#define STOPPED_STACK_BYTES (8u << 20)

/* A part of the thread's memory, from an address to the end of its mapping. */
struct stopped_stack {
	uint64_t addr;
	uint64_t size;
	uint8_t *bytes;
};

struct stopped {
	pid_t pid, tid;
	uint64_t registers[STOPPED_REGISTERS];
	uint64_t fs_base;			     /* of its thread-local memory */
	struct stopped_stack stacks[STOPPED_STACKS]; /* the first is the current stack */
	size_t n_stacks;
	uint64_t ns; /* from the stop request to the detach */
};

/* Called during the ptrace stop. stopped__take() returns its error. */
typedef int (*stopped_fn)(void *ctx, pid_t tid);

/*
 * Stop thread `tid` of process `pid`, copy, call `meanwhile` (or NULL), and let the thread
 * continue. Copies the current stack, and the stacks of the addresses `also` from there on. A
 * thread of our own does all this, and calls `meanwhile`. -EBUSY: the thread did not stop within 2
 * s, because it waits uninterruptibly (a disk, the child of a vfork()); it continues. -ESRCH: it is
 * gone. -EPERM: no permission, or another debugger is attached. Other negative errnos. The caller
 * clears `s` in any case.
 */
int stopped__take(struct stopped *s, pid_t pid, pid_t tid, const uint64_t *also, size_t n_also,
		  stopped_fn meanwhile, void *ctx);

/* Read eight copied bytes. False if they were not copied. */
bool stopped__read(const struct stopped *s, uint64_t addr, uint64_t *value);

void stopped__clear(struct stopped *s);
#define _stopped_ __cleanup(stopped__clear)

#endif /* QPROF_STUCK_STOPPED_H */
