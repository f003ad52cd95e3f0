/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The type of a body's keys, where the body has no name: while its query runs, it holds a guard,
 * ActiveJobGuard<key>, and drops it if the provider panics. The functions that drop the guards are
 * exported, one for each type. Some are folded into one, so a body can have several types. Of
 * these, only those remain that the table of the body's cache can have, if it calls a function of
 * one, which are exported, too: itself, or by one function between.
 */
#ifndef QPROF_PLAN_MINE_JOB_GUARDS_H
#define QPROF_PLAN_MINE_JOB_GUARDS_H

#include "plan/code/decode.h"
#include "plan/plan.h"
#include "plan/symbols/key_name.h"
#include "plan/symbols/function_name.h"

#define JOB_GUARD_TYPES 4

/* Types that a body's guard can have. None: it drops no known guard, several, or one of more. */
struct job_guard {
	struct key_name types[JOB_GUARD_TYPES];
	uint32_t n;
};

/*
 * Of a plan that has all its bodies; `out` is parallel to these. 0 or -ENOMEM, or an error of
 * elf_image__symbols(). Free *out in any case.
 */
int job_guards__find(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, const struct plan *plan, struct job_guard **out);

/* True if the guard can be of this type. */
bool job_guard__has(const struct job_guard *g, const char *type);

#endif /* QPROF_PLAN_MINE_JOB_GUARDS_H */
