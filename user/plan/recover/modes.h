/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which of a query's two wrappers is for incremental compiles is only known from a run of the
 * compiler's code (recover/vtables.h). The bodies show it, too: only those of incremental compiles
 * load results of the last one, or hash theirs for the next. This file needs plans, and so is apart
 * from recover.c, which plans need.
 */
#ifndef QPROF_PLAN_RECOVER_MODES_H
#define QPROF_PLAN_RECOVER_MODES_H

#include "plan/plan.h"
#include "plan/symbols/function_name.h"

/*
 * `problem`: static text if a query has such a body for other compiles, or none has one for
 * incremental ones; or NULL. 0 or -ENOMEM.
 */
int modes__check(struct elf_image *img, const struct known_symbols *known, const struct plan *plan,
		 const char **problem);

#endif /* QPROF_PLAN_RECOVER_MODES_H */
