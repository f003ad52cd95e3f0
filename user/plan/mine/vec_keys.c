// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/vec_keys.h"

/* Instructions from the count to the store of the key. */
#define NEAR	 32
#define MARK_MAX 16

static bool has_lea(const struct code *code, int64_t disp)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->insns[i].shape == CODE_LEA && code->insns[i].base < CODE_REG_SP &&
		    code->insns[i].disp == disp)
			return true;
	return false;
}

static bool has_number(const struct code *code, enum code_shape shape, uint32_t number)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->insns[i].shape == shape && code->insns[i].imm == number)
			return true;
	return false;
}

/*
 * The first bucket has 2^n numbers, if 2^n, of which the logarithm is n, is the first number of
 * bucket 1.
 */
static void see_first(struct vec_keys *v, const struct code *code, uint32_t body)
{
	for (uint32_t n = 2; n < 32; n++) {
		bool by_number = has_number(code, CODE_CMP_IMM, 1u << n),
		     by_logarithm = has_number(code, CODE_CMP_IMM, n) &&
				    has_number(code, CODE_SET, 1u << n);

		if ((by_number || by_logarithm) && has_lea(code, 1 - (int64_t)n))
			votes__add(&v->first, body, 1u << n);
	}
}

/* The key with the mark. */
static bool is_marked(const struct code_insn *insn, uint64_t *mark)
{
	uint64_t by = insn->shape == CODE_LEA	    ? (uint64_t)insn->disp
		      : insn->shape == CODE_ADD_IMM ? insn->imm
						    : 0;

	if (!by || by > MARK_MAX)
		return false;
	*mark = by;
	return true;
}

/* The instruction before the one that is jumped to, farther on; else the last. */
static size_t behind_jump(const struct code *code, size_t i)
{
	uint64_t to = code->insns[i].target;

	while (++i < code->n && code->insns[i].addr != to)
		;
	return i - 1;
}

void vec_keys__see(struct vec_keys *v, const struct code *code, size_t i, int64_t at, uint32_t size,
		   uint32_t body)
{
	uint64_t buckets = 0, mark = 0;
	uint8_t key = CODE_REG_OTHER;
	bool stored = false;

	for (uint32_t left = NEAR; left && ++i < code->n && !stored; left--) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->flow == CODE_JMP)
			i = behind_jump(code, i);
		else if (!code_insn__goes_on(insn) || insn->flow == CODE_CALL)
			return;
		else if (insn->shape == CODE_LOAD_ITEM && insn->imm == 8 && insn->disp > at &&
			 insn->disp + 8 <= at + size)
			buckets = (uint64_t)(insn->disp - at);
		else if (insn->shape == CODE_STORE_ITEM && insn->imm == 4)
			stored = mark && insn->reg == key;
		else if (buckets && is_marked(insn, &mark))
			key = insn->reg;
	}
	if (!stored)
		return;
	votes__add(&v->buckets, body, buckets);
	votes__add(&v->mark, body, mark);
	see_first(v, code, body);
}

void vec_keys__decide(const struct vec_keys *v, uint32_t bodies, struct wire_tables *out)
{
	uint64_t first, buckets, mark;

	if (!votes__decide(&v->first, bodies / 8, &first) ||
	    !votes__decide(&v->buckets, bodies / 8, &buckets) ||
	    !votes__decide(&v->mark, bodies / 8, &mark) || first > WIRE_VEC_FIRST_MAX ||
	    first % WIRE_KEYS_MAX)
		return;
	out->buckets = (uint32_t)buckets;
	out->first = (uint32_t)first;
	out->mark = (uint32_t)mark;
}
