/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The names of functions that a library exports: the only ones that it must keep. */
#ifndef QPROF_PLAN_RECOVER_DYNSYM_H
#define QPROF_PLAN_RECOVER_DYNSYM_H

#include "plan/recover/recovered.h"

/*
 * Add them. The image must have no symbols yet; it has those of .dynsym afterwards. 0, also if
 * there are none, or -ENOMEM.
 */
int dynsym__recover(struct elf_image *img, struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_DYNSYM_H */
