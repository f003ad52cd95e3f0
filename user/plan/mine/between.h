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

/*
 * Set `between` of the bodies that call such a function, or one that executes for them
 * (outlined.h), and `provides` of all bodies. The groups of bodies are complete; `mined` is
 * parallel to them. Which call is that of the provider, the body of the group that is not
 * incremental shows. A body that does not call its provider, and calls nothing that does, or
 * several functions whose frames differ too much, has no exact ends: `mined` and the plan get a
 * problem. 0 or -ENOMEM, or an error of elf_image__symbols().
 */
int between_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		 struct mined_body *mined);

#endif /* QPROF_PLAN_MINE_BETWEEN_H */
