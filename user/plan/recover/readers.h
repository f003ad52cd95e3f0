/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions whose code shows where names of definitions are, and that libraries do not export: told
 * by what they do. What is mined from them is checked as if they had their names.
 */
#ifndef QPROF_PLAN_RECOVER_READERS_H
#define QPROF_PLAN_RECOVER_READERS_H

#include "plan/recover/recovered.h"

/* Of an image with symbols for all its functions. A function that several could be has no name. 0,
 * or -ENOMEM. */
int readers__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_READERS_H */
