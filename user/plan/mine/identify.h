/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where bodies have the number of the query that they run (recover/query_numbers.h). Its wrapper
 * makes the query's vtable in its frame and passes the address on to the body, and that to a
 * function that executes for it (outlined.h): each call shows which argument it is, and the body
 * where that is at its mask sites.
 */
#ifndef QPROF_PLAN_MINE_IDENTIFY_H
#define QPROF_PLAN_MINE_IDENTIFY_H

#include "plan/code/decode.h"
#include "plan/mine/body.h"
#include "plan/plan.h"
#include "plan/recover/query_numbers.h"

/*
 * Make the mask sites name where the vtable is, and where in it the number; or nothing, if that is
 * not known, or not all calls of the body agree, or the body calls the provider of another one. The
 * queries' bodies are known and counted; `mined` is parallel to the bodies. 0 or -ENOMEM, or an
 * error of elf_image__symbols().
 */
int identify_by_number(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		       struct mined_body *mined, const struct query_numbers *numbers);

#endif /* QPROF_PLAN_MINE_IDENTIFY_H */
