/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A plan made by a child of ours, while we go on: a library not seen before takes a good part of a
 * second, and one that is truncated meanwhile ends only who reads it.
 */
#ifndef QPROF_PLAN_JOB_H
#define QPROF_PLAN_JOB_H

#include "plan/plan.h"

struct plan_job;

/* Begin plan__load(path), at this nice value. Negative errno; nothing is printed. */
int plan_job__start(const char *path, int nice, struct plan_job **out);

/* Polls readable when there is something for plan_job__read() to do. */
int plan_job__fd(const struct plan_job *j);

/*
 * Take what is there, without waiting. 1: plan_job__finish() will not wait long; 0: not yet, or a
 * negative errno.
 */
int plan_job__read(struct plan_job *j);

/*
 * Wait for the plan. Errors are those of plan__load(), which the child has printed, or -EIO if it
 * died: printed here.
 */
int plan_job__finish(struct plan_job *j, struct plan **out);

/* One that is not finished is given up. */
void plan_job__free(struct plan_job *j);
DEFINE_CLEANUP(struct plan_job, plan_job__free)
#define _plan_job_ __cleanup(plan_job__free_p)

#endif /* QPROF_PLAN_JOB_H */
