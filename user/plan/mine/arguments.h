/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds which argument of a function is rustc's context, the TyCtxt: the pointer to a struct of
 * more than 100 KiB. No other argument of a query's functions is dereferenced that far from its
 * start.
 *
 *	mov	%rsi, %r14
 *	...
 *	call	*0x1eb38(%r14)		so rsi held the context at the entry
 *
 * A closure is given the addresses of what it has captured, the context among them:
 *
 *	mov	(%rdi), %rdi
 *	...
 *	call	*0x1d100(%rdi)		so rdi held the address of the context's address
 */
#ifndef QPROF_PLAN_MINE_ARGUMENTS_H
#define QPROF_PLAN_MINE_ARGUMENTS_H

#include "plan/code/decode.h"

/* Registers at the function's entry, bit = enum wire_reg. */
struct mined_arguments {
	uint16_t contexts; /* dereferenced where only a context reaches */
	uint16_t pointers; /* dereferenced anywhere */
	uint16_t holders;  /* hold the address of a context: that of a closure's captured one */
};

/*
 * Follow the code from `entry`: on the straight line, and on the branches from it if that proves
 * nothing. A function that proves nothing, or where there is no code, has no contexts.
 */
struct mined_arguments mine_arguments(struct code_decoder *d, uint64_t entry);

/* True if no instruction from `entry` up to `site`, on a straight line, writes any of `regs`. */
bool mine_arguments_kept(struct code_decoder *d, uint64_t entry, uint64_t site, uint16_t regs);

#endif /* QPROF_PLAN_MINE_ARGUMENTS_H */
