/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An instruction, reduced to the properties that mining uses. */
#ifndef QPROF_PLAN_CODE_INSN_H
#define QPROF_PLAN_CODE_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "qprof/wire.h"

/* Registers: enum wire_reg, and the stack pointer, which no operand of ours can be. */
#define CODE_REG_SP    15
#define CODE_REGS      ((1u << CODE_REG_SP) - 1) /* all but sp, as bits */
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
	CODE_LOAD8,   /* mov or movzx reg, byte [base+disp] */
	CODE_LOAD32,  /* mov reg, dword [base+disp] */
	CODE_LOAD64,  /* mov reg, qword [base+disp] */
	CODE_LOAD128, /* movups xmm, [base+disp], and its like */
	/* movzx or mov reg, [base+index*scale+disp]; index and scale are not kept */
	CODE_LOAD8_INDEXED,
	CODE_LOAD32_INDEXED,
	/* mov reg, qword [base+index*imm+disp]; mov dword [base+index*imm], reg: likewise */
	CODE_LOAD_ITEM,
	CODE_STORE_ITEM,
	CODE_STORE32,	 /* mov dword [base+disp], reg */
	CODE_STORE64,	 /* mov qword [base+disp], reg */
	CODE_STORE_IMM,	 /* mov qword [base+disp], imm */
	CODE_MOVE32,	 /* mov reg, base: between 32-bit registers */
	CODE_MOVE64,	 /* mov reg, base: between 64-bit registers */
	CODE_SET,	 /* mov reg, imm, or xor reg, reg: imm is all 64 bits of it */
	CODE_CMP64_ZERO, /* cmp qword [base+disp], 0 */
	CODE_CMP8_ZERO,	 /* cmp byte [base+disp], 0 */
	CODE_CMP_IMM,	 /* cmp reg, imm: of any width */
	CODE_ADD_IMM,	 /* add reg, imm: likewise */
	CODE_AND_IMM,	 /* and reg, imm: likewise */
	CODE_SHL_IMM,	 /* shl reg, imm: likewise */
	CODE_XADD64,	 /* xadd qword [base+disp], reg */
	CODE_TEST_SELF,	 /* test reg, reg: between 64-bit registers */
	CODE_TEST32_SELF,
	CODE_TEST_MASK,	 /* test byte [base+disp], imm */
	CODE_TEST_IMM,	 /* test reg, imm: of any width */
	CODE_LEA,	 /* lea reg, [base+disp] */
	CODE_LEA_RIP,	 /* lea reg, [rip+x]: target is the address */
	CODE_JUMP_TABLE, /* movsxd reg, dword [base+index*4]; index is not kept */
	CODE_CALL_REG,	 /* call reg */
	CODE_CALL_MEM,	 /* call [base+disp], base not rip */
	CODE_JMP_MEM,	 /* jmp [base+disp], base not rip */
	CODE_PUSH,	 /* push reg */
	/*
	 * call or jmp [rip+x]: target is the address of the pointer. One that leads to a function
	 * of the library is decoded as a direct call or jump of it, which is not emulated.
	 */
	CODE_GO_RIP,
};

struct code_insn {
	uint64_t addr;
	uint64_t target; /* of a direct jump or call; for other shapes, see there */
	int64_t disp;
	int32_t sp_adjust; /* bytes that push, pop, sub, add or lea adds to sp; or 0 */
	uint32_t imm;
	uint16_t writes; /* registers written, bit = enum wire_reg; bit 15 = sp */
	uint8_t size;
	uint8_t stores; /* bytes that it may write to [base+disp]; 0: none, or elsewhere */
	uint8_t flow;
	uint8_t shape;
	uint8_t reg;
	uint8_t base;
	bool sets_flags;
	bool emulated;
};

/* Whether control may reach the instruction behind it. */
static inline bool code_insn__goes_on(const struct code_insn *insn)
{
	return insn->flow == CODE_FALLS || insn->flow == CODE_JCC || insn->flow == CODE_CALL ||
	       insn->flow == CODE_CALL_INDIRECT;
}

#endif /* QPROF_PLAN_CODE_INSN_H */
