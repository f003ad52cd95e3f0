/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Machine code as the plan reads it: one function's instructions, reduced to what mining asks
 * about. Decoding is Capstone's; which instructions the kernel emulates is decided here.
 *
 * x86-64 only: rustc's code for other machines has other idioms, and would be mined elsewhere.
 */
#ifndef QPROF_PLAN_CODE_H
#define QPROF_PLAN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/elf_image.h"
#include "qprof/wire.h"

/* Registers: enum wire_reg, and the stack pointer, which no operand of ours can be. */
#define CODE_REG_SP    15
#define CODE_REG_OTHER 254

enum code_flow {
	CODE_FALLS, /* to the next instruction */
	CODE_JCC,
	CODE_JMP,
	CODE_JMP_INDIRECT,
	CODE_CALL,
	CODE_CALL_INDIRECT,
	CODE_RET,
	CODE_TRAPS, /* ud2, int3, hlt */
};

/* The few shapes mining recognises; everything else is CODE_OTHER. */
enum code_shape {
	CODE_OTHER,
	CODE_LOAD32,	 /* mov reg, dword [base+disp] */
	CODE_LOAD64,	 /* mov reg, qword [base+disp] */
	CODE_STORE32,	 /* mov dword [base+disp], reg */
	CODE_STORE64,	 /* mov qword [base+disp], reg */
	CODE_STORE_IMM,	 /* mov qword [base+disp], imm */
	CODE_MOVE32,	 /* mov reg, base: between 32-bit registers */
	CODE_MOVE64,	 /* mov reg, base: between 64-bit registers */
	CODE_SET,	 /* mov reg, imm, or xor reg, reg: imm is all 64 bits of it */
	CODE_CMP64_ZERO, /* cmp qword [base+disp], 0 */
	CODE_TEST_SELF,	 /* test reg, reg */
	CODE_TEST_MASK,	 /* test byte [base+disp], imm */
	CODE_TEST_IMM,	 /* test reg, imm: of any width */
	CODE_LEA,	 /* lea reg, [base+disp] */
	CODE_LEA_RIP,	 /* lea reg, [rip+x]: target is the address */
	CODE_JUMP_TABLE, /* movsxd reg, dword [base+index*4]; index is not kept */
	CODE_CALL_REG,	 /* call reg */
	CODE_CALL_MEM,	 /* call [base+disp], base not rip */
	CODE_PUSH,	 /* push reg */
	CODE_GO_RIP,	 /* call or jmp [rip+x]: target is the address of the pointer */
};

struct code_insn {
	uint64_t addr;
	uint64_t target; /* of a direct jump or call, or what is said of the shape */
	int64_t disp;
	int32_t sp_adjust; /* bytes added to sp by push, pop, sub, add, lea; 0 if it leaves sp alone
			    */
	uint32_t imm;
	uint16_t writes; /* registers written, bit = enum wire_reg; bit 15 = sp */
	uint8_t size;
	uint8_t stores; /* bytes that may be written to [base+disp]; 0 if to elsewhere, or none
			 */
	uint8_t flow;
	uint8_t shape;
	uint8_t reg;
	uint8_t base;
	bool sets_flags;
	bool emulated;
};

/* A contiguous piece of a function: BOLT and LLVM split one into an entry and cold parts. */
struct code_region {
	uint64_t addr;
	uint64_t size;
};

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
 * Returns 0, -ENOMEM or -EFAULT (a region outside the file's code).
 */
int code_decoder__decode(struct code_decoder *d, const struct code_region *regions,
			 size_t n_regions, struct code *code);

/* Decode one instruction at `addr`; false if there is none. */
bool code_decoder__at(struct code_decoder *d, uint64_t addr, struct code_insn *insn);

/* Index of the instruction that starts at `addr`, or SIZE_MAX. */
size_t code__index(const struct code *code, uint64_t addr);

/* Index of the instruction right behind instruction `i`, or SIZE_MAX. */
size_t code__after(const struct code *code, size_t i);

void code__free(struct code *code);

#endif /* QPROF_PLAN_CODE_H */
