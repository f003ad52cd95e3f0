/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The proof that a breakpoint may be written. Decoding from the start of a function in this file
 * leads to each site, one instruction after the other, and the kernel emulates the instruction at
 * the site. A plan with a site that is not proven is not attached, wherever the plan comes from.
 *
 * The unwind table says where functions start; in a file without one the symbols do. The work has
 * an upper limit: see WALK_MAX in proof.c and elf_image__starts().
 */
#ifndef QPROF_PLAN_PROOF_H
#define QPROF_PLAN_PROOF_H

#include "plan/check.h"
#include "plan/mine/hits.h"
#include "plan/plan.h"
#include "plan/symbols/elf_image.h"

struct proof_site {
	uint64_t addr;
	uint64_t offset; /* in the file */
	uint32_t index;	 /* the caller's */
	bool proven;	 /* the result; with it: */
	uint8_t n_code;
	uint8_t code[PLAN_CODE_BYTES];
};

/*
 * Sort the sites by address and find out which are proven. -ENODATA if it is not known where any
 * function starts, -ENOMEM, or the error of reading. `img` need not be mapped. Prints nothing.
 */
int proof__check(struct elf_image *img, struct proof_site *sites, size_t n);

/*
 * 0 if all sites of a plan are proven, and their code is the code that the plan was made from.
 * -EBADMSG: *bad is the address of a site that is not proven, or 0. Otherwise as proof__check().
 */
int proof__of_plan(struct elf_image *img, const struct plan *plan, uint64_t *bad);

/*
 * The same for a plan that was proven before on this very file, without decoding up to each site:
 * the instruction at the site is of a kind that the kernel emulates, and the code has not changed.
 */
int proof__of_code(struct elf_image *img, const struct plan *plan, uint64_t *bad);

/* Leave out the hits that are not proven. As proof__check(). */
int proof__of_hits(struct elf_image *img, struct plan_hits *hits);

#endif /* QPROF_PLAN_PROOF_H */
