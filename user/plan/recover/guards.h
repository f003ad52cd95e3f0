/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The function that drops a guard of rustc's profiler (mine/guard.h), which is not exported: most
 * functions that start a guard pass its address to this one.
 */
#ifndef QPROF_PLAN_RECOVER_GUARDS_H
#define QPROF_PLAN_RECOVER_GUARDS_H

#include "plan/recover/recovered.h"
#include "plan/symbols/known_symbols.h"

/*
 * Add its name, if it is found. `known` are the image's symbols, among them the cold sides'. 0 or
 * -ENOMEM.
 */
int recovered_guards__find(struct elf_image *img, const struct known_symbols *known,
			   struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_GUARDS_H */
