/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the calls that a stopped thread is in, by the unwind tables of the files that its process
 * has mapped (docs/unwind.md).
 */
#ifndef QPROF_STUCK_WALK_H
#define QPROF_STUCK_WALK_H

#include "stuck/copied.h"
#include "stuck/stopped.h"
#include "stuck/walked_files.h"

struct walker;

struct call {
	uint64_t pc; /* in the call instruction; of the innermost call, the thread's pc */
	uint64_t sp; /* of this function at the pc */
	uint64_t bp;
	bool bp_lost;		  /* bp is unknown */
	struct walked_file *file; /* that contains the pc, the walker's; NULL: none */
	const char *path;	  /* of the file, the walker's; NULL: none */
	uint64_t addr;		  /* the pc as an ELF address of that file */
};

struct calls {
	struct call *items; /* the innermost first */
	uint32_t n, capacity;
	bool whole; /* the last one is the thread's first */
};

/* The most calls of a thread; outer ones are left out. */
#define WALK_MOST 20000

/* Both must outlive the walker of process `pid`. 0 or a negative errno. */
int walker__new(pid_t pid, struct look *look, struct walked_files *files, struct walker **out);

/*
 * Read the mappings again, because the process may have mapped a library since. A table that is not
 * there yet is waited for until `until_ns` (CLOCK_MONOTONIC).
 */
int walker__refresh(struct walker *w, uint64_t until_ns);

/* The calls of one thread. Valid until walker__refresh(). The caller clears `out` in any case. */
int walker__walk(const struct walker *w, const struct stopped *s, struct copied *memory,
		 struct calls *out);

/*
 * The value of a register at call `i`, by its number in struct cfa_preserved: an inner call has
 * saved it, or it is still there. False if that is not known. walker__find_preserved() finds out
 * more.
 */
bool calls__preserved(const struct calls *c, uint32_t i, unsigned int reg, const struct stopped *s,
		      struct copied *memory, uint64_t *value);

/* Find out where the calls within some calls have saved registers. `calls` are indices, rising. */
int calls__find_preserved(const struct calls *c, const uint32_t *calls, uint32_t n);

void calls__clear(struct calls *c);

void walker__free(struct walker *w);
DEFINE_CLEANUP(struct walker, walker__free)
#define _walker_ __cleanup(walker__free_p)

#endif /* QPROF_STUCK_WALK_H */
