/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the names of definitions are in the memory of a compiler: read off the code of the
 * functions by which the compiler itself reads them.
 */
#ifndef QPROF_PLAN_MINE_LAYOUT_H
#define QPROF_PLAN_MINE_LAYOUT_H

#include "plan/mine/layout_function.h"
#include "plan/plan.h"

/*
 * Find the layout. 0 and *problem, which is NULL or a static text that says what is not as
 * expected; *out is then untouched. -ENOMEM.
 */
int layout_mine(const struct elf_image *img, struct code_decoder *decoder,
		const struct layout_function *functions, size_t n, struct plan_layout *out,
		const char **problem);

/* Set *to to an offset that a plan can hold; false if it cannot. */
static inline bool layout_offset(uint32_t *to, uint64_t value)
{
	if (value >= PLAN_LAYOUT_MAX)
		return false;
	*to = (uint32_t)value;
	return true;
}

#endif /* QPROF_PLAN_MINE_LAYOUT_H */
