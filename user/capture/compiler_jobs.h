/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The queries that a compiler runs, by the numbers that it gives them: read from its tables of
 * active jobs, as bpf/jobs.h does. A number is never given twice in a context, so what a table has
 * of a job is right whenever it is read.
 *
 * All of it is the compiler's memory, and may hold anything: so many buckets and entries are read,
 * a table whose query has not the name that the plan says is left out, and so is an entry that
 * changes while it is read.
 */
#ifndef QPROF_COMPILER_JOBS_H
#define QPROF_COMPILER_JOBS_H

#include "capture/compiler_names.h"

/* Limits of one compiler. */
#define COMPILER_JOBS_MAX     16384
#define COMPILER_JOBS_TABLE   (1u << 15) /* buckets of a table */
#define COMPILER_JOBS_BUCKETS (1u << 20) /* of all tables */

struct compiler_job {
	uint64_t number;
	uint64_t parent; /* the job around; 0: none */
	uint64_t key;	 /* wire_key(); 0: none, or not known */
	uint32_t query;
};

/* All zeroes is empty. */
struct compiler_jobs {
	struct compiler_job *items; /* by number */
	uint32_t n, capacity;
	uint64_t current; /* that the thread executes; 0: none */
	uint64_t context; /* the word that an ImplicitCtxt has ... */
	uint64_t number;  /* ... so far below the number of its job */
};

/*
 * Read the jobs of the compiler that a thread works in: `bias` is the library's, `fs` the base of
 * its thread-local memory. `tables`: active_jobs__tables() of the plan. -ENOENT: the thread works
 * in none; -E2BIG: a compiler has fewer jobs; -ENOMEM, or the error of a read. The caller clears
 * *out in any case.
 */
int compiler_jobs__read(const struct compiler_memory *m, const struct plan *plan,
			const struct wire_job_tables *tables, uint64_t bias, uint64_t fs,
			struct compiler_jobs *out);

/* The job with this number, or NULL. */
const struct compiler_job *compiler_jobs__find(const struct compiler_jobs *jobs, uint64_t number);

void compiler_jobs__clear(struct compiler_jobs *jobs);
#define _compiler_jobs_ __cleanup(compiler_jobs__clear)

#endif /* QPROF_COMPILER_JOBS_H */
