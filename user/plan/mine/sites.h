/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses probe sites among all possible places: one way to see each query start. */
#ifndef QPROF_PLAN_MINE_SITES_H
#define QPROF_PLAN_MINE_SITES_H

#include "plan/mine/body.h"
#include "plan/plan.h"

/*
 * Fill plan->sites, and the fields of each query that follow from its sites. The queries and bodies
 * are complete otherwise; `mined` is parallel to the bodies; `panic_cleanup` is an address, or 0 if
 * there is none. Returns 0, -ENOMEM, or -EFAULT (an address that holds no code).
 */
int sites_choose(const struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		 const struct mined_body *mined, uint64_t panic_cleanup);

/*
 * Add a site to the end of a plan that is being made; its offset is found here, and its key is
 * unknown until keys_finder__place(). Returns 0, -ENOMEM, or -EFAULT (its address is nowhere in the
 * file).
 */
int sites_add(const struct elf_image *img, struct plan *plan, struct plan_site site);

/* By role and address, as a plan has them. */
void sites_sort(struct plan *plan);

#endif /* QPROF_PLAN_MINE_SITES_H */
