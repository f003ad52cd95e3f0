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
 * The base is the GlobalCtxt, or the vtable of the query where it is an argument. What is added to
 * is the number of results before, and so the place of this one among them. The nightly moves it to
 * the upper half of its register before the site.
 */
#ifndef QPROF_PLAN_MINE_FEEDS_H
#define QPROF_PLAN_MINE_FEEDS_H

#include "plan/code/decode.h"
#include "plan/plan.h"

/* ---- Queries that may be fed ----------------------------------------------------------------- */

/*
 * The flag of a query whose results other queries may feed. A body that has executed such a query
 * looks whether a result was fed meanwhile, and complains if that is another one:
 *
 *	cmpb $0, FED(%r14)
 *	je   1f				or jne, with the rest in another place
 *	...
 *	lea  TEXT(%rip), %rdi		"... is inconsistent with fed value"
 *	call panic_fmt
 * 1:
 */

/* What code that feeds a query complains of if there is a result; the query's name may follow. */
#define FED_COMPLAINT "Trying to feed an already recorded value for query "

/*
 * Instruction `i` of the body that begins at `entry` compares a byte with 0. *proven is set if the
 * byte is the flag: only what follows when it is not 0 has the complaint. 0 or -ENOMEM.
 */
int fed__prove(const struct elf_image *img, const struct code *code, uint64_t entry, size_t i,
	       bool *proven);

/*
 * 1.85 feeds each such query by a function of its own, which complains if there is a result
 * already: "Trying to feed an already recorded value for query NAME key=". The next of these names
 * from *at on, which is 0 at first; NULL: no more.
 */
const char *fed__next_name(const struct elf_image *img, size_t *at, size_t *len);

/*
 * Add the sites, or else set plan->feeds_problem, after tables__mine(). Those of queries of which
 * all definitions are fed are left out: each would have a hit. 0 or -ENOMEM, or an error of
 * elf_image__symbols().
 */
int feeds__mine(struct elf_image *img, struct code_decoder *decoder, struct plan *plan);

#endif /* QPROF_PLAN_MINE_FEEDS_H */
