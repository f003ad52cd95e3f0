/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Cold sides of activities that are not exported, and the functions by which cold sides give a text
 * a number (mine/cold_sides.h). All cold sides ask an exported function for the number of the
 * thread. One that is given a label first gives that a number.
 */
#ifndef QPROF_PLAN_RECOVER_ACTIVITIES_H
#define QPROF_PLAN_RECOVER_ACTIVITIES_H

#include "plan/recover/recovered.h"

/*
 * Add their names. If there are more than can be looked at, *problem is set, a static text; it must
 * be NULL before. 0 or -ENOMEM.
 */
int activities__recover(struct elf_image *img, struct recovered *out, const char **problem);

#endif /* QPROF_PLAN_RECOVER_ACTIVITIES_H */
