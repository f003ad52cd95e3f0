/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a compiler keeps which macro an expansion is of: read off ExpnKind::descr, which prints the
 * kind of one, and checked by LocalExpnId::expn_data, which copies an entry of the table that
 * hygiene.h has found.
 */
#ifndef QPROF_PLAN_MINE_EXPANSIONS_H
#define QPROF_PLAN_MINE_EXPANSIONS_H

#include "plan/mine/hygiene.h"

/* How cold sides use an expansion. */
struct expansion_use {
	uint32_t kind; /* within the expansion: what they have described */
	/* The second argument of LocalExpnId::expn_data, by which it finds the globals, if it has
	 * one: the third leads to the expansion's number then. 0: the second is the number. */
	uint64_t key;
};

/*
 * 0 and *problem, which is NULL or a static text that says what is not as expected; *out is then
 * untouched. -ENOMEM, or an error of elf_image__symbols().
 */
int expansions_mine(struct elf_image *img, const struct callees *callees, const struct hygiene *h,
		    const struct expansion_use *use, struct wire_expansions *out,
		    const char **problem);

/* Where their calls are, from both. NULL, or a static text: *out is then untouched. */
const char *expansions_calls(const struct wire_expansions *x, const struct hygiene *h,
			     struct wire_layout_calls *out);

#endif /* QPROF_PLAN_MINE_EXPANSIONS_H */
