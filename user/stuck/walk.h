/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the calls that a stopped thread is in, by the unwind tables of the files that its process
 * has mapped (docs/unwind.md).
 */
#ifndef QPROF_STUCK_WALK_H
#define QPROF_STUCK_WALK_H

#include "stuck/copied.h"
#include "stuck/stopped.h"
#include "capture/broker.h"
#include "unwind/table.h"

/*
 * The files whose code the watched processes have mapped: their unwind tables, and the names of
 * their functions. Each file is read once, however many processes have it.
 *
 * Tables come from the store, or children make them (unwind/job.h). No process is stopped for them.
 */

/*
 * Files, and bytes of tables and of symbols. Past them, files that no process uses are forgotten,
 * then no more are read.
 */
#define WALKED_FILES_MAX   512
#define WALKED_TABLES_MAX  (128u << 20)
#define WALKED_SYMBOLS_MAX (1u << 30)

struct walked_files;
struct walked_file;

int walked_files__new(struct broker *broker, struct walked_files **out);

/*
 * The file of a mapping, with a reference that the caller gives back, and its table begun. NULL: it
 * cannot be opened, or there are too many.
 */
struct walked_file *walked_files__get(struct walked_files *all, pid_t pid,
				      const struct mapped_files *maps,
				      const struct mapped_file *mapping);
void walked_file__release(struct walked_file *f);

/* Wait until the tables of all files are there, or until `until_ns` (CLOCK_MONOTONIC). */
void walked_files__wait(struct walked_files *all, uint64_t until_ns);

/* NULL: there is none, or not yet. */
const struct unwind_table *walked_file__table(const struct walked_file *f);

/* NULL: the kernel's vdso. */
const struct library_file *walked_file__file(const struct walked_file *f);

/* The mangled symbol of the function that contains an address, the file's; or NULL. */
const char *walked_file__symbol(struct walked_file *f, uint64_t addr);

void walked_files__free(struct walked_files *all);
DEFINE_CLEANUP(struct walked_files, walked_files__free)
#define _walked_files_ __cleanup(walked_files__free_p)

struct walker;

struct call {
	uint64_t pc; /* in the call instruction; of the innermost call, the thread's pc */
	uint64_t sp; /* of this function at the pc */
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
int walker__new(pid_t pid, struct broker *broker, struct walked_files *files, struct walker **out);

/*
 * Read the mappings again, because the process may have mapped a library since. A table that is not
 * there yet is waited for until `until_ns` (CLOCK_MONOTONIC).
 */
int walker__refresh(struct walker *w, uint64_t until_ns);

/* The calls of one thread. Valid until walker__refresh(). The caller clears `out` in any case. */
int walker__walk(const struct walker *w, const struct stopped *s, struct copied *memory,
		 struct calls *out);

void calls__clear(struct calls *c);

void walker__free(struct walker *w);
DEFINE_CLEANUP(struct walker, walker__free)
#define _walker_ __cleanup(walker__free_p)

#endif /* QPROF_STUCK_WALK_H */
