// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/engine.h"

#include <errno.h>

#include "plan/code/straight.h"

static bool read_wrappers(struct straight *const runs[2], const struct bounds *bounds, uint32_t at,
			  struct engine_wrappers *out)
{
	for (int mode = 0; mode < 2; mode++)
		if (!straight__word(runs[mode], at, &out->functions[mode]) ||
		    !bounds__starts(bounds, out->functions[mode]))
			return false;
	return out->functions[0] != out->functions[1];
}

/* The first run of them, if it is as long as the table. */
static bool read_table(struct straight *const runs[2], const struct bounds *bounds,
		       struct engine_wrappers *table, uint32_t n)
{
	struct engine_wrappers w;
	uint32_t at = 0, found = 0;

	while (at + 8 <= STRAIGHT_RESULT && !read_wrappers(runs, bounds, at, &w))
		at += 8;
	for (; at + 8 <= STRAIGHT_RESULT && read_wrappers(runs, bounds, at, &w); at += 8) {
		if (found == n)
			return false;
		table[found++] = w;
	}
	return found == n;
}

int engine__find(struct elf_image *img, const struct bounds *bounds,
		 const struct address_counts *counts, struct engine_wrappers *table, uint32_t n)
{
	for (uint32_t i = 0; i < counts->n; i++) {
		_straight_ struct straight *first = NULL, *second = NULL;
		int err = straight__run(img, counts->items[i].function, 0, &first)
				  ?: straight__run(img, counts->items[i].function, 1, &second);

		if (err == -ENOMEM)
			return err;
		if (!err && read_table((struct straight *const[]){first, second}, bounds, table, n))
			return 1;
	}
	return 0;
}
