/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Decodes the machine code of one function into the instructions of insn.h. Capstone decodes; this
 * file decides which instructions the kernel emulates.
 *
 * x86-64 only: rustc's code for other machines has other idioms, and needs other mining code.
 *
 * To learn how the room user/plan/code works, read in this order:
 *
 *	insn.h		an instruction
 *	decode.h	from the bytes of a function to its instructions: this file
 *	walk.h		paths through a function: to where a guard starts, and to its ends
 *	flow.h		the contents of registers and stack slots, on all paths to a point
 *	eval.h		runs a small function on unknown arguments, along every path
 *	straight.h	runs one long function, along one path
 *
 * sum.h has the values of eval.h, and shape.h asks which of them a function showed. scan.h finds
 * calls by their bytes, and insn_length.h steps over instructions, as decoding all code takes too
 * long.
 */
#ifndef QPROF_PLAN_CODE_DECODE_H
#define QPROF_PLAN_CODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/code/insn.h"
#include "plan/symbols/elf_image.h"

/* A contiguous piece of a function: BOLT and LLVM split one into an entry and cold parts. */
struct code_region {
	uint64_t addr;
	uint64_t size;
};

/*
 * Add a part to the `*n` regions of a function; there is room for it. Folded twins give the same
 * part more than once, maybe of different sizes: the largest counts.
 */
void code_region__add(struct code_region *regions, size_t *n, struct code_region part);

struct code {
	struct code_insn *insns; /* sorted by address */
	size_t n;
	uint32_t capacity;
};

struct code_decoder;

/* 0, or -ENOMEM. */
int code_decoder__new(const struct elf_image *img, struct code_decoder **out);
void code_decoder__free(struct code_decoder *d);
DEFINE_CLEANUP(struct code_decoder, code_decoder__free)
#define _code_decoder_ __cleanup(code_decoder__free_p)

/*
 * Decode all of `regions` (linear sweep; bytes that are no instruction are skipped). `code` is
 * reused: pass the same struct for one function after another, and code__free() it once.
 * Returns 0, -ENOMEM, -EFAULT (a region outside the file's code) or -EFBIG (all regions together
 * are more than any compiler's: this decoder decodes no more).
 */
int code_decoder__decode(struct code_decoder *d, const struct code_region *regions,
			 size_t n_regions, struct code *code);

/* It has returned -EFBIG. */
bool code_decoder__is_spent(const struct code_decoder *d);

/* Decode one instruction at `addr`; false if there is none. */
bool code_decoder__at(struct code_decoder *d, uint64_t addr, struct code_insn *insn);

/* Index of the instruction that starts at `addr`, or SIZE_MAX. */
size_t code__index(const struct code *code, uint64_t addr);

/* Index of the instruction right behind instruction `i`, or SIZE_MAX. */
size_t code__after(const struct code *code, size_t i);

void code__free(struct code *code);

/* ---- Registers ------------------------------------------------------------------------------- */

/* The registers of arguments, in their order: enum wire_reg. */
#define CODE_ARGUMENTS 6
extern const uint8_t code_arguments[CODE_ARGUMENTS];

/* The enum wire_reg, or CODE_REG_SP, that capstone's register is or is a part of; else
 * CODE_REG_OTHER. */
uint8_t code_register(unsigned int capstone_register);

/* ah, bh, ch, dh */
bool code_register_is_high_byte(unsigned int capstone_register);

#endif /* QPROF_PLAN_CODE_DECODE_H */
