// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/vtable.h"

#include <errno.h>
#include <stdlib.h>

/* Stores to the stack that are remembered. */
#define STORES_MAX 16

const struct mined_vtable vtable_none = {WIRE_REG_NONE, VTABLE_NO_SLOT, -1};

/* The value of a register between the start and the provider's call. */
struct value {
	enum {
		VALUE_UNKNOWN,
		VALUE_REG,   /* the value of register `reg` at the start */
		VALUE_SLOT,  /* the value of the slot at `disp` at the start */
		VALUE_FIELD, /* the word at `offset` behind one of the two */
	} kind;
	enum { FIELD_OF_REG, FIELD_OF_SLOT } of;
	uint8_t reg;
	int64_t disp;
	int64_t offset;
};

static struct value field_of(struct value base, int64_t offset)
{
	if (base.kind != VALUE_REG && base.kind != VALUE_SLOT)
		return (struct value){0};
	base.of = base.kind == VALUE_REG ? FIELD_OF_REG : FIELD_OF_SLOT;
	base.kind = VALUE_FIELD;
	base.offset = offset;
	return base;
}

/* All known values at a point of that path. */
struct knowledge {
	struct value regs[CODE_REG_SP];
	struct {
		int64_t disp;
		struct value v;
	} stored[STORES_MAX]; /* to slots, since the start */
	size_t n_stored;
	bool lost; /* more stores than STORES_MAX were seen */
};

static struct value slot_value(const struct knowledge *k, int64_t disp)
{
	if (k->lost)
		return (struct value){0};
	for (size_t i = k->n_stored; i-- > 0;) {
		if (k->stored[i].disp == disp)
			return k->stored[i].v;
		if (k->stored[i].disp > disp - 8 && k->stored[i].disp < disp + 8)
			return (struct value){0};
	}
	return (struct value){.kind = VALUE_SLOT, .disp = disp};
}

static void store_slot(struct knowledge *k, int64_t disp, struct value v)
{
	k->lost = k->lost || k->n_stored == STORES_MAX;
	if (k->lost)
		return;
	k->stored[k->n_stored].disp = disp;
	k->stored[k->n_stored++].v = v;
}

static void evaluate(struct knowledge *k, const struct code_insn *insn)
{
	struct value v = {0};

	if (insn->shape == CODE_MOVE64 && insn->base < CODE_REG_SP)
		v = k->regs[insn->base];
	else if (insn->shape == CODE_LOAD64 && insn->base == CODE_REG_SP)
		v = slot_value(k, insn->disp);
	else if (insn->shape == CODE_LOAD64 && insn->base < CODE_REG_SP)
		v = field_of(k->regs[insn->base], insn->disp);
	else if (insn->shape == CODE_STORE64 && insn->base == CODE_REG_SP)
		store_slot(k, insn->disp,
			   insn->reg < CODE_REG_SP ? k->regs[insn->reg] : (struct value){0});
	k->lost = k->lost || (insn->writes & 1u << CODE_REG_SP);
	for (int r = 0; r < CODE_REG_SP; r++)
		if (insn->writes & 1u << r)
			k->regs[r] = (struct value){0};
	if (v.kind && insn->reg < CODE_REG_SP)
		k->regs[insn->reg] = v;
}

/* The function pointer that an indirect call goes through, if it is a field of a known place. */
static struct value callee(const struct knowledge *k, const struct code_insn *insn)
{
	if (insn->shape == CODE_CALL_REG && insn->reg < CODE_REG_SP)
		return k->regs[insn->reg];
	if (insn->shape == CODE_CALL_MEM && insn->base < CODE_REG_SP)
		return field_of(k->regs[insn->base], insn->disp);
	return (struct value){0};
}

static struct mined_vtable vtable_of(struct value v)
{
	struct mined_vtable vt = vtable_none;

	if (v.kind != VALUE_FIELD || v.offset < 0 || v.offset > INT32_MAX || v.offset % 8)
		return vt;
	if (v.of == FIELD_OF_REG)
		vt.reg = v.reg;
	else if (v.disp < 0 || v.disp > INT32_MAX || v.disp % 8)
		return vt;
	else
		vt.slot = (int32_t)v.disp;
	vt.offset = (int32_t)v.offset;
	return vt;
}

/*
 * Breadth first from the start to the nearest call through a register or a field; every other path
 * passes the same call, or a direct call of the same provider.
 */
static size_t nearest_indirect_call(const struct code *code, size_t from, size_t *parent)
{
	size_t *queue = parent + code->n, head = 0, tail = 0;

	for (size_t i = 0; i < code->n; i++)
		parent[i] = SIZE_MAX;
	queue[tail++] = from;
	parent[from] = from;
	while (head < tail) {
		size_t i = queue[head++], next[2] = {SIZE_MAX, SIZE_MAX};
		const struct code_insn *insn = &code->insns[i];

		if (insn->shape == CODE_CALL_REG || insn->shape == CODE_CALL_MEM)
			return i;
		if (insn->flow == CODE_JCC || insn->flow == CODE_JMP)
			next[0] = code__index(code, insn->target);
		if (code_insn__goes_on(insn))
			next[1] = code__index(code, insn->addr + insn->size);
		for (int k = 0; k < 2; k++) {
			if (next[k] == SIZE_MAX || parent[next[k]] != SIZE_MAX)
				continue;
			parent[next[k]] = i;
			queue[tail++] = next[k];
		}
	}
	return SIZE_MAX;
}

int vtable_find(const struct code *code, uint64_t addr, struct mined_vtable *out)
{
	struct knowledge k = {.n_stored = 0};
	size_t from = code__index(code, addr), call, n = 0;
	_free_ size_t *parent = calloc(2 * code->n + 1, sizeof(*parent));
	size_t *path;

	*out = vtable_none;
	if (!parent)
		return -ENOMEM;
	path = parent + code->n;
	call = from == SIZE_MAX ? SIZE_MAX : nearest_indirect_call(code, from, parent);
	if (call == SIZE_MAX)
		return 0;
	/* The queue is no longer needed; its memory holds the path, in reverse. */
	for (size_t i = call; i != from; i = parent[i])
		path[n++] = parent[i];
	for (uint8_t r = 0; r < CODE_REG_SP; r++)
		k.regs[r] = (struct value){.kind = VALUE_REG, .reg = r};
	while (n)
		evaluate(&k, &code->insns[path[--n]]);
	*out = vtable_of(callee(&k, &code->insns[call]));
	return 0;
}
