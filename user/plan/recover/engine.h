/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compilers before 1.95 have the wrappers in a table of their own, rustc's QueryEngine, as a part
 * of a large struct. One of two functions for each query is put there, by the mode of the process.
 */
#ifndef QPROF_PLAN_RECOVER_ENGINE_H
#define QPROF_PLAN_RECOVER_ENGINE_H

#include "plan/recover/addresses.h"
#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"

/* By mode: 0 is not incremental. */
struct engine_wrappers {
	uint64_t functions[2];
};

/*
 * Find the function in `counts` that fills in a table of just `n` functions, all of which depend on
 * the mode. 1 and the table, 0 if there is none, or -ENOMEM.
 */
int engine__find(struct elf_image *img, const struct bounds *bounds,
		 const struct address_counts *counts, struct engine_wrappers *table, uint32_t n);

#endif /* QPROF_PLAN_RECOVER_ENGINE_H */
