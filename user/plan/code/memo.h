/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Remembers the instructions that bytes decode to. Almost all of the instructions that a plan is
 * made from have been decoded before, and finding them again takes a small part of the time of
 * decoding.
 *
 * The meaning of an instruction depends only on its bytes and its address. Most instructions differ
 * only by a displacement from others, in one field of struct code_insn: of such an instruction it
 * is left out of what is remembered, if the decoder's result shows which field that is.
 */
#ifndef QPROF_PLAN_CODE_MEMO_H
#define QPROF_PLAN_CODE_MEMO_H

#include <stddef.h>

#include "plan/code/insn.h"

struct code_memo;

/*
 * NULL if out of memory. The size is limited to 2 MiB: frequent instructions are not forgotten for
 * long.
 */
struct code_memo *code_memo__new(void);
void code_memo__free(struct code_memo *m);

/*
 * Find the instruction at the start of the `len` bytes at `addr`. Returns its size, 0 if it is not
 * remembered.
 */
size_t code_memo__find(const struct code_memo *m, const uint8_t *bytes, size_t len, uint64_t addr,
		       struct code_insn *out);

/* Remember that `bytes`, `insn->size` of them, are `insn`. */
void code_memo__add(struct code_memo *m, const uint8_t *bytes, const struct code_insn *insn);

#endif /* QPROF_PLAN_CODE_MEMO_H */
