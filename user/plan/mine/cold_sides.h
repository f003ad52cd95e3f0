/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The operand of which the cold side of a guard makes the event's argument. Two methods of the
 * profiler take one:
 *
 *	generic_activity_with_arg::<&str>	cold_call(guard, profiler, closure)
 *		closure: the address of the label's address and length; the argument's address;
 *		its length
 *	generic_activity_with_arg_recorder	cold_call(guard, profiler, label, closure)
 *		closure: what the caller's closure captures, of which it makes the argument's text
 *
 * Each cold_call is run symbolically (plan/code/eval.h). The functions that it calls show what the
 * operand is: text that is interned, a Symbol that is printed, a number, an expansion whose macro
 * is described, a place in the source.
 */
#ifndef QPROF_PLAN_MINE_COLD_SIDES_H
#define QPROF_PLAN_MINE_COLD_SIDES_H

#include "plan/code/decode.h"
#include "plan/code/eval.h"
#include "plan/symbols/elf_image.h"

struct cold_side {
	uint64_t addr;
	/* Places begin with what cold_call is given in rdx or rcx. No text: not understood. */
	struct wire_source source;
};

struct cold_sides {
	struct cold_side *items; /* by address: those that have an argument */
	uint32_t n, capacity;
	struct wire_expansions expansions;
	const char *problem; /* why these are unknown, or NULL */
	struct wire_layout_calls calls;
	const char *calls_problem; /* likewise */
};

/*
 * `globals` is that of wire_layout; without it (0) macros are unknown. Returns 0 or -ENOMEM, or an
 * error of elf_image__symbols(); cold_sides__destroy() in any case.
 */
int cold_sides__find(struct elf_image *img, uint64_t globals, struct cold_sides *out);
void cold_sides__destroy(struct cold_sides *c);

/* That of the cold_call at `addr`, or NULL if it makes no argument. */
const struct cold_side *cold_sides__at(const struct cold_sides *c, uint64_t addr);

/* ---- Arguments of guards --------------------------------------------------------------------- */

/* Where the argument of a guard's event is when the branch to its cold side is reached. */

/*
 * `f` is the cold side in its function, up to the call of `side`; `site` is the branch. Sets *out
 * if every way from there to the call leaves the operands at known places. 0 or -ENOMEM.
 */
int guard_argument(const struct eval_function *f, const struct cold_side *side, uint64_t site,
		   struct wire_source *out);

#endif /* QPROF_PLAN_MINE_COLD_SIDES_H */
