/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a VecCache keeps the keys of its results, one behind the other. It has buckets, each as
 * large as all before it. The body of a query adds a result like this:
 *
 *	cmp	$FIRST, %r14d			numbers in the first bucket
 *	jae	...				bsr %r14d, %eax; lea -LOG(%rax), %esi
 *	...
 *	lock xadd %r15, COUNT(%rbx)
 *	...					the same, of this number
 *	mov	BUCKETS(%rbx,%rsi,8), %rax
 *	lea	MARK(%r14), %ecx		the key; smaller numbers are no key
 *	mov	%ecx, (%rax,%r15,4)
 *
 * In 1.85 the logarithm is compared with LOG + 1, and FIRST is moved to a register, which has the
 * size of the bucket then. In 1.96 MARK is added to the key where it is.
 */
#ifndef QPROF_PLAN_MINE_VEC_KEYS_H
#define QPROF_PLAN_MINE_VEC_KEYS_H

#include "plan/code/decode.h"
#include "plan/mine/votes.h"
#include "qprof/wire.h"

/* What the bodies of queries with a VecCache have shown. All zeroes: nothing. */
struct vec_keys {
	struct votes buckets, first, mark;
};

/*
 * Note what a body shows whose instruction `i` counts a result in the VecCache of `size` bytes that
 * is `at` bytes from what a register holds.
 */
void vec_keys__see(struct vec_keys *v, const struct code *code, size_t i, int64_t at, uint32_t size,
		   uint32_t body);

/* Set out->buckets, ->first and ->mark if `bodies` bodies show them. */
void vec_keys__decide(const struct vec_keys *v, uint32_t bodies, struct wire_tables *out);

#endif /* QPROF_PLAN_MINE_VEC_KEYS_H */
