/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a function shows (eval.h), asked for by a text that is written as the assembly that it
 * stands for:
 *
 *	return [di+A]8			rax is 8 bytes of memory, A behind what rdi was
 *	return _, [[di+A]8+8*si]8	rdx is an entry of a table of 8 bytes each; rax is any value
 *	compare [di+A]4, 0		the left side and the right one
 *	compare [di+A]8 = si		either way round
 *	store di+A, [si+B]8		the address and the value
 *	call U: di, [si+A]8		a known function, U, and up to four arguments
 *	call ?: di			any function, also one that is computed
 *	node [di+A]8			anything that was met on the way
 *
 * A value is a sum: up to two terms in either order, and a number (0 if there is none). A term is
 *
 *	di				a register as the function was given it, or its lower half
 *	[..]4				as many bytes, loaded from there; [..]: any number of bytes
 *	fs[..]8				likewise, relative to the thread's storage
 *	low(..)	below(..)		SUM_LOW and SUM_BELOW of sum.h
 *	call(..) by(..)			SUM_CALL and SUM_CALL_BY
 *	#X				any one, whose number is X
 *
 * with a factor in front, as `8*` or `A*`. A capital letter is a number that is asked for: an
 * offset below PLAN_LAYOUT_MAX, N one that is not 0, S the size of an entry, 8 to 64; U to Z may be
 * anything. A letter that is known must be the same wherever it is. `_` is any sum, `?` any number.
 */
#ifndef QPROF_PLAN_CODE_SHAPE_H
#define QPROF_PLAN_CODE_SHAPE_H

#include "plan/code/eval.h"

struct letters {
	uint64_t values[26];
	uint32_t known; /* bit 0: A */
};

static inline uint64_t letters__of(const struct letters *l, char letter)
{
	return l->values[letter - 'A'];
}

/* Ask for shapes in which the letter has this value. */
void letters__set(struct letters *l, char letter, uint64_t value);

/* True, and *l: `a` has that shape. Else *l is untouched. */
bool shape__is(const struct sum_nodes *nodes, const struct sum *a, const char *shape,
	       struct letters *l);

/* The first place where a function shows it. False: there is none, and *l is untouched. */
bool shape__shown(const struct eval *e, const char *shape, struct letters *l);

/* 1: all places where a function shows it have the same letters, *l; 0: there is none; -1. */
int shape__agreed(const struct eval *e, const char *shape, struct letters *l);

#endif /* QPROF_PLAN_CODE_SHAPE_H */
