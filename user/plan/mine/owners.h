/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the functions that hold some addresses, with all the parts that the compiler and BOLT split
 * them into. Functions that were folded into one count as one, which has the parts of all.
 */
#ifndef QPROF_PLAN_MINE_OWNERS_H
#define QPROF_PLAN_MINE_OWNERS_H

#include "plan/code/decode.h"

struct owner {
	uint64_t entry;
	const char *name; /* mangled, the image's: that of the first symbol at the entry */
	uint32_t n_names; /* symbols there: more than one where functions were folded */
	struct code_region *regions;
	size_t n_regions;
};

struct owners {
	struct owner *items; /* by entry */
	size_t n;
};

/*
 * The functions that hold any of `addrs`. An address outside all symbols, or in a part without an
 * entry, has none. Returns 0 or -ENOMEM; free it in any case.
 */
int owners__find(struct elf_image *img, const uint64_t *addrs, size_t n, struct owners *out);
void owners__destroy(struct owners *o);
#define _owners_ __cleanup(owners__destroy)

#endif /* QPROF_PLAN_MINE_OWNERS_H */
