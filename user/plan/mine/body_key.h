/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds where a body keeps its query's key at one of its instructions: the key comes in a register,
 * and is in another one, or on the stack, when the provider is about to be called.
 *
 *	mov	%r8d, %ebx		a register that calls preserve
 *	mov	%r8, 0x18(%rsp)		a spilled register
 *	mov	%r8d, 0x78(%rsp)	the key in memory: a DefId is an index, then a crate
 *	mov	%r9d, 0x7c(%rsp)
 *	...
 *	jne	cold			the site
 *
 * All paths from the entry are followed. What one of them may have overwritten is unknown.
 */
#ifndef QPROF_PLAN_MINE_BODY_KEY_H
#define QPROF_PLAN_MINE_BODY_KEY_H

#include "plan/code/walk.h"

/* Where the key is at the entry. */
struct mine_key {
	uint8_t reg;   /* enum wire_reg */
	uint8_t crate; /* of a DefId: its crate's, or WIRE_REG_NONE */
	bool pointer;  /* all 64 bits are the key, else the low 32 */
};

struct mined_key {
	uint8_t reg;  /* in this register, or WIRE_REG_NONE. Never a DefId */
	int32_t slot; /* else this many bytes above sp, or MINED_NO_KEY */
};

#define MINED_NO_KEY (-1)

/*
 * Where the key is before the instructions at `sites`, into `out`, for the function that `w` walks.
 * Returns 0 or -ENOMEM.
 */
int mine_body_key(const struct walk *w, uint64_t entry, const struct mine_key *key,
		  const uint64_t *sites, size_t n, struct mined_key *out);

/* ---- Arguments ------------------------------------------------------------------------------- */

/*
 * Which argument of a function is rustc's context, the TyCtxt: the pointer to a struct of
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

#endif /* QPROF_PLAN_MINE_BODY_KEY_H */
