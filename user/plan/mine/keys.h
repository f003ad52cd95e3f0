/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The key of each query: its type, by the name of the query's body, and its place at the sites that
 * see the query's start.
 *
 * Arguments are in registers, in the order rdi, rsi, rdx, rcx, r8, r9. The address of a result that
 * does not fit in a register comes before them:
 *
 *	provider	context, key		the result is a value of N bytes
 *	wrapper		context, span, key	an Option of that: N + 1 bytes
 *	body		vtable, context, span, key	a pair of that and a u32
 *
 * A DefId takes two registers: its index, then its crate. Larger keys, such as
 * an Instance, are in memory, and their address is the argument: memory_keys.h finds the definition
 * in them. N is in the body's name, and the register of the context is found in the code
 * (body_key.h). A key is unknown if the two contradict each other. Without N (twins that were
 * folded into one body may differ) the code alone decides. A provider or a body whose code does not
 * prove its context has no known key; a wrapper has one if its query's provider proves N.
 *
 * A key in memory is read at one place, so a DefId must be there as it is: an index, and right
 * above it a crate.
 */
#ifndef QPROF_PLAN_MINE_KEYS_H
#define QPROF_PLAN_MINE_KEYS_H

#include "plan/code/decode.h"
#include "plan/plan.h"
#include "plan/symbols/function_name.h"

struct keys_finder;

/*
 * Fill in the `key`, `key_type` and `memory` of every query of a plan that has all its queries and
 * bodies. 0, -ENOMEM or -EFAULT.
 */
int keys_finder__new(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, struct plan *plan, struct keys_finder **out);

/*
 * Fill in `key_reg` and `key_slot` of the sites, which the plan has otherwise. 0, -ENOMEM or
 * -EFAULT.
 */
int keys_finder__place(struct keys_finder *f);

void keys_finder__free(struct keys_finder *f);
DEFINE_CLEANUP(struct keys_finder, keys_finder__free)
#define _keys_finder_ __cleanup(keys_finder__free_p)

#endif /* QPROF_PLAN_MINE_KEYS_H */
