/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the names of definitions are in the memory of a compiler: read off the code of the
 * functions by which the compiler itself reads them.
 */
#ifndef QPROF_PLAN_MINE_LAYOUT_H
#define QPROF_PLAN_MINE_LAYOUT_H

#include "plan/code/decode.h"
#include "plan/plan.h"
#include "plan/symbols/names.h"

/* A function with all its parts. */
struct layout_function {
	enum name_kind kind;
	uint64_t entry;
	const struct code_region *regions;
	size_t n_regions;
	const char *query; /* of a provider: its name, not NUL-terminated */
	size_t query_len;
};

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
