/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions whose code shows where names of definitions are, and that libraries do not export: a
 * run of each shows which it is. Facts mined from them are checked as if they had their names.
 */
#ifndef QPROF_PLAN_RECOVER_READERS_H
#define QPROF_PLAN_RECOVER_READERS_H

#include "plan/recover/recovered.h"

/*
 * Add their names, in an image with symbols for all its functions. If several functions could be
 * one of them, none gets the name. 0 or -ENOMEM.
 */
int readers__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_READERS_H */
