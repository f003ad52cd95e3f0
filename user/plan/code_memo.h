/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What bytes were decoded to before. Of the instructions that a plan is made from five in six have
 * been met already, and to find them again takes a small part of what decoding takes.
 *
 * Nothing has to be known of the machine for that: no instruction's encoding begins with another's,
 * and what it means depends on its own bytes and its address only. All that is known is where some
 * very common ones hold a displacement from their own address, by which alone they differ.
 */
#ifndef QPROF_PLAN_CODE_MEMO_H
#define QPROF_PLAN_CODE_MEMO_H

#include "plan/code.h"

struct code_memo;

/* NULL if out of memory. It keeps to 4 MiB: what is met again and again is not forgotten for long.
 */
struct code_memo *code_memo__new(void);
void code_memo__free(struct code_memo *m);

/*
 * The instruction that the bytes at `addr`, `len` of them, begin with. Returns its size, 0 if it is
 * not remembered. (To go on from that is much faster than from `out->size`: it is known before what
 * is remembered has come from memory.)
 */
size_t code_memo__find(const struct code_memo *m, const uint8_t *bytes, size_t len, uint64_t addr,
		       struct code_insn *out);

/* Remember that `bytes`, `insn->size` of them, are `insn`. */
void code_memo__add(struct code_memo *m, const uint8_t *bytes, const struct code_insn *insn);

#endif /* QPROF_PLAN_CODE_MEMO_H */
