/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the names of other crates' definitions are in the memory of a compiler: read off the code
 * of its crate store, as layout.h does for the definitions of the crate that is compiled.
 */
#ifndef QPROF_PLAN_MINE_LAYOUT_CRATES_H
#define QPROF_PLAN_MINE_LAYOUT_CRATES_H

#include "plan/mine/layout.h"

/*
 * Find the layout. `names` is the one of the definitions, which is known. 0 and *problem, which is
 * NULL or a static text that says what is not as expected; *out is then untouched. -ENOMEM.
 */
int layout_mine_crates(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, const struct wire_layout *names, struct wire_layout_crates *out,
		       const char **problem);

#endif /* QPROF_PLAN_MINE_LAYOUT_CRATES_H */
