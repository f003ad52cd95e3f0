/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls that a thread is in, from what was copied of it and the unwind tables of the files that
 * the process has mapped, by libdw.
 */
#ifndef QPROF_STUCK_UNWIND_H
#define QPROF_STUCK_UNWIND_H

#include "stuck/stopped.h"

struct unwinder;

struct call {
	uint64_t pc;	  /* in the call instruction, or where the innermost one is */
	uint64_t sp;	  /* of this function there */
	const char *path; /* of the file that the pc lies in; the unwinder's; NULL: in none */
	uint64_t addr;	  /* the pc as an ELF address of that file */
};

struct calls {
	struct call *items; /* the innermost first */
	uint32_t n, capacity;
	bool whole;	  /* nothing more was found; memory may have been missing all the same */
	uint64_t missing; /* memory that was not copied, and is wanted to go on; or 0 */
};

/* More are left out. */
#define UNWIND_MOST 20000

/* For threads of process `pid`. 0 or a negative errno. */
int unwinder__new(pid_t pid, struct unwinder **out);

/* Look again at what the process has mapped: a library may have come. */
int unwinder__refresh(struct unwinder *u);

/* What was taken of one of its threads. Clear it in any case. */
int unwinder__walk(struct unwinder *u, const struct stopped *s, struct calls *out);

/* The symbol that an address lies in, mangled, the unwinder's; or NULL. Slow. */
const char *unwinder__symbol(struct unwinder *u, uint64_t pc);

void calls__clear(struct calls *c);
#define _calls_ __cleanup(calls__clear)

void unwinder__free(struct unwinder *u);
DEFINE_CLEANUP(struct unwinder, unwinder__free)
#define _unwinder_ __cleanup(unwinder__free_p)

#endif /* QPROF_STUCK_UNWIND_H */
