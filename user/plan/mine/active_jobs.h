/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a compiler keeps of the queries that run: each thread has an ImplicitCtxt, which holds the
 * number of the thread's innermost query, its *job*; and each query has a table of its active jobs,
 * by key. A body fills in both, as in 1.95:
 *
 *	mov	SLOT(%rip), %rax		the thread's ImplicitCtxt
 *	mov	%fs:(%rax), %rax
 *	cmp	%tcx, 0x10(%rax)		its context
 *	mov	0x18(%rax), %rax		the job around
 *	...
 *	lock xadd %rbp, 0x1eda8(%tcx)		a new job
 *	...
 *	mov	%key, -0x28(%rcx,%rax,8)	an entry of the table, which begins with
 *	mov	%rbp, -0x20(%rcx,%rax,8)	the lowest of these
 *	mov	%around, -0x10(%rcx,%rax,8)
 */
#ifndef QPROF_PLAN_MINE_ACTIVE_JOBS_H
#define QPROF_PLAN_MINE_ACTIVE_JOBS_H

#include "plan/plan.h"

/* Read off one body. */
struct active_jobs {
	struct plan_job_entry entry;
	uint32_t current; /* the job that the thread executes, within the ImplicitCtxt */
	uint8_t ctrl;	  /* as in struct plan_jobs, if has_table */
	uint8_t mask;
	bool has_table;
};

/*
 * Mine the body at `entry`. `slot`: as in struct wire_layout_current. 0 and *problem, which is NULL
 * or a static text that says what was not found; *out is then untouched. -ENOMEM.
 */
int active_jobs_mine(const struct elf_image *img, uint64_t entry, uint64_t slot,
		     struct active_jobs *out, const char **problem);

/*
 * An entry is a key and the state of its execution. `state` is one without a key: what is left of
 * `entry`, whose key no store has shown, is the key.
 */
void active_jobs_infer_key(struct plan_job_entry *entry, const struct plan_job_entry *state);

/*
 * How the tables of active jobs are read in a compiler's memory. False, and *out is untouched, if a
 * part of that is not known.
 */
bool active_jobs__tables(const struct plan *plan, struct wire_job_tables *out);

#endif /* QPROF_PLAN_MINE_ACTIVE_JOBS_H */
