/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How a plan is proven, and read from a store, for plan__load() and jobs (job.h). */
#ifndef QPROF_PLAN_LOAD_H
#define QPROF_PLAN_LOAD_H

#include "plan/library/file.h"
#include "plan/plan.h"

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

#endif /* QPROF_PLAN_LOAD_H */
