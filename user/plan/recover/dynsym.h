/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The names of functions that a library exports: the only ones that it must keep. */
#ifndef QPROF_PLAN_RECOVER_DYNSYM_H
#define QPROF_PLAN_RECOVER_DYNSYM_H

#include "plan/recover/recovered.h"

/* A part of the name of the function that all cold sides ask for the number of their thread. */
#define DYNSYM_THREAD_NUMBER "9profiling13get_thread_id"

/*
 * Add them. The image must have no symbols yet; it has those of .dynsym afterwards. 0, also if
 * there are none, or -ENOMEM.
 */
int dynsym__recover(struct elf_image *img, struct recovered *out);

/*
 * The address of the first whole function with `part` in its name, of the image's symbols in their
 * order; 0 if there is none.
 */
uint64_t dynsym__function(struct elf_image *img, const char *part);

#endif /* QPROF_PLAN_RECOVER_DYNSYM_H */
