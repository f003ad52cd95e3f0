/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a compiler keeps which macro an expansion is of: read off LocalExpnId::expn_data, which
 * copies an entry of the table, and ExpnKind::descr, which prints the kind of one. And where it
 * keeps which expansion the context of a span is of: read off SyntaxContext::outer_expn.
 */
#ifndef QPROF_PLAN_MINE_EXPANSIONS_H
#define QPROF_PLAN_MINE_EXPANSIONS_H

#include "plan/mine/callees.h"

/*
 * `kind` is the offset of an expansion's kind in it. 0 and *problem, which is NULL or a static text
 * that says what is not as expected; *out is then untouched. -ENOMEM, or an error of
 * elf_image__symbols().
 */
int expansions_mine(struct elf_image *img, const struct callees *callees, uint32_t kind,
		    struct wire_expansions *out, const char **problem);

/* After that, which found `x`. As above. */
int expansions_mine_calls(struct elf_image *img, const struct callees *callees,
			  const struct wire_expansions *x, struct wire_layout_calls *out,
			  const char **problem);

#endif /* QPROF_PLAN_MINE_EXPANSIONS_H */
