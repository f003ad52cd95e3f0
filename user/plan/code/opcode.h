/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The encodings of x86-64 that the plan recognises by their bytes, where decoding would take too
 * long: branches, and instructions that refer to a place relative to their own end.
 */
#ifndef QPROF_PLAN_CODE_OPCODE_H
#define QPROF_PLAN_CODE_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* call rel32; jmp rel32 is one more. */
#define OPCODE_CALL	 0xe8
#define OPCODE_CALL_SIZE 5
/* call and jmp through a pointer at rip + rel32. */
#define OPCODE_INDIRECT	     0xff
#define OPCODE_MODRM_CALL    0x15
#define OPCODE_MODRM_JMP     0x25
#define OPCODE_INDIRECT_SIZE 6
#define OPCODE_LEA	     0x8d
/* je and jne: the second of two bytes, and short in one. */
#define OPCODE_TWO_BYTES 0x0f
#define OPCODE_JE	 0x84
#define OPCODE_JNE	 0x85
#define OPCODE_JE_SHORT	 0x74
#define OPCODE_JNE_SHORT 0x75

static inline uint32_t opcode_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The address that the four bytes at `rel` refer to, if the instruction ends at `end`. */
static inline uint64_t opcode_target(const uint8_t *rel, uint64_t end)
{
	return end + (uint64_t)(int64_t)(int32_t)opcode_u32(rel);
}

/* call or jmp rel32. */
static inline bool opcode_is_call(const uint8_t *p)
{
	return (p[0] & 0xfe) == OPCODE_CALL;
}

/* A jump on a condition, rel32: two bytes are looked at. */
static inline bool opcode_is_jcc(const uint8_t *p)
{
	return p[0] == OPCODE_TWO_BYTES && (p[1] & 0xf0) == 0x80;
}

/* Whether je or jne is taken if what was compared is equal: 1, 0; another instruction: -1. */
static inline int opcode_taken_if_equal(const uint8_t *p)
{
	if (p[0] == OPCODE_JE_SHORT || (p[0] == OPCODE_TWO_BYTES && p[1] == OPCODE_JE))
		return 1;
	return p[0] == OPCODE_JNE_SHORT || (p[0] == OPCODE_TWO_BYTES && p[1] == OPCODE_JNE) ? 0
											    : -1;
}

/* lea reg, [rip + rel32], without the prefix: two bytes are looked at. */
static inline bool opcode_is_lea_rip(const uint8_t *p)
{
	return p[0] == OPCODE_LEA && (p[1] & 0xc7) == 0x05;
}

/* jmp rel8, or on a condition. */
static inline bool opcode_is_short_jump(const uint8_t *p)
{
	return p[0] == 0xeb || (p[0] & 0xf0) == 0x70;
}

/* call or jmp [rip + rel32]: two bytes are looked at. */
static inline bool opcode_is_call_through(const uint8_t *p)
{
	return p[0] == OPCODE_INDIRECT && (p[1] == OPCODE_MODRM_CALL || p[1] == OPCODE_MODRM_JMP);
}

/*
 * The instructions that arch/x86/kernel/uprobes.c emulates in every kernel since 6.1:
 * branch_setup_xol_ops() takes jmp, call rel32, jcc and the one-byte nop (longer nops only
 * since 6.18), push_setup_xol_ops() takes push of a register. Kernels treat prefixes differently,
 * and rustc's code has none, so an instruction with a prefix does not count, except push with the
 * REX prefix of r8 to r15.
 */
static inline bool opcode_is_emulated(const uint8_t *op, size_t size)
{
	if (op[0] == 0x90 || (op[0] >= 0x70 && op[0] <= 0x7f) || op[0] == 0xeb || op[0] == 0xe9 ||
	    op[0] == 0xe8)
		return true;
	if (op[0] == 0x0f)
		return size > 1 && op[1] >= 0x80 && op[1] <= 0x8f;
	if (op[0] >= 0x50 && op[0] <= 0x57)
		return true;
	return op[0] == 0x41 && size == 2 && op[1] >= 0x50 && op[1] <= 0x57;
}

#endif /* QPROF_PLAN_CODE_OPCODE_H */
