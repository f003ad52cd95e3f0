/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions that drop a timer of rustc's profiler (mine/guards.h). Each prints, if it was asked
 * for, what the timer has measured, by a function that is exported; and the text that it prints is
 * in the timer, which is its first argument.
 */
#ifndef QPROF_PLAN_RECOVER_TIMERS_H
#define QPROF_PLAN_RECOVER_TIMERS_H

#include "plan/recover/recovered.h"

/*
 * Add their names. One that nothing calls is left out: its copies in other functions are what runs.
 * If there are more than can be looked at, *problem is set, a static text. 0 or -ENOMEM.
 */
int timers__recover(struct elf_image *img, struct recovered *out, const char **problem);

#endif /* QPROF_PLAN_RECOVER_TIMERS_H */
