/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The length of an x86-64 instruction, some forty times as fast as decoding it. With it, each site
 * is proven to be the start of an instruction whenever a plan is loaded.
 */
#ifndef QPROF_PLAN_CODE_INSN_LENGTH_H
#define QPROF_PLAN_CODE_INSN_LENGTH_H

#include <stddef.h>
#include <stdint.h>

#include "plan/code/insn.h"

/* No instruction is longer. */
#define INSN_LENGTH_MAX 15

/*
 * The length of the instruction at `p`, of which `len` bytes are readable; 0 if the bytes are no
 * instruction, or if it is longer than `len`. Encodings that compilers do not emit for programs
 * (XOP, 3DNow!, UD0, moves of control registers, a branch with an operand size) count as no
 * instruction.
 */
size_t insn_length(const uint8_t *p, size_t len);

/* A displacement within an instruction: of its memory operand, or of a relative branch. */
struct insn_displacement {
	uint8_t at;
	uint8_t size; /* 1 or 4; 0: there is none, or it was not looked for */
};

/*
 * The same length, and the displacement. It is not looked for behind rare prefixes, in vector
 * encodings, or if only INSN_LENGTH_MAX bytes or fewer are readable.
 */
size_t insn_length_displaced(const uint8_t *p, size_t len, struct insn_displacement *d);

/*
 * Remembers the instructions that bytes decode to. Almost all of the instructions that a plan is
 * made from have been decoded before, and finding them again takes a small part of the time of
 * decoding.
 *
 * The meaning of an instruction depends only on its bytes and its address. Most instructions differ
 * only by a displacement from others, in one field of struct code_insn: of such an instruction it
 * is left out of what is remembered, if the decoder's result shows which field that is.
 */

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

#endif /* QPROF_PLAN_CODE_INSN_LENGTH_H */
