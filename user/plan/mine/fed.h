/* SPDX-License-Identifier: Apache-2.0 OR MIT */
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
#ifndef QPROF_PLAN_MINE_FED_H
#define QPROF_PLAN_MINE_FED_H

#include "plan/code/decode.h"

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

#endif /* QPROF_PLAN_MINE_FED_H */
