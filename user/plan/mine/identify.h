/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where bodies have the number of the query that they run (recover/recovered.h). The query's
 * wrapper makes the vtable in its frame and passes the address on to the body. The body passes it
 * on to a function that executes for it (outlined.h). Each call shows which argument the address
 * is, and the code of the body where it is at the mask sites.
 */
#ifndef QPROF_PLAN_MINE_IDENTIFY_H
#define QPROF_PLAN_MINE_IDENTIFY_H

#include "plan/code/decode.h"
#include "plan/mine/body.h"
#include "plan/plan.h"
#include "plan/recover/recovered.h"

/*
 * Make the mask sites name where the vtable is, and where in it the number; or nothing, if that is
 * not known, or no multiple of 8 bytes, or not all calls of the body agree, or the body calls the
 * provider of another one. The queries' bodies are known and counted; `mined` is parallel to the
 * bodies. 0 or -ENOMEM, or an error of elf_image__symbols().
 */
int identify_by_number(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		       struct mined_body *mined, const struct query_numbers *numbers);

#endif /* QPROF_PLAN_MINE_IDENTIFY_H */
