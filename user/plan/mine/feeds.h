/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a query is fed: code that puts a result into a query's cache, without an execution. All
 * such code can complain that there is one already; the part for the crate that is compiled ends
 *
 *	lock xadd %ebp, INDEX(%rax)	a new index; incremental compiles have it from elsewhere
 *	cmp  $0xffffff01, %ebp
 *	jae  ...
 *	...
 *	lock xadd %rbx, DISP(%r14)	one more result in the VecCache
 *	mov  %rbx, %rax
 *	shr  $0x20, %rax
 *	jne  ...			the site
 *
 * The base is the GlobalCtxt, or the vtable of the query where it is an argument.
 */
#ifndef QPROF_PLAN_MINE_FEEDS_H
#define QPROF_PLAN_MINE_FEEDS_H

#include "plan/code/decode.h"
#include "plan/plan.h"

/*
 * Add the sites, or else set plan->feeds_problem, after tables__mine(). Those of queries of which
 * all definitions are fed are left out: each would have a hit. 0 or -ENOMEM, or an error of
 * elf_image__symbols().
 */
int feeds__mine(struct elf_image *img, struct code_decoder *decoder, struct plan *plan);

#endif /* QPROF_PLAN_MINE_FEEDS_H */
