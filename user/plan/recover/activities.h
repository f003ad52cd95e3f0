/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Cold sides of activities that are not exported, and the functions by which cold sides give a text
 * a number (mine/cold_sides.h). All cold sides ask an exported function for the number of the
 * thread. One that is given a label first gives that a number.
 */
#ifndef QPROF_PLAN_RECOVER_ACTIVITIES_H
#define QPROF_PLAN_RECOVER_ACTIVITIES_H

#include "plan/recover/recovered.h"
#include "plan/symbols/function_name.h"
#include "plan/symbols/elf_image.h"

/*
 * Add their names. If there are more than can be looked at, *problem is set, a static text; it must
 * be NULL before. 0 or -ENOMEM.
 */
int activities__recover(struct elf_image *img, struct recovered *out, const char **problem);

/*
 * The bodies of rustc's query engine (mine/body.h) are the functions that call the cold side of the
 * guards of query providers, whose name rustc exports.
 */

/*
 * Add their names. `known` are the image's symbols, among them the cold side's. Which mode of the
 * compiler a body is for does not show: the name has none. 0 or -ENOMEM.
 */
int bodies__recover(struct elf_image *img, const struct known_symbols *known,
		    struct recovered *out);

/*
 * The functions that drop a timer of rustc's profiler (mine/guards.h). Each prints, if it was asked
 * for, what the timer has measured, by a function that is exported; and the text that it prints is
 * in the timer, which is its first argument.
 */

/*
 * Add their names. One that nothing calls is left out: its copies in other functions are what runs.
 * If there are more than can be looked at, *problem is set, a static text. 0 or -ENOMEM.
 */
int timers__recover(struct elf_image *img, struct recovered *out, const char **problem);

/*
 * The function that drops a guard of rustc's profiler (mine/guards.h), which is not exported: most
 * functions that start a guard pass its address to this one.
 */

/*
 * Add its name, if it is found. `known` are the image's symbols, among them the cold sides'. 0 or
 * -ENOMEM.
 */
int recovered_guards__find(struct elf_image *img, const struct known_symbols *known,
			   struct recovered *out);

/*
 * The cold sides of the profiler's guards in a library that exports none of them: of the functions
 * that ask for the number of their thread, those that are called behind a test of the event filter.
 * The tested bit shows the kind of event.
 */

/* 1 if no cold side of query providers has a name; 0 or -ENOMEM. */
int cold_kinds__are_unnamed(struct elf_image *img);

/*
 * Add names to those that have none, if all calls of a function whose test is recognised test one
 * bit: to those of activities, or to the others. 0 or -ENOMEM.
 */
int cold_kinds__recover(struct elf_image *img, bool activities, struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_ACTIVITIES_H */
