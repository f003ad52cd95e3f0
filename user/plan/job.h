/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A child process (file_job.h) makes a plan while the caller goes on: it takes about a second. */
#ifndef QPROF_PLAN_JOB_H
#define QPROF_PLAN_JOB_H

#include "plan/library/file.h"
#include "plan/mine/hits.h"
#include "plan/plan.h"

struct plan_job;

/*
 * Begin to make the plan of `file`, at this nice value. The job keeps a reference; the child has
 * the descriptor. Negative errno; prints nothing.
 */
int plan_job__start(struct library_file *file, int nice, struct plan_job **out);

/*
 * As plan_job__start(), and look for the library's cache hits as well: they come with the plan, in
 * plan->hits. `plan` is one of this file that is proven already, for which only the hits are looked
 * for; NULL: the plan is made too. Takes `plan`, also on an error.
 */
int plan_job__start_hits(struct library_file *file, struct plan *plan, int nice,
			 struct plan_job **out);

/* Polls readable when there is something for plan_job__read() to do. */
int plan_job__fd(const struct plan_job *j);

/* As file_job__cpu_ns(). */
uint64_t plan_job__cpu_ns(const struct plan_job *j);

/*
 * Take the bytes that have arrived, without waiting. 1: plan_job__finish() will not wait long.
 * 0: not yet. -ETIME: the time is up; -EFBIG: the child sends too much; or another errno.
 */
int plan_job__read(struct plan_job *j);

/*
 * Wait for the plan, until its time is up, prove it on the file and store it. Hits that are not
 * proven are left out. Errors as plan__load(), printed by the child or here.
 */
int plan_job__finish(struct plan_job *j, struct plan **out);

/* A job that is not finished is given up: its child is killed. Returns within file_job_end_ns. */
void plan_job__free(struct plan_job *j);
DEFINE_CLEANUP(struct plan_job, plan_job__free)
#define _plan_job_ __cleanup(plan_job__free_p)

/* How a plan is proven, and read from a store. */

/*
 * Prove every site of `plan` on `file` (proof.h), which it then refers to. The file is read, not
 * mapped. -EBADMSG after one error line if they cannot be proven, or another errno.
 */
int plan_load__prove(struct library_file *file, struct plan *plan);

/* Prove a plan of the file once more. 0 if it still holds; prints nothing. */
int plan_load__check(struct library_file *file, const struct plan *plan);

/*
 * The plan of another file, proven on this one. -EBADMSG: this is no copy of it. Prints nothing.
 */
int plan_load__of_copy(struct library_file *file, const struct plan *plan, struct plan **out);

/*
 * The plan that a store holds of this file: proven again, unless root has proven it; then only the
 * code of each site is compared. -ENOENT if there is none, or an error of
 * elf_image__read(), printed.
 */
int plan_load__stored(struct library_file *file, struct plan **out);

#endif /* QPROF_PLAN_JOB_H */
