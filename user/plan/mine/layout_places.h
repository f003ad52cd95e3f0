/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the files and lines of definitions are in the memory of a compiler: read off its own code,
 * as layout.h does for their names.
 */
#ifndef QPROF_PLAN_MINE_LAYOUT_PLACES_H
#define QPROF_PLAN_MINE_LAYOUT_PLACES_H

#include "plan/mine/layout.h"

/*
 * Find the layout. `names` is the one of the definitions, which is known. 0 and *problem, which is
 * NULL or a static text that says what is not as expected; *out is then untouched. -ENOMEM.
 */
int layout_mine_places(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, const struct wire_layout *names, struct wire_layout_places *out,
		       const char **problem);

#endif /* QPROF_PLAN_MINE_LAYOUT_PLACES_H */
