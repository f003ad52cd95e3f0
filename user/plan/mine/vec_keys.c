// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/vec_keys.h"

/* Instructions from the count to the store of the key. */
#define NEAR	 24
#define MARK_MAX 16

static bool has_lea(const struct code *code, int64_t disp)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->insns[i].shape == CODE_LEA && code->insns[i].base < CODE_REG_SP &&
		    code->insns[i].disp == disp)
			return true;
	return false;
}

/*
 * The first bucket has 2^n numbers, if 2^n, of which the logarithm is n, is the first number of
 * bucket 1.
 */
static void see_first(struct vec_keys *v, const struct code *code, uint32_t body)
{
	for (size_t i = 0; i < code->n; i++) {
		const struct code_insn *insn = &code->insns[i];

		for (uint32_t n = 2; insn->shape == CODE_CMP_IMM && n < 32; n++)
			if (insn->imm == 1u << n && has_lea(code, 1 - (int64_t)n))
				votes__add(&v->first, body, insn->imm);
	}
}

void vec_keys__see(struct vec_keys *v, const struct code *code, size_t i, int64_t at, uint32_t size,
		   uint32_t body)
{
	uint64_t buckets = 0, mark = 0;
	bool stored = false;

	for (size_t k = i + 1; k < code->n && k <= i + NEAR && !stored; k++) {
		const struct code_insn *insn = &code->insns[k];

		if (!code_insn__goes_on(insn) || insn->flow == CODE_CALL)
			return;
		if (insn->shape == CODE_LOAD_ITEM && insn->imm == 8 && insn->disp > at &&
		    insn->disp + 8 <= at + size)
			buckets = (uint64_t)(insn->disp - at);
		else if (insn->shape == CODE_LEA && buckets && insn->disp > 0 &&
			 insn->disp <= MARK_MAX)
			mark = (uint64_t)insn->disp;
		else if (insn->shape == CODE_STORE_ITEM && insn->imm == 4)
			stored = mark;
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
