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
#ifndef QPROF_STUCK_JOBS_H
#define QPROF_STUCK_JOBS_H

#include "stuck/copied.h"
#include "capture/compiler_names.h"

/* Limits of one compiler. */
#define STUCK_JOBS_MAX	   16384
#define STUCK_JOBS_TABLE   (1u << 15) /* buckets of a table */
#define STUCK_JOBS_BUCKETS (1u << 20) /* of all tables */

struct stuck_job {
	uint64_t number;
	uint64_t parent; /* the job around; 0: none */
	uint64_t key;	 /* wire_key(); 0: none, or not known */
	uint32_t query;
};

/* All zeroes is empty. */
struct stuck_jobs {
	struct stuck_job *items; /* by number */
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
int stuck_jobs__read(const struct compiler_memory *m, const struct plan *plan,
		     const struct wire_job_tables *tables, uint64_t bias, uint64_t fs,
		     struct stuck_jobs *out);

/*
 * The job of an execution whose body has the frame from `sp` up to `end`, where an ImplicitCtxt has
 * its number: `expected`, if it is there. Otherwise, as where the thread runs a part of another
 * one's query further in, the only job of `query` there. NULL: unknown.
 */
const struct stuck_job *stuck_jobs__in_frame(const struct stuck_jobs *jobs, struct copied *stack,
					     uint64_t sp, uint64_t end, uint32_t query,
					     uint64_t expected);

void stuck_jobs__clear(struct stuck_jobs *jobs);
#define _stuck_jobs_ __cleanup(stuck_jobs__clear)

#endif /* QPROF_STUCK_JOBS_H */
