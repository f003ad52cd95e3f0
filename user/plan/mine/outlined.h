/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies that leave a part of the executions to a function of its own. Where rustc was built with
 * other inlining (Debian's 1.96), an incremental body runs the provider itself only for a result
 * that it could not load; what has changed is executed by another function, which several bodies
 * share. It has the profiler's remains too, and so is a body, but no wrapper calls it. Nor do
 * others than bodies: a function that others call may be the body of a query whose wrapper was
 * inlined.
 */
#ifndef QPROF_PLAN_MINE_OUTLINED_H
#define QPROF_PLAN_MINE_OUTLINED_H

#include "plan/code/decode.h"
#include "plan/mine/body.h"
#include "plan/plan.h"

/*
 * Set `outlined` of the bodies that call one such function, and count its queries. A body that
 * calls several, or one that others call, too, gets a problem instead, and its masks are not exact.
 * The queries' bodies are known and counted already; bodies are sorted by address, `mined` is
 * parallel to them. 0 or -ENOMEM, or an error of elf_image__symbols().
 */
int outlined_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		  struct mined_body *mined);

#endif /* QPROF_PLAN_MINE_OUTLINED_H */
