/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How often each function takes the address of functions (lea reg, [rip+x]). The functions that
 * fill in the compiler's tables do so hundreds of times.
 */
#ifndef QPROF_PLAN_RECOVER_ADDRESSES_H
#define QPROF_PLAN_RECOVER_ADDRESSES_H

#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"

struct address_count {
	uint64_t function;
	uint32_t count;
};

/* Those with the most, in that order. */
struct address_counts {
	struct address_count items[16];
	uint32_t n;
};

/*
 * Functions that take fewer than 32 are left out. A match of bytes may be no instruction, so counts
 * are a little too high. 0 or -ENOMEM.
 */
int addresses__count(struct elf_image *img, const struct bounds *bounds,
		     struct address_counts *out);

#endif /* QPROF_PLAN_RECOVER_ADDRESSES_H */
