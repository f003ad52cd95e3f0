/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the queries whose results are never loaded from the disk: rustc does not keep them there.
 * Their vtables say so. Around each load is a guard (WIRE_KIND_LOAD). In 1.95 it is in functions
 * that vtables lead to:
 *
 *	try_execute_query	mov LOADER(%vtable), %rax; test %rax, %rax; je ...; call *%rax
 *	  {closure}		the vtable has its address, or 0 if nothing is ever loaded
 *	    try_load_from_disk	the guard
 *
 * In the 1.97 nightly it is in the body, which asks a function of the vtable before:
 *
 *	try_execute_query	call *KEPT(%vtable)
 *				test %al, %al; je ...
 *				testb $LOADS, MASK(%tcx); jne ...	the guard
 *	  {closure}		xor %eax, %eax; ret		if nothing is ever loaded
 *
 * A query of which neither is found may be loaded, as all may in a body that loads without asking.
 */
#ifndef QPROF_PLAN_MINE_LOADS_H
#define QPROF_PLAN_MINE_LOADS_H

#include "plan/mine/layout.h"
#include "plan/mine/vtables.h"

/*
 * Set plan->queries[].never_loaded, by the guards and the vtables `t`, which are known, and
 * plan->names_old_results. `functions` are those of the library. 0 or -ENOMEM.
 */
int loads__find(const struct elf_image *img, struct code_decoder *decoder,
		const struct bounds *bounds, const struct layout_function *functions, size_t n,
		const struct vtables *t, struct plan *plan);

#endif /* QPROF_PLAN_MINE_LOADS_H */
