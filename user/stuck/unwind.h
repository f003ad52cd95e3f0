/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the calls that a thread is in, with libdw, from the copied stack and the unwind tables of
 * the files that the process has mapped.
 */
#ifndef QPROF_STUCK_UNWIND_H
#define QPROF_STUCK_UNWIND_H

#include "capture/look.h"
#include "stuck/stopped.h"

struct unwinder;

#define CALL_PRESERVED 6

struct call {
	uint64_t pc;	  /* in the call instruction; of the innermost call, the thread's pc */
	uint64_t sp;	  /* of this function at the pc */
	const char *path; /* of the file that contains the pc, owned by the unwinder; NULL: none */
	uint64_t addr;	  /* the pc as an ELF address of that file */
	/* The registers that functions preserve, at the pc: rbx, rbp, r12 to r15. */
	uint64_t preserved[CALL_PRESERVED];
	uint32_t known; /* a bit for each */
	uint64_t key;	/* for the caller of unwinder__walk() */
};

struct calls {
	struct call *items; /* the innermost first */
	uint32_t n, capacity;
	bool whole;	  /* the walk found no further call, though memory may have been missing */
	uint64_t missing; /* address of memory that the walk needs and that was not copied; or 0 */
};

/* The most calls of a thread; outer ones are left out. */
#define UNWIND_MOST 20000

/*
 * For the threads of process `pid`. `look` opens the process's files, and must outlive the
 * unwinder. 0 or a negative errno.
 */
int unwinder__new(pid_t pid, struct look *look, struct unwinder **out);

/* Read the mappings again, because the process may have mapped a library since. */
int unwinder__refresh(struct unwinder *u);

/* Unwind the copied stack of one thread. The caller clears `out` in any case. */
int unwinder__walk(struct unwinder *u, const struct stopped *s, struct calls *out);

/* The mangled symbol that contains an address, owned by the unwinder; or NULL. Slow. */
const char *unwinder__symbol(struct unwinder *u, uint64_t pc);

void calls__clear(struct calls *c);
#define _calls_ __cleanup(calls__clear)

void unwinder__free(struct unwinder *u);
DEFINE_CLEANUP(struct unwinder, unwinder__free)
#define _unwinder_ __cleanup(unwinder__free_p)

#endif /* QPROF_STUCK_UNWIND_H */
