/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of queries in a library without symbols. One function of the compiler makes the table
 * of all queries: for each its name, as text, its provider, and the wrapper by which it is
 * executed, which is one of two, as the process compiles incrementally or not. That function is
 * run (code/straight.h), once for each.
 *
 * A wrong name would not be noticed later. So every query needs all of these, each of its own; the
 * providers must use consecutive places of the table of functions that they call; and that table
 * must be of the same length where its defaults are set up.
 */
#ifndef QPROF_PLAN_RECOVER_VTABLES_H
#define QPROF_PLAN_RECOVER_VTABLES_H

#include "plan/recover/recovered.h"
#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"

/*
 * Add the wrappers and providers of all queries under the names that rustc gives them. 0 or
 * -ENOMEM. A constant string in *problem: nothing was added, and why.
 */
int vtables__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out,
		     const char **problem);

#endif /* QPROF_PLAN_RECOVER_VTABLES_H */
