// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/decode.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/code/insn_length.h"
#include "plan/code/opcode.h"

/* Bytes of functions: a plan of rustc takes 7 MB. Symbols may overlap, and be as many as they like.
 */
#define DECODED_MOST (64u << 20)

struct code_decoder {
	const struct elf_image *img;
	uint64_t decoded; /* bytes */
	struct code_memo *memo;
	csh cs;
	cs_insn *insn;
};

int code_decoder__new(const struct elf_image *img, struct code_decoder **out)
{
	_code_decoder_ struct code_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->img = img;
	d->memo = code_memo__new();
	if (!d->memo || cs_open(CS_ARCH_X86, CS_MODE_64, &d->cs) != CS_ERR_OK)
		return -ENOMEM;
	cs_option(d->cs, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->cs);
	if (!d->insn)
		return -ENOMEM;
	*out = take_ptr(d);
	return 0;
}

void code_decoder__free(struct code_decoder *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	if (d->cs)
		cs_close(&d->cs);
	code_memo__free(d->memo);
	free(d);
}

void code_region__add(struct code_region *regions, size_t *n, struct code_region part)
{
	size_t i = 0;

	while (i < *n && regions[i].addr != part.addr)
		i++;
	if (i == *n)
		regions[(*n)++] = part;
	else if (part.size > regions[i].size)
		regions[i].size = part.size;
}

void code__free(struct code *code)
{
	free(code->insns);
	*code = (struct code){.n = 0};
}

/*
 * Wire registers end at r15 = 14, so bit 15 is free for sp. A call clobbers what the SysV ABI
 * lets it clobber.
 */
static uint16_t write_bit(unsigned int reg)
{
	uint8_t r = code_register(reg);

	return r == CODE_REG_OTHER ? 0 : (uint16_t)(1u << r);
}

static const uint16_t call_clobbers = 1u << WIRE_REG_AX | 1u << WIRE_REG_CX | 1u << WIRE_REG_DX |
				      1u << WIRE_REG_SI | 1u << WIRE_REG_DI | 1u << WIRE_REG_R8 |
				      1u << WIRE_REG_R9 | 1u << WIRE_REG_R10 | 1u << WIRE_REG_R11;

static uint16_t writes_of(const cs_insn *insn)
{
	const cs_detail *detail = insn->detail;
	uint16_t writes = 0;

	for (int i = 0; i < detail->regs_write_count; i++)
		writes |= write_bit(detail->regs_write[i]);
	for (int i = 0; i < detail->x86.op_count; i++) {
		const cs_x86_op *op = &detail->x86.operands[i];

		if (op->type == X86_OP_REG && (op->access & CS_AC_WRITE))
			writes |= write_bit(op->reg);
	}
	return writes;
}

static enum code_flow flow_of(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_CALL:
		return insn->detail->x86.operands[0].type == X86_OP_IMM ? CODE_CALL
									: CODE_CALL_INDIRECT;
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_IRETQ:
		return CODE_RET;
	case X86_INS_UD2:
	case X86_INS_INT3:
	case X86_INS_HLT:
		return CODE_TRAPS;
	default:
		break;
	}
	for (int i = 0; i < insn->detail->groups_count; i++) {
		if (insn->detail->groups[i] != CS_GRP_JUMP &&
		    insn->detail->groups[i] != CS_GRP_BRANCH_RELATIVE)
			continue;
		/* jrcxz and loop end a block, too, but the kernel does not emulate them. */
		if (insn->id != X86_INS_JMP)
			return CODE_JCC;
		return insn->detail->x86.operands[0].type == X86_OP_IMM ? CODE_JMP
									: CODE_JMP_INDIRECT;
	}
	return CODE_FALLS;
}

/* Capstone reports it in either of two ways. */
static bool writes_flags(const cs_insn *insn)
{
	const cs_detail *detail = insn->detail;

	for (int i = 0; i < detail->regs_write_count; i++)
		if (detail->regs_write[i] == X86_REG_EFLAGS)
			return true;
	return detail->x86.eflags &
	       (X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_RESET_ZF | X86_EFLAGS_UNDEFINED_ZF);
}

static int32_t sp_adjust_of(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *src = &x->operands[1];
	bool on_sp = x->op_count == 2 && x->operands[0].type == X86_OP_REG &&
		     x->operands[0].reg == X86_REG_RSP;

	switch (insn->id) {
	case X86_INS_PUSH:
		return -(int32_t)x->operands[0].size;
	case X86_INS_POP:
		return x->operands[0].size;
	case X86_INS_SUB:
		return on_sp && src->type == X86_OP_IMM ? -(int32_t)src->imm : 0;
	case X86_INS_ADD:
		return on_sp && src->type == X86_OP_IMM ? (int32_t)src->imm : 0;
	case X86_INS_LEA:
		return on_sp && src->mem.base == X86_REG_RSP && src->mem.index == X86_REG_INVALID
			       ? (int32_t)src->mem.disp
			       : 0;
	default:
		return 0;
	}
}

static bool is_plain_memory(const cs_x86_op *op)
{
	return op->type == X86_OP_MEM && op->mem.index == X86_REG_INVALID &&
	       op->mem.segment == X86_REG_INVALID;
}

static void set_memory(struct code_insn *out, const cs_x86_op *op)
{
	out->base = code_register(op->mem.base);
	out->disp = op->mem.disp;
}

static void set_to(struct code_insn *out, const cs_x86_op *dst, int64_t imm)
{
	/* A 32-bit write clears the upper half. */
	if (imm < 0 || imm > UINT32_MAX)
		return;
	out->shape = CODE_SET;
	out->reg = code_register(dst->reg);
	out->imm = (uint32_t)imm;
}

static bool is_item(const cs_x86_op *op)
{
	return op->type == X86_OP_MEM && op->mem.index != X86_REG_INVALID &&
	       op->mem.segment == X86_REG_INVALID;
}

static void set_item(struct code_insn *out, enum code_shape shape, const cs_x86_op *reg,
		     const cs_x86_op *item)
{
	out->shape = (uint8_t)shape;
	out->reg = code_register(reg->reg);
	out->imm = (uint32_t)item->mem.scale;
	set_memory(out, item);
}

static void shape_of_mov(struct code_insn *out, const cs_x86_op *dst, const cs_x86_op *src)
{
	if (dst->type == X86_OP_REG && dst->size != 2 && is_plain_memory(src)) {
		out->shape = dst->size == 1   ? CODE_LOAD8
			     : dst->size == 4 ? CODE_LOAD32
					      : CODE_LOAD64;
		out->reg = code_register(dst->reg);
		set_memory(out, src);
	} else if (dst->type == X86_OP_REG && dst->size == 4 && src->type == X86_OP_MEM &&
		   src->mem.segment == X86_REG_INVALID) {
		out->shape = CODE_LOAD32_INDEXED;
		out->reg = code_register(dst->reg);
		set_memory(out, src);
	} else if (is_plain_memory(dst) && (dst->size == 4 || dst->size == 8) &&
		   src->type == X86_OP_REG) {
		out->shape = dst->size == 4 ? CODE_STORE32 : CODE_STORE64;
		out->reg = code_register(src->reg);
		set_memory(out, dst);
	} else if (dst->type == X86_OP_REG && src->type == X86_OP_REG && dst->size >= 4) {
		out->shape = dst->size == 4 ? CODE_MOVE32 : CODE_MOVE64;
		out->reg = code_register(dst->reg);
		out->base = code_register(src->reg);
	} else if (dst->type == X86_OP_REG && dst->size >= 4 && src->type == X86_OP_IMM) {
		set_to(out, dst, src->imm);
	} else if (is_plain_memory(dst) && dst->size == 8 && src->type == X86_OP_IMM) {
		out->shape = CODE_STORE_IMM;
		out->imm = (uint32_t)src->imm;
	} else if (dst->type == X86_OP_REG && dst->size == 8 && is_item(src)) {
		set_item(out, CODE_LOAD_ITEM, dst, src);
	} else if (is_item(dst) && dst->size == 4 && !dst->mem.disp && src->type == X86_OP_REG) {
		set_item(out, CODE_STORE_ITEM, src, dst);
	}
}

static void shape_of_go(struct code_insn *out, const cs_x86_op *target)
{
	if (is_plain_memory(target) && target->mem.base == X86_REG_RIP) {
		out->shape = CODE_GO_RIP;
		out->target = out->addr + out->size + (uint64_t)target->mem.disp;
	} else if (is_plain_memory(target)) {
		out->shape = out->flow == CODE_CALL_INDIRECT ? CODE_CALL_MEM : CODE_JMP_MEM;
		set_memory(out, target);
	} else if (target->type == X86_OP_REG && out->flow == CODE_CALL_INDIRECT) {
		out->shape = CODE_CALL_REG;
		out->reg = code_register(target->reg);
	}
}

static void shape_of_test(struct code_insn *out, const cs_x86_op *a, const cs_x86_op *b)
{
	if (a->type == X86_OP_REG && b->type == X86_OP_REG && a->reg == b->reg && a->size >= 4) {
		out->shape = a->size == 8 ? CODE_TEST_SELF : CODE_TEST32_SELF;
		out->reg = code_register(a->reg);
	} else if (is_plain_memory(a) && a->size == 1 && b->type == X86_OP_IMM) {
		out->shape = CODE_TEST_MASK;
		out->imm = (uint32_t)b->imm & 0xff;
		set_memory(out, a);
	} else if (a->type == X86_OP_REG && b->type == X86_OP_IMM) {
		out->shape = CODE_TEST_IMM;
		out->reg = code_register(a->reg);
		out->imm = (uint32_t)b->imm << (code_register_is_high_byte(a->reg) ? 8 : 0);
	}
}

static void shape_of_cmp(struct code_insn *out, const cs_x86_op *a, const cs_x86_op *b)
{
	if (b->type != X86_OP_IMM)
		return;
	if (a->type == X86_OP_REG) {
		out->shape = CODE_CMP_IMM;
		out->reg = code_register(a->reg);
		out->imm = (uint32_t)b->imm;
	} else if (is_plain_memory(a) && b->imm == 0 && (a->size == 1 || a->size == 8)) {
		out->shape = a->size == 8 ? CODE_CMP64_ZERO : CODE_CMP8_ZERO;
		set_memory(out, a);
	}
}

static void shape_of_lea(struct code_insn *out, const cs_x86_op *dst, const cs_x86_op *src,
			 const cs_insn *insn)
{
	if (src->mem.index != X86_REG_INVALID)
		return;
	out->reg = code_register(dst->reg);
	if (src->mem.base == X86_REG_RIP) {
		out->shape = CODE_LEA_RIP;
		out->target = insn->address + insn->size + (uint64_t)src->mem.disp;
		return;
	}
	out->shape = CODE_LEA;
	set_memory(out, src);
}

static void shape_of(struct code_insn *out, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *a = &x->operands[0], *b = &x->operands[1];

	if (insn->id == X86_INS_PUSH && a->type == X86_OP_REG && a->size == 8) {
		out->shape = CODE_PUSH;
		out->reg = code_register(a->reg);
	}
	if (x->op_count != 2)
		return;
	switch (insn->id) {
	case X86_INS_MOV:
		shape_of_mov(out, a, b);
		break;
	case X86_INS_MOVUPS:
	case X86_INS_MOVAPS:
	case X86_INS_MOVDQU:
	case X86_INS_MOVDQA:
		if (a->type == X86_OP_REG && is_plain_memory(b)) {
			out->shape = CODE_LOAD128;
			set_memory(out, b);
		}
		break;
	case X86_INS_TEST:
		shape_of_test(out, a, b);
		break;
	case X86_INS_LEA:
		shape_of_lea(out, a, b, insn);
		break;
	case X86_INS_CMP:
		shape_of_cmp(out, a, b);
		break;
	case X86_INS_MOVZX:
		if (b->type == X86_OP_MEM && b->mem.segment == X86_REG_INVALID && b->size == 1) {
			out->shape = is_plain_memory(b) ? CODE_LOAD8 : CODE_LOAD8_INDEXED;
			out->reg = code_register(a->reg);
			set_memory(out, b);
		}
		break;
	case X86_INS_ADD:
	case X86_INS_AND:
	case X86_INS_SHL:
		if (a->type == X86_OP_REG && b->type == X86_OP_IMM &&
		    code_register(a->reg) < CODE_REG_SP) {
			out->shape = insn->id == X86_INS_ADD   ? CODE_ADD_IMM
				     : insn->id == X86_INS_AND ? CODE_AND_IMM
							       : CODE_SHL_IMM;
			out->reg = code_register(a->reg);
			out->imm = (uint32_t)b->imm;
		}
		break;
	case X86_INS_XADD:
		if (is_plain_memory(a) && a->size == 8) {
			out->shape = CODE_XADD64;
			out->reg = code_register(b->reg);
			set_memory(out, a);
		}
		break;
	case X86_INS_XOR:
		if (a->type == X86_OP_REG && b->type == X86_OP_REG && a->reg == b->reg &&
		    a->size >= 4)
			set_to(out, a, 0);
		break;
	case X86_INS_MOVSXD:
		if (b->type == X86_OP_MEM && b->mem.scale == 4 && b->mem.index != X86_REG_INVALID) {
			out->shape = CODE_JUMP_TABLE;
			out->reg = code_register(a->reg);
			set_memory(out, b);
		}
		break;
	default:
		break;
	}
}

/*
 * Capstone's access flags are wrong for some instructions' memory operands, movups among them: an
 * instruction that is not known to only read is taken to write.
 */
static void note_store(struct code_insn *out, const cs_insn *insn)
{
	const cs_x86_op *dst = &insn->detail->x86.operands[0];

	if (!insn->detail->x86.op_count || !is_plain_memory(dst) || out->flow != CODE_FALLS ||
	    insn->id == X86_INS_CMP || insn->id == X86_INS_TEST || insn->id == X86_INS_PUSH ||
	    insn->id == X86_INS_NOP)
		return;
	out->stores = dst->size;
	set_memory(out, dst);
}

static void reduce(const cs_insn *insn, struct code_insn *out)
{
	*out = (struct code_insn){
		.addr = insn->address,
		.size = (uint8_t)insn->size,
		.flow = (uint8_t)flow_of(insn),
		.sets_flags = writes_flags(insn),
		.emulated = opcode_is_emulated(insn->bytes, insn->size),
		.writes = writes_of(insn),
		.sp_adjust = sp_adjust_of(insn),
		.reg = CODE_REG_OTHER,
		.base = CODE_REG_OTHER,
	};
	if (out->flow == CODE_JCC || out->flow == CODE_JMP || out->flow == CODE_CALL)
		out->target = (uint64_t)insn->detail->x86.operands[0].imm;
	else
		shape_of(out, insn);
	note_store(out, insn);
	if (out->flow == CODE_CALL_INDIRECT || out->flow == CODE_JMP_INDIRECT)
		shape_of_go(out, &insn->detail->x86.operands[0]);
	if (out->flow == CODE_CALL || out->flow == CODE_CALL_INDIRECT)
		out->writes = call_clobbers;
}

/*
 * Decode the first instruction of `bytes`, which are at `addr`. A call or jump through the global
 * offset table goes to the function itself. Returns its size, 0 if there is none.
 */
static size_t decode(struct code_decoder *d, const uint8_t *bytes, size_t len, uint64_t addr,
		     struct code_insn *insn)
{
	const uint8_t *rest = bytes;
	size_t size = code_memo__find(d->memo, bytes, len, addr, insn);
	uint64_t function;

	if (!size) {
		if (!cs_disasm_iter(d->cs, &rest, &len, &addr, d->insn))
			return 0;
		reduce(d->insn, insn);
		code_memo__add(d->memo, bytes, insn);
		size = insn->size;
	}
	function = insn->shape == CODE_GO_RIP ? elf_image__through(d->img, insn->target) : 0;
	if (function) {
		insn->flow = insn->flow == CODE_CALL_INDIRECT ? CODE_CALL : CODE_JMP;
		insn->shape = CODE_OTHER;
		insn->target = function;
	}
	return size;
}

bool code_decoder__is_spent(const struct code_decoder *d)
{
	return d->decoded > DECODED_MOST;
}

bool code_decoder__at(struct code_decoder *d, uint64_t addr, struct code_insn *insn)
{
	size_t len;
	const uint8_t *bytes = elf_image__code(d->img, addr, &len);

	return bytes && decode(d, bytes, len, addr, insn);
}

static int decode_region(struct code_decoder *d, const struct code_region *region,
			 struct code *code)
{
	size_t len;
	const uint8_t *bytes = elf_image__code(d->img, region->addr, &len);

	if (!bytes || len < region->size)
		return -EFAULT;
	d->decoded += region->size;
	if (code_decoder__is_spent(d))
		return -EFBIG;
	for (uint64_t at = 0; at < region->size;) {
		size_t size;

		if (array__reserve_one(&code->insns, code->n, &code->capacity,
				       sizeof(*code->insns)))
			return -ENOMEM;
		size = decode(d, bytes + at, region->size - at, region->addr + at,
			      &code->insns[code->n]);
		code->n += size > 0;
		at += size ?: 1;
	}
	return 0;
}

int code_decoder__decode(struct code_decoder *d, const struct code_region *regions,
			 size_t n_regions, struct code *code)
{
	bool sorted = true;
	size_t n = 0;

	code->n = 0;
	for (size_t i = 0; i < n_regions; i++) {
		int err = decode_region(d, &regions[i], code);

		if (err)
			return err;
		sorted = sorted &&
			 (i == 0 || regions[i - 1].addr + regions[i - 1].size <= regions[i].addr);
	}
	if (sorted || !code->n)
		return 0;
	/* Regions that overlap give some instructions twice. */
	qsort(code->insns, code->n, sizeof(*code->insns), array__by_u64);
	for (size_t i = 0; i < code->n; i++)
		if (!n || code->insns[n - 1].addr != code->insns[i].addr)
			code->insns[n++] = code->insns[i];
	code->n = n;
	return 0;
}

size_t code__index(const struct code *code, uint64_t addr)
{
	size_t first = bisect(code->n, i, code->insns[i].addr < addr);

	return first < code->n && code->insns[first].addr == addr ? first : SIZE_MAX;
}

size_t code__after(const struct code *code, size_t i)
{
	uint64_t addr = code->insns[i].addr + code->insns[i].size;

	/*
	 * Usually it is the next one; a linear sweep may also have decoded that address from
	 * another start.
	 */
	if (i + 1 < code->n && code->insns[i + 1].addr == addr)
		return i + 1;
	return code__index(code, addr);
}

/* ---- Registers ------------------------------------------------------------------------------- */

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
