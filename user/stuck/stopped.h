/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A thread's registers and stack at one moment. The thread is stopped (ptrace) only while they are
 * copied; who looks at them later finds them consistent, however long that takes.
 *
 * If we are killed while it is stopped, the kernel lets it go on.
 */
#ifndef QPROF_STUCK_STOPPED_H
#define QPROF_STUCK_STOPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

/* By DWARF's numbers for x86-64: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip. */
#define STOPPED_REGISTERS 17
#define STOPPED_SP	  7
#define STOPPED_PC	  16
/* A thread may have grown its stack that often before the outermost ones are left out. */
#define STOPPED_STACKS 64
/* Of one stack, at most; as many as rustc's threads have. */
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
	struct stopped_stack stacks[STOPPED_STACKS]; /* the first is the one that it was on */
	size_t n_stacks;
	uint64_t ns; /* from when it was told to stop until it went on */
};

/* What to do while it is stopped. An error is returned by stopped__take(). */
typedef int (*stopped_fn)(void *ctx, pid_t tid);

/*
 * Stop thread `tid` of process `pid`, copy, call `meanwhile` (or NULL), and let it go on. Besides
 * the stack that it is on, those of the addresses `also` are copied, from there on. One that waits
 * for what no signal ends, such as a disk, stops only after that, and so long we wait.
 * -ESRCH: it is gone. -EPERM: we may not, or a debugger does already. -EINTR: a signal came before
 * it stopped; we have to exit now, so that it does not stop for ever. Other negative errnos. Free
 * it in any case.
 */
int stopped__take(struct stopped *s, pid_t pid, pid_t tid, const uint64_t *also, size_t n_also,
		  stopped_fn meanwhile, void *ctx);

/* Eight bytes of what was copied. False if they were not. */
bool stopped__read(const struct stopped *s, uint64_t addr, uint64_t *value);

void stopped__clear(struct stopped *s);
#define _stopped_ __cleanup(stopped__clear)

#endif /* QPROF_STUCK_STOPPED_H */
