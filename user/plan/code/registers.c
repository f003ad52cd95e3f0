// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/registers.h"

#include <capstone/capstone.h>

#include "plan/code/insn.h"

const uint8_t code_arguments[CODE_ARGUMENTS] = {WIRE_REG_DI, WIRE_REG_SI, WIRE_REG_DX,
						WIRE_REG_CX, WIRE_REG_R8, WIRE_REG_R9};

#define REG_CASE(r64, r32, r16, r8, wire) \
	case X86_REG_##r64:               \
	case X86_REG_##r32:               \
	case X86_REG_##r16:               \
	case X86_REG_##r8:                \
		return wire

uint8_t code_register(unsigned int reg)
{
	switch (reg) {
		REG_CASE(RAX, EAX, AX, AL, WIRE_REG_AX);
		REG_CASE(RBX, EBX, BX, BL, WIRE_REG_BX);
		REG_CASE(RCX, ECX, CX, CL, WIRE_REG_CX);
		REG_CASE(RDX, EDX, DX, DL, WIRE_REG_DX);
		REG_CASE(RSI, ESI, SI, SIL, WIRE_REG_SI);
		REG_CASE(RDI, EDI, DI, DIL, WIRE_REG_DI);
		REG_CASE(RBP, EBP, BP, BPL, WIRE_REG_BP);
		REG_CASE(RSP, ESP, SP, SPL, CODE_REG_SP);
		REG_CASE(R8, R8D, R8W, R8B, WIRE_REG_R8);
		REG_CASE(R9, R9D, R9W, R9B, WIRE_REG_R9);
		REG_CASE(R10, R10D, R10W, R10B, WIRE_REG_R10);
		REG_CASE(R11, R11D, R11W, R11B, WIRE_REG_R11);
		REG_CASE(R12, R12D, R12W, R12B, WIRE_REG_R12);
		REG_CASE(R13, R13D, R13W, R13B, WIRE_REG_R13);
		REG_CASE(R14, R14D, R14W, R14B, WIRE_REG_R14);
		REG_CASE(R15, R15D, R15W, R15B, WIRE_REG_R15);
	case X86_REG_AH:
		return WIRE_REG_AX;
	case X86_REG_BH:
		return WIRE_REG_BX;
	case X86_REG_CH:
		return WIRE_REG_CX;
	case X86_REG_DH:
		return WIRE_REG_DX;
	default:
		return CODE_REG_OTHER;
	}
}

bool code_register_is_high_byte(unsigned int reg)
{
	return reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH || reg == X86_REG_DH;
}
