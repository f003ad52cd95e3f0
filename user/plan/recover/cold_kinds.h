/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The cold sides of the profiler's guards in a library that exports none of them: of the functions
 * that ask for the number of their thread, those that are called behind a test of the event filter.
 * The tested bit shows the kind of event.
 */
#ifndef QPROF_PLAN_RECOVER_COLD_KINDS_H
#define QPROF_PLAN_RECOVER_COLD_KINDS_H

#include "plan/recover/recovered.h"
#include "plan/symbols/elf_image.h"

/* 1 if no cold side of query providers has a name; 0 or -ENOMEM. */
int cold_kinds__are_unnamed(struct elf_image *img);

/*
 * Add names to those that have none, if all calls of a function whose test is recognised test one
 * bit: to those of activities, or to the others. 0 or -ENOMEM.
 */
int cold_kinds__recover(struct elf_image *img, bool activities, struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_COLD_KINDS_H */
