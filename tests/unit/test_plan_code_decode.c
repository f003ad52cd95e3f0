// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/decode.h"

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/library.h"
#include "../fixtures/rows.h"

#define TEXT ELF_BUILDER_TEXT_ADDR
#define ANY  CODE_REG_OTHER
#define SP   CODE_REG_SP

/* A library whose code starts with given bytes, and its decoder. */
struct lab {
	struct elf_image *img;
	struct code_decoder *decoder;
};

static struct lab lab_new(const uint8_t *bytes, size_t len)
{
	static const struct elf_builder_symbol sym = {"f", TEXT, 8, STT_FUNC, ELF_BUILDER_TEXT};
	struct elf_builder b = {.text = bytes, .text_len = len};
	struct lab lab;

	elf_builder__build(&b, &sym, 1);
	assert_int_equal(image_of_bytes(b.buf, b.len, &lab.img), 0);
	assert_int_equal(code_decoder__new(lab.img, &lab.decoder), 0);
	return lab;
}

static void lab_free(struct lab *lab)
{
	code_decoder__free(lab->decoder);
	elf_image__free(lab->img);
}

/* These bytes are exactly one instruction. */
static struct code_insn decode(const uint8_t *bytes, size_t len)
{
	struct lab lab = lab_new(bytes, len);
	struct code_insn insn;

	assert_true(code_decoder__at(lab.decoder, TEXT, &insn));
	assert_int_equal(insn.addr, TEXT);
	assert_int_equal(insn.size, len);
	lab_free(&lab);
	return insn;
}

#define DECODE(...)                                      \
	({                                               \
		const uint8_t __bytes[] = {__VA_ARGS__}; \
		decode(__bytes, sizeof(__bytes));        \
	})

#define EMULATED(...) assert_true(DECODE(__VA_ARGS__).emulated)
#define STEPPED(...)  assert_false(DECODE(__VA_ARGS__).emulated)

TEST_CASE(emulated_instructions_are_recognized)
{
	EMULATED(0x50);				/* push %rax */
	EMULATED(0x57);				/* push %rdi */
	EMULATED(0x41, 0x54);			/* push %r12 */
	EMULATED(0x90);				/* nop */
	EMULATED(0xeb, 0x10);			/* jmp rel8 */
	EMULATED(0xe9, 0x10, 0x00, 0x00, 0x00); /* jmp rel32 */
	EMULATED(0xe8, 0x10, 0x00, 0x00, 0x00); /* call rel32 */
	for (int cc = 0; cc < 16; cc++) {
		EMULATED(0x70 + cc, 0x10);			   /* jcc rel8 */
		EMULATED(0x0f, 0x80 + cc, 0x10, 0x00, 0x00, 0x00); /* jcc rel32 */
	}
}

TEST_CASE(all_else_is_stepped)
{
	/* Only newer kernels emulate some of these. */
	STEPPED(0x0f, 0x1f, 0x44, 0x00, 0x00);	     /* nopl 0(%rax,%rax) */
	STEPPED(0x0f, 0x1f, 0x00);		     /* nopl (%rax) */
	STEPPED(0xf3, 0x0f, 0x1e, 0xfa);	     /* endbr64 */
	STEPPED(0x48, 0x83, 0xec, 0x28);	     /* sub $0x28, %rsp */
	STEPPED(0x48, 0x89, 0xfb);		     /* mov %rdi, %rbx */
	STEPPED(0xc3);				     /* ret */
	STEPPED(0xf3, 0xc3);			     /* rep ret */
	STEPPED(0xff, 0xd0);			     /* call *%rax */
	STEPPED(0xff, 0x57, 0x08);		     /* call *8(%rdi) */
	STEPPED(0xff, 0xe0);			     /* jmp *%rax */
	STEPPED(0xff, 0x67, 0x18);		     /* jmp *0x18(%rdi) */
	STEPPED(0xe3, 0x10);			     /* jrcxz */
	STEPPED(0xe2, 0x10);			     /* loop */
	STEPPED(0xf0, 0x0f, 0xc1, 0x50, 0x10);	     /* lock xadd %edx, 0x10(%rax) */
	STEPPED(0x66, 0x90);			     /* xchg %ax, %ax */
	STEPPED(0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00); /* nopw 0(%rax,%rax) */
	STEPPED(0xf3, 0x90);			     /* pause */
	STEPPED(0x41, 0x90);			     /* xchg %r8, %rax */
	STEPPED(0x66, 0x50);			     /* push %ax */
	STEPPED(0x48, 0x50);			     /* push %rax, with REX.W */
	STEPPED(0x40, 0x50);			     /* push %rax, with an empty REX */
	STEPPED(0xff, 0x37);			     /* push (%rdi) */
	STEPPED(0x6a, 0x01);			     /* push $1 */
	STEPPED(0x58);				     /* pop %rax */
	STEPPED(0x2e, 0x74, 0x10);		     /* je, predicted */
	STEPPED(0xf2, 0xe9, 0x10, 0x00, 0x00, 0x00); /* bnd jmp */
	STEPPED(0x0f, 0x0b);			     /* ud2 */
	STEPPED(0xcc);				     /* int3 */
}

static void assert_flow(struct code_insn insn, enum code_flow flow, uint64_t target)
{
	assert_int_equal(insn.flow, flow);
	assert_int_equal(insn.target, target);
}

TEST_CASE(flows_are_reported_with_their_targets)
{
	assert_flow(DECODE(0x90), CODE_FALLS, 0);
	assert_flow(DECODE(0x74, 0x10), CODE_JCC, TEXT + 0x12);
	assert_flow(DECODE(0x75, 0xfe), CODE_JCC, TEXT);
	assert_flow(DECODE(0x0f, 0x85, 0x00, 0x01, 0x00, 0x00), CODE_JCC, TEXT + 0x106);
	assert_flow(DECODE(0xe3, 0x10), CODE_JCC, TEXT + 0x12);
	assert_flow(DECODE(0xe2, 0x10), CODE_JCC, TEXT + 0x12);
	assert_flow(DECODE(0xeb, 0xf0), CODE_JMP, TEXT - 0xe);
	assert_flow(DECODE(0xe9, 0x00, 0x00, 0x00, 0x00), CODE_JMP, TEXT + 5);
	assert_flow(DECODE(0xe8, 0xfb, 0xff, 0xff, 0xff), CODE_CALL, TEXT);
	assert_flow(DECODE(0xff, 0xe0), CODE_JMP_INDIRECT, 0);
	assert_flow(DECODE(0xff, 0x67, 0x18), CODE_JMP_INDIRECT, 0);
	assert_flow(DECODE(0xff, 0xd0), CODE_CALL_INDIRECT, 0);
	assert_flow(DECODE(0xc3), CODE_RET, 0);
	assert_flow(DECODE(0xc2, 0x08, 0x00), CODE_RET, 0);
	assert_flow(DECODE(0xf3, 0xc3), CODE_RET, 0);
	assert_flow(DECODE(0x0f, 0x0b), CODE_TRAPS, 0);
	assert_flow(DECODE(0xcc), CODE_TRAPS, 0);
	assert_flow(DECODE(0xf4), CODE_TRAPS, 0);
}

static void assert_shape(struct code_insn insn, enum code_shape shape, uint8_t reg, uint8_t base,
			 int64_t disp)
{
	assert_pairs(insn.shape, shape, insn.reg, reg, insn.base, base, insn.disp, disp);
}

TEST_CASE(moves_are_known)
{
	/* mov 0x10(%rsp), %rax; mov -8(%r13), %r15 */
	assert_shape(DECODE(0x48, 0x8b, 0x44, 0x24, 0x10), CODE_LOAD64, WIRE_REG_AX, SP, 0x10);
	assert_shape(DECODE(0x4d, 0x8b, 0x7d, 0xf8), CODE_LOAD64, WIRE_REG_R15, WIRE_REG_R13, -8);
	assert_shape(DECODE(0x0f, 0x10, 0x46, 0x10), CODE_LOAD128, CODE_REG_OTHER, WIRE_REG_SI,
		     0x10);
	assert_shape(DECODE(0x66, 0x0f, 0x6f, 0x06), CODE_LOAD128, CODE_REG_OTHER, WIRE_REG_SI, 0);
	/* mov %edx, 0x24(%rsp); mov %rdx, 0x24(%rsp); mov %r9, %r12 */
	assert_shape(DECODE(0x89, 0x54, 0x24, 0x24), CODE_STORE32, WIRE_REG_DX, SP, 0x24);
	assert_shape(DECODE(0x48, 0x89, 0x54, 0x24, 0x24), CODE_STORE64, WIRE_REG_DX, SP, 0x24);
	assert_shape(DECODE(0x4d, 0x89, 0xcc), CODE_MOVE64, WIRE_REG_R12, WIRE_REG_R9, 0);
	/* mov 0x10(%rsp), %eax; mov %ecx, %ebx */
	assert_shape(DECODE(0x8b, 0x44, 0x24, 0x10), CODE_LOAD32, WIRE_REG_AX, SP, 0x10);
	assert_shape(DECODE(0x89, 0xcb), CODE_MOVE32, WIRE_REG_BX, WIRE_REG_CX, 0);
	/* mov (%rax,%rcx,8), %rax; mov %ecx, (%rax,%r15,4) */
	assert_shape(DECODE(0x48, 0x8b, 0x04, 0xc8), CODE_LOAD_ITEM, WIRE_REG_AX, WIRE_REG_AX, 0);
	assert_int_equal(DECODE(0x48, 0x8b, 0x04, 0xc8).imm, 8);
	assert_shape(DECODE(0x42, 0x89, 0x0c, 0xb8), CODE_STORE_ITEM, WIRE_REG_CX, WIRE_REG_AX, 0);
	assert_int_equal(DECODE(0x42, 0x89, 0x0c, 0xb8).imm, 4);
	/* Not known: other sizes, a segment, or a constant. */
	assert_int_equal(DECODE(0x66, 0x8b, 0x44, 0x24, 0x10).shape, CODE_OTHER);
	assert_int_equal(DECODE(0x66, 0x89, 0x54, 0x24, 0x24).shape, CODE_OTHER);
	assert_int_equal(DECODE(0x66, 0x89, 0xcb).shape, CODE_OTHER);
	assert_int_equal(DECODE(0x64, 0x48, 0x8b, 0x00).shape, CODE_OTHER);
	assert_int_equal(DECODE(0xc7, 0x44, 0x24, 0x24, 1, 0, 0, 0).shape, CODE_OTHER);
}

TEST_CASE(tests_are_known)
{
	struct code_insn insn;

	/* test %rax, %rax; cmpq $0, 0x10(%rsp) */
	assert_shape(DECODE(0x48, 0x85, 0xc0), CODE_TEST_SELF, WIRE_REG_AX, ANY, 0);
	assert_shape(DECODE(0x48, 0x83, 0x7c, 0x24, 0x10, 0x00), CODE_CMP64_ZERO, ANY, SP, 0x10);
	/* testb $2, 0x1ef50(%r12) */
	insn = DECODE(0x41, 0xf6, 0x84, 0x24, 0x50, 0xef, 0x01, 0x00, 0x02);
	assert_shape(insn, CODE_TEST_MASK, ANY, 12 - 8 + WIRE_REG_R8, 0x1ef50);
	assert_int_equal(insn.imm, 2);
	/* testb $0x80 */
	insn = DECODE(0xf6, 0x43, 0x10, 0x80);
	assert_int_equal(insn.imm, 0x80);
	/* test %eax, %eax; cmpb $0, 0x21(%rbx); cmp $2, %al; cmp $0x10, %rcx */
	assert_shape(DECODE(0x85, 0xc0), CODE_TEST32_SELF, WIRE_REG_AX, ANY, 0);
	assert_shape(DECODE(0x80, 0x7b, 0x21, 0x00), CODE_CMP8_ZERO, ANY, WIRE_REG_BX, 0x21);
	insn = DECODE(0x3c, 0x02);
	assert_shape(insn, CODE_CMP_IMM, WIRE_REG_AX, ANY, 0);
	assert_int_equal(insn.imm, 2);
	insn = DECODE(0x48, 0x83, 0xf9, 0x10);
	assert_shape(insn, CODE_CMP_IMM, WIRE_REG_CX, ANY, 0);
	assert_int_equal(insn.imm, 0x10);
	/* test %rax, %rcx; cmpq $1; cmpl $0; testl $2 */
	assert_int_equal(DECODE(0x48, 0x85, 0xc1).shape, CODE_OTHER);
	assert_int_equal(DECODE(0x48, 0x83, 0x7c, 0x24, 0x10, 0x01).shape, CODE_OTHER);
	assert_int_equal(DECODE(0x83, 0x7c, 0x24, 0x10, 0x00).shape, CODE_OTHER);
	assert_int_equal(DECODE(0xf7, 0x43, 0x10, 2, 0, 0, 0).shape, CODE_OTHER);
}

TEST_CASE(tables_are_known_by_what_is_done_to_them)
{
	struct code_insn insn;

	/* movzbl 0x21(%r14), %eax; mov 0x21(%rsi), %r13b; movzwl 0x21(%rsi), %eax */
	assert_shape(DECODE(0x41, 0x0f, 0xb6, 0x46, 0x21), CODE_LOAD8, WIRE_REG_AX,
		     14 - 8 + WIRE_REG_R8, 0x21);
	assert_shape(DECODE(0x44, 0x8a, 0x6e, 0x21), CODE_LOAD8, 13 - 8 + WIRE_REG_R8, WIRE_REG_SI,
		     0x21);
	assert_int_equal(DECODE(0x0f, 0xb7, 0x46, 0x21).shape, CODE_OTHER);
	/* and $0x1f, %edx; shl $6, %edx; and $-32, %rsp, which is no number */
	insn = DECODE(0x83, 0xe2, 0x1f);
	assert_shape(insn, CODE_AND_IMM, WIRE_REG_DX, ANY, 0);
	assert_int_equal(insn.imm, 0x1f);
	insn = DECODE(0xc1, 0xe2, 0x06);
	assert_shape(insn, CODE_SHL_IMM, WIRE_REG_DX, ANY, 0);
	assert_int_equal(insn.imm, 6);
	assert_int_equal(DECODE(0x48, 0x83, 0xe4, 0xe0).shape, CODE_OTHER);
	/* lock xadd %rax, 0x1b8(%r14); lock xadd %ecx, 0x10(%rax) */
	assert_shape(DECODE(0xf0, 0x49, 0x0f, 0xc1, 0x86, 0xb8, 0x01, 0x00, 0x00), CODE_XADD64,
		     WIRE_REG_AX, 14 - 8 + WIRE_REG_R8, 0x1b8);
	assert_int_equal(DECODE(0xf0, 0x0f, 0xc1, 0x48, 0x10).shape, CODE_OTHER);
}

TEST_CASE(addresses_and_calls_are_known)
{
	struct code_insn insn;

	/* lea 0x10(%rsp), %rdi; lea 0x100(%rip), %rcx; lea (%rax,%rcx), %rdx */
	assert_shape(DECODE(0x48, 0x8d, 0x7c, 0x24, 0x10), CODE_LEA, WIRE_REG_DI, SP, 0x10);
	insn = DECODE(0x48, 0x8d, 0x0d, 0x00, 0x01, 0x00, 0x00);
	assert_pairs(insn.shape, CODE_LEA_RIP, insn.reg, WIRE_REG_CX, insn.target,
		     TEXT + 7 + 0x100);
	assert_int_equal(DECODE(0x48, 0x8d, 0x14, 0x08).shape, CODE_OTHER);
	/* movslq (%rcx,%rax,4), %rdx; with a factor of 8 */
	assert_shape(DECODE(0x48, 0x63, 0x14, 0x81), CODE_JUMP_TABLE, WIRE_REG_DX, WIRE_REG_CX, 0);
	assert_int_equal(DECODE(0x48, 0x63, 0x14, 0xc1).shape, CODE_OTHER);
	/* call *%r11; call *0x20(%r14); call *0(%rip); call *(%rax,%rcx) */
	assert_shape(DECODE(0x41, 0xff, 0xd3), CODE_CALL_REG, WIRE_REG_R11, ANY, 0);
	assert_shape(DECODE(0x41, 0xff, 0x56, 0x20), CODE_CALL_MEM, ANY, WIRE_REG_R14, 0x20);
	assert_shape(DECODE(0xff, 0x67, 0x18), CODE_JMP_MEM, ANY, WIRE_REG_DI, 0x18);
	/* call and jmp through a pointer of the GOT */
	insn = DECODE(0xff, 0x15, 0x10, 0, 0, 0);
	assert_pairs(insn.shape, CODE_GO_RIP, insn.flow, CODE_CALL_INDIRECT, insn.target,
		     TEXT + 6 + 0x10);
	insn = DECODE(0xff, 0x25, 0xf0, 0xff, 0xff, 0xff);
	assert_pairs(insn.shape, CODE_GO_RIP, insn.flow, CODE_JMP_INDIRECT, insn.target,
		     TEXT + 6 - 0x10);
	assert_int_equal(DECODE(0xff, 0x14, 0x08).shape, CODE_OTHER);
}

TEST_CASE(constants_are_known)
{
	struct code_insn insn;

	/* movq $0x1b, 0x48(%rsp) */
	insn = DECODE(0x48, 0xc7, 0x44, 0x24, 0x48, 0x1b, 0, 0, 0);
	assert_shape(insn, CODE_STORE_IMM, ANY, CODE_REG_SP, 0x48);
	assert_int_equal(insn.imm, 0x1b);
	/* mov $0x24, %ecx; xor %r9d, %r9d; mov $1, %al leaves the rest as it was */
	insn = DECODE(0xb9, 0x24, 0, 0, 0);
	assert_shape(insn, CODE_SET, WIRE_REG_CX, ANY, 0);
	assert_int_equal(insn.imm, 0x24);
	insn = DECODE(0x45, 0x31, 0xc9);
	assert_shape(insn, CODE_SET, WIRE_REG_R9, ANY, 0);
	assert_int_equal(insn.imm, 0);
	assert_int_equal(DECODE(0xb0, 0x01).shape, CODE_OTHER);
	assert_int_equal(DECODE(0x48, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff).shape, CODE_OTHER);
	/* test $1, %al; test $1, %ah */
	insn = DECODE(0xa8, 0x01);
	assert_shape(insn, CODE_TEST_IMM, WIRE_REG_AX, ANY, 0);
	assert_int_equal(insn.imm, 1);
	assert_int_equal(DECODE(0xf6, 0xc4, 0x01).imm, 0x100);
}

TEST_CASE(stores_and_the_stack_pointer_are_followed)
{
	/* Every store is reported. */
	/* mov %rax, 8(%rsp); movups %xmm0, 0x10(%rsp); lock incq (%rbx); mov 8(%rsp), %rax */
	assert_int_equal(DECODE(0x48, 0x89, 0x44, 0x24, 0x08).stores, 8);
	assert_int_equal(DECODE(0x0f, 0x11, 0x44, 0x24, 0x10).stores, 16);
	assert_int_equal(DECODE(0x0f, 0x11, 0x44, 0x24, 0x10).disp, 0x10);
	assert_int_equal(DECODE(0xf0, 0x48, 0xff, 0x03).stores, 8);
	assert_int_equal(DECODE(0x48, 0x8b, 0x44, 0x24, 0x08).stores, 0);
	assert_int_equal(DECODE(0x48, 0x83, 0x7c, 0x24, 0x08, 0x00).stores, 0);
	/* The stack pointer is followed. */
	assert_int_equal(DECODE(0x50).sp_adjust, -8);
	assert_int_equal(DECODE(0x41, 0x54).sp_adjust, -8);
	assert_int_equal(DECODE(0x66, 0x50).sp_adjust, -2);
	assert_int_equal(DECODE(0x6a, 0x01).sp_adjust, -8);
	assert_int_equal(DECODE(0x68, 1, 0, 0, 0).sp_adjust, -8);
	assert_int_equal(DECODE(0xff, 0x37).sp_adjust, -8);
	assert_int_equal(DECODE(0x58).sp_adjust, 8);
	assert_int_equal(DECODE(0x48, 0x83, 0xec, 0x28).sp_adjust, -0x28);
	assert_int_equal(DECODE(0x48, 0x81, 0xec, 0, 2, 0, 0).sp_adjust, -0x200);
	assert_int_equal(DECODE(0x48, 0x83, 0xec, 0x80).sp_adjust, 0x80);
	assert_int_equal(DECODE(0x48, 0x83, 0xc4, 0x28).sp_adjust, 0x28);
	assert_int_equal(DECODE(0x48, 0x8d, 0x64, 0x24, 0xe8).sp_adjust, -0x18);
	/* and $-32, %rsp; sub %rax, %rsp; leave; pushf: a write of unknown size */
	assert_int_equal(DECODE(0x48, 0x83, 0xe4, 0xe0).sp_adjust, 0);
	assert_true(DECODE(0x48, 0x83, 0xe4, 0xe0).writes & 1u << SP);
	assert_int_equal(DECODE(0x48, 0x29, 0xc4).sp_adjust, 0);
	assert_true(DECODE(0x48, 0x29, 0xc4).writes & 1u << SP);
	assert_true(DECODE(0xc9).writes & 1u << SP);
	assert_true(DECODE(0x9c).writes & 1u << SP);
	/* sub $8, %rax does not change it. */
	assert_int_equal(DECODE(0x48, 0x83, 0xe8, 0x08).sp_adjust, 0);
	/* Writes are reported. */
	assert_int_equal(DECODE(0x48, 0x89, 0xfb).writes, 1u << WIRE_REG_BX);
	assert_int_equal(DECODE(0xb4, 0x01).writes, 1u << WIRE_REG_AX);	       /* mov $1, %ah */
	assert_int_equal(DECODE(0x41, 0xb7, 0x01).writes, 1u << WIRE_REG_R15); /* mov $1, %r15b */
	assert_int_equal(DECODE(0x89, 0x54, 0x24, 0x24).writes, 0);
	assert_int_equal(DECODE(0x48, 0x85, 0xc0).writes, 0);
	/* mul %rcx writes two, implicitly; xchg %rbx, %rcx both; cmove %rcx, %rbx perhaps one */
	assert_int_equal(DECODE(0x48, 0xf7, 0xe1).writes, 1u << WIRE_REG_AX | 1u << WIRE_REG_DX);
	assert_int_equal(DECODE(0x48, 0x87, 0xcb).writes, 1u << WIRE_REG_BX | 1u << WIRE_REG_CX);
	assert_int_equal(DECODE(0x48, 0x0f, 0x44, 0xd9).writes, 1u << WIRE_REG_BX);
	/* lock xadd %edx, 0x10(%rbx) */
	assert_int_equal(DECODE(0xf0, 0x0f, 0xc1, 0x53, 0x10).writes, 1u << WIRE_REG_DX);
}

TEST_CASE(a_call_clobbers_what_the_abi_lets_it)
{
	uint16_t kept = 1u << WIRE_REG_BX | 1u << WIRE_REG_BP | 1u << WIRE_REG_R12 |
			1u << WIRE_REG_R13 | 1u << WIRE_REG_R14 | 1u << WIRE_REG_R15 | 1u << SP;

	assert_int_equal(DECODE(0xe8, 0, 0, 0, 0).writes, (uint16_t)~kept);
	assert_int_equal(DECODE(0xff, 0xd3).writes, (uint16_t)~kept);
}

TEST_CASE(instructions_that_set_flags_are_known)
{
	assert_true(DECODE(0x48, 0x85, 0xc0).sets_flags);
	assert_true(DECODE(0x48, 0x83, 0x7c, 0x24, 0x10, 0x00).sets_flags);
	assert_true(DECODE(0x48, 0x83, 0xec, 0x28).sets_flags);
	assert_true(DECODE(0xf0, 0x0f, 0xc1, 0x53, 0x10).sets_flags);
	assert_false(DECODE(0x48, 0x89, 0xfb).sets_flags);
	assert_false(DECODE(0x48, 0x8d, 0x64, 0x24, 0xe8).sets_flags);
	assert_false(DECODE(0x0f, 0x94, 0xc0).sets_flags); /* sete %al */
}

/* push %rbp; mov %rdi, %rbx; no instruction; call; nop; nop; ret */
static const uint8_t function[] = {0x55, 0x48, 0x89, 0xfb, 0x06, 0xe8, 0,
				   0,	 0,    0,    0x90, 0x90, 0xc3};

TEST_CASE(a_function_is_decoded_in_its_order)
{
	struct lab lab = lab_new(function, sizeof(function));
	/* The second part comes first; the first part occurs twice and overlaps the second. */
	const struct code_region parts[] = {{TEXT + 10, 3}, {TEXT, 11}, {TEXT, 5}};
	static const uint8_t at[] = {0, 1, 5, 10, 11, 12};
	__cleanup(code__free) struct code code = {0};

	for (size_t n = 2; n <= 3; n++) {
		assert_int_equal(code_decoder__decode(lab.decoder, parts, n, &code), 0);
		assert_int_equal(code.n, 6);
		for (size_t i = 0; i < code.n; i++) {
			assert_int_equal(code.insns[i].addr, TEXT + at[i]);
			assert_int_equal(code__index(&code, TEXT + at[i]), i);
		}
	}
	assert_int_equal(code__index(&code, TEXT + 2), SIZE_MAX);
	assert_int_equal(code__index(&code, TEXT - 1), SIZE_MAX);
	assert_int_equal(code__index(&code, TEXT + 13), SIZE_MAX);
	lab_free(&lab);
}

TEST_CASE(a_region_outside_the_code_is_refused)
{
	struct lab lab = lab_new(function, sizeof(function));
	const struct code_region bad[] = {{TEXT - 4096, 8},
					  {TEXT + ELF_BUILDER_TEXT_SIZE, 1},
					  {TEXT, ELF_BUILDER_TEXT_SIZE + 1},
					  {TEXT, UINT64_MAX},
					  {UINT64_MAX, 1}};
	__cleanup(code__free) struct code code = {0};
	struct code_insn insn;

	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(code_decoder__decode(lab.decoder, &bad[i], 1, &code), -EFAULT);
	assert_int_equal(code_decoder__decode(lab.decoder, bad, 0, &code), 0);
	assert_int_equal(code.n, 0);
	assert_int_equal(code__index(&code, TEXT), SIZE_MAX);
	assert_false(code_decoder__at(lab.decoder, TEXT + ELF_BUILDER_TEXT_SIZE, &insn));
	assert_false(code_decoder__at(lab.decoder, TEXT + 4, &insn));
	lab_free(&lab);
}

TEST_MAIN(NULL, NULL)
