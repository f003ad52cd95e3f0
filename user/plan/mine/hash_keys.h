/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How large the entries of a query's cache are that is a hash table, and where in them the keys
 * are. The body of the query, or a function that it gives the cache, looks a new result's key up
 * there, and stores both, as in 1.95:
 *
 *	mov	CTRL(%cache), %rbx
 *	and	MASK(%cache), %r14		the number of a bucket
 *	mov	%r14, %rdx
 *	neg	%rdx
 *	imul	$SIZE, %rdx, %rdx		an entry ends where bucket 0's control byte is, less
 *	...					as many entries
 *	movups	(%key), %xmm0
 *	movups	%xmm0, -SIZE+KEY(%rbx,%rdx,1)
 *
 * A result of 16 bytes is moved there at once, and beside it the number of its node, 4 bytes. It is
 * a text, an address and a length, if the query is one whose results are:
 *
 *	movups	%xmm1, -SIZE+TEXT(%rbx,%rdx,1)
 *	mov	%r15d, -SIZE+NUMBER(%rbx,%rdx,1)
 *
 * All that is stored, read and compared there must lie in entries of one size, and all that is of
 * the key must show the same place.
 */
#ifndef QPROF_PLAN_MINE_HASH_KEYS_H
#define QPROF_PLAN_MINE_HASH_KEYS_H

#include "plan/mine/body_run.h"

struct hash_keys {
	uint32_t size; /* of an entry */
	uint32_t key;  /* in an entry */
	bool has_text;
	uint32_t text; /* in an entry: address and length of a text */
};

/*
 * Mine the body at `entry`. The cache is `table->at` bytes behind where the vtable begins; its
 * other numbers are those of all tables. 0 and *problem, which is NULL or a static text that says
 * what was not found; *out is then untouched. -ENOMEM.
 */
int hash_keys__mine(const struct elf_image *img, uint64_t entry, const struct body_run_table *table,
		    struct hash_keys *out, const char **problem);

#endif /* QPROF_PLAN_MINE_HASH_KEYS_H */
