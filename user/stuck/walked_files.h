/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The files whose code the watched processes have mapped: their unwind tables, and the names of
 * their functions. Each file is read once, however many processes have it.
 *
 * Tables come from the store, or children make them (unwind/job.h). No process is stopped for them.
 */
#ifndef QPROF_STUCK_WALKED_FILES_H
#define QPROF_STUCK_WALKED_FILES_H

#include "capture/look.h"
#include "plan/symbols/cfa.h"
#include "unwind/table.h"

/*
 * Files, and bytes of tables and of symbols. Past them, files that no process uses are forgotten,
 * then no more are read.
 */
#define WALKED_FILES_MAX    512
#define WALKED_TABLES_MAX   (128u << 20)
#define WALKED_SYMBOLS_MAX  (1u << 30)
#define WALKED_PRESERVED_MS 2000

struct walked_files;
struct walked_file;

int walked_files__new(struct look *look, struct walked_files **out);

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

/*
 * Find out for some addresses where the function there has saved registers: at most
 * UNWIND_PRESERVED_MAX, in rising order.
 */
void walked_file__find_preserved(struct walked_file *f, const uint64_t *addrs, uint32_t n);

/* The result of walked_file__find_preserved(); NULL: the address was not asked for. */
const struct cfa_preserved *walked_file__preserved(const struct walked_file *f, uint64_t addr);

void walked_files__free(struct walked_files *all);
DEFINE_CLEANUP(struct walked_files, walked_files__free)
#define _walked_files_ __cleanup(walked_files__free_p)

#endif /* QPROF_STUCK_WALKED_FILES_H */
