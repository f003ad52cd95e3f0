/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions between a body and its provider. rustc calls a provider in closures of its dependency
 * graph's. Where these were inlined into the body, the provider's caller is the body. Elsewhere
 * (the incremental bodies of Debian's 1.96) the body has the mask and end sites, and calls another
 * function that has a frame of its own and calls the provider:
 *
 *	body:  jne  cold                 MASK
 *	       call between  --->  call provider through the vtable
 *	       test %rax, %rax
 *	       jne  cold                 END
 *
 * So a start that the provider's entry sees lies further below its end than in other bodies.
 */
#ifndef QPROF_PLAN_MINE_BETWEEN_H
#define QPROF_PLAN_MINE_BETWEEN_H

#include "plan/code/decode.h"
#include "plan/mine/body.h"
#include "plan/plan.h"
#include "plan/recover/recovered.h"

/*
 * Set `between` of the bodies that call such a function, or one that executes for them
 * (below), and `provides` of all bodies. The groups of bodies are complete; `mined` is
 * parallel to them. Which call is that of the provider, the body of the group that is not
 * incremental shows. A body that does not call its provider, and calls nothing that does, or
 * several functions whose frames differ too much, has no exact ends: `mined` and the plan get a
 * problem. 0 or -ENOMEM, or an error of elf_image__symbols().
 */
int between_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		 struct mined_body *mined);

/* ---- Functions that execute for a body ------------------------------------------------------- */

/*
 * Bodies that leave a part of the executions to a function of its own. Where rustc was built with
 * other inlining (Debian's 1.96), an incremental body runs the provider itself only for a result
 * that it could not load; what has changed is executed by another function, which several bodies
 * share. It has the profiler's remains too, and so is a body, but no wrapper calls it. Nor do
 * others than bodies: a function that others call may be the body of a query whose wrapper was
 * inlined.
 */

/*
 * Set `outlined` of the bodies that call one such function, and count its queries. A body that
 * calls several, or one that others call, too, gets a problem instead, and its masks are not exact.
 * The queries' bodies are known and counted already; bodies are sorted by address, `mined` is
 * parallel to them. 0 or -ENOMEM, or an error of elf_image__symbols().
 */
int outlined_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		  struct mined_body *mined);

/* ---- Queries by the address or the number of their vtable ------------------------------------ */

/*
 * Where bodies have the number of the query that they run (recover/recovered.h). The query's
 * wrapper makes the vtable in its frame and passes the address on to the body. The body passes it
 * on to a function that executes for it. Each call shows which argument the address
 * is, and the code of the body where it is at the mask sites.
 */

/*
 * Make the mask sites name where the vtable is, and where in it the number; or nothing, if that is
 * not known, or no multiple of 8 bytes, or not all calls of the body agree, or the body calls the
 * provider of another one. The queries' bodies are known and counted; `mined` is parallel to the
 * bodies. 0 or -ENOMEM, or an error of elf_image__symbols().
 */
int identify_by_number(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		       struct mined_body *mined, const struct query_numbers *numbers);

/* ---- Callers of providers -------------------------------------------------------------------- */

/*
 * The functions that call providers, one for each. In 1.85 (1.95 has none) a query's vtable has the
 * address of such a closure, which is given the context and the key, and calls the provider:
 *
 *	vtable + OFFSET  --->  closure:  call provider
 */

/*
 * Set `provider_caller` of all queries, if each provider is called by one function, which calls no
 * other: otherwise of none. 0 or -ENOMEM, or an error of elf_image__symbols().
 */
int provider_callers_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan);

#endif /* QPROF_PLAN_MINE_BETWEEN_H */
