// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/llvm_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const struct llvm_value *llvm_sweep__value(const struct llvm_sweep *s, uint8_t reg)
{
	static const struct llvm_value unknown;

	return reg < CODE_REG_SP ? &s->now.regs[reg] : &unknown;
}

struct llvm_value llvm_value__load(const struct llvm_value *from, int64_t disp)
{
	struct llvm_value v = *from;

	if (!v.root || v.root == LLVM_ROOT_CONSTANT || v.n == LLVM_LOADS_MAX || disp < 0 ||
	    disp >= LLVM_FIELD_MAX)
		return (struct llvm_value){0};
	v.at[v.n++] = (uint32_t)disp;
	return v;
}

bool llvm_value__is(const struct llvm_value *a, const struct llvm_value *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static struct llvm_value result_of(const struct llvm_sweep *s)
{
	const struct llvm_value *first = llvm_sweep__value(s, WIRE_REG_DI);

	if (first->root != LLVM_ROOT_CONSTANT)
		return (struct llvm_value){0};
	return (struct llvm_value){.root = LLVM_ROOT_RESULT, .value = first->value};
}

static void call(struct llvm_sweep *s)
{
	static const uint8_t kept[] = {WIRE_REG_BX,  WIRE_REG_BP,  WIRE_REG_R12,
				       WIRE_REG_R13, WIRE_REG_R14, WIRE_REG_R15};
	struct llvm_values after = {0};

	for (size_t i = 0; i < N_OF(kept); i++)
		after.regs[kept[i]] = s->now.regs[kept[i]];
	after.regs[WIRE_REG_AX] = result_of(s);
	s->now = after;
}

static struct llvm_value loaded(const struct llvm_sweep *s)
{
	const struct code_insn *insn = &s->insn;
	const struct llvm_value *from = llvm_sweep__value(s, insn->base);

	if (insn->base == CODE_REG_SP)
		return (struct llvm_value){.root = LLVM_ROOT_SLOT, .value = (uint64_t)insn->disp};
	if (!from->root)
		return (struct llvm_value){.root = LLVM_ROOT_LOADED, .value = insn->addr};
	return llvm_value__load(from, insn->disp);
}

/* The stack pointer moves, or some words on the stack are written. */
static void change_slots(struct llvm_sweep *s)
{
	const struct code_insn *insn = &s->insn;
	bool all = insn->writes >> CODE_REG_SP;
	bool some = insn->stores && insn->base == CODE_REG_SP;

	for (int r = 0; (all || some) && r < CODE_REG_SP; r++) {
		const struct llvm_value *v = &s->now.regs[r];

		if (v->root == LLVM_ROOT_SLOT &&
		    (all || ((int64_t)v->value < insn->disp + insn->stores &&
			     insn->disp < (int64_t)v->value + 8)))
			s->now.regs[r] = (struct llvm_value){0};
	}
}

static void step(struct llvm_sweep *s)
{
	const struct code_insn *insn = &s->insn;
	struct llvm_value new = {0};

	if (insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT) {
		call(s);
		return;
	}
	if (insn->shape == CODE_MOVE64)
		new = *llvm_sweep__value(s, insn->base);
	else if (insn->shape == CODE_LOAD64)
		new = loaded(s);
	else if (insn->shape == CODE_LEA_RIP)
		new = (struct llvm_value){.root = LLVM_ROOT_CONSTANT, .value = insn->target};
	change_slots(s);
	for (int r = 0; r < CODE_REG_SP; r++)
		if (insn->writes & 1u << r)
			s->now.regs[r] = (struct llvm_value){0};
	if (new.root && insn->reg < CODE_REG_SP && insn->writes & 1u << insn->reg)
		s->now.regs[insn->reg] = new;
}

/* ---- All of a function ----------------------------------------------------------------------- */

/* Keep the values on which two ways to one instruction agree. */
static void join(struct llvm_values *a, const struct llvm_values *b)
{
	for (int r = 0; r < CODE_REG_SP; r++)
		if (!llvm_value__is(&a->regs[r], &b->regs[r]))
			a->regs[r] = (struct llvm_value){0};
}

/* The values with which control comes to the instruction; `falls`: also from the one before. */
static void arrive(struct llvm_sweep *s, bool falls)
{
	bool known = falls;

	for (uint32_t i = 0; i < s->n_jumps; i++) {
		if (s->jumps[i].to != s->insn.addr)
			continue;
		if (known)
			join(&s->now, &s->jumps[i].before);
		else
			s->now = s->jumps[i].before;
		known = true;
	}
	if (!known)
		s->now = (struct llvm_values){0};
}

/* Whether a jump leads further, so that the function goes on. */
static bool leads_on(const struct llvm_sweep *s, uint64_t at, uint64_t end)
{
	for (uint32_t i = 0; i < s->n_jumps; i++)
		if (s->jumps[i].to >= at && s->jumps[i].to < end)
			return true;
	return false;
}

static uint64_t end_of(const struct code_region *f)
{
	return f->addr + (f->size < LLVM_RUN_MAX ? f->size : LLVM_RUN_MAX);
}

static void begin(struct llvm_sweep *s)
{
	s->now = (struct llvm_values){0};
	s->now.regs[s->argument ?: WIRE_REG_DI].root = LLVM_ROOT_ARGUMENT;
}

void llvm_sweep__run(struct code_decoder *d, const struct code_region *f, llvm_sweep_fn see,
		     struct llvm_sweep *s)
{
	uint64_t end = end_of(f);
	bool falls = true;

	begin(s);
	for (uint64_t at = f->addr; at < end && code_decoder__at(d, at, &s->insn);
	     at += s->insn.size) {
		if (!falls && !leads_on(s, at, end))
			return;
		arrive(s, falls);
		see(s);
		if ((s->insn.flow == CODE_JCC || s->insn.flow == CODE_JMP) &&
		    s->n_jumps < LLVM_JUMPS_MAX)
			s->jumps[s->n_jumps++] = (struct llvm_jump){s->insn.target, s->now};
		step(s);
		falls = code_insn__goes_on(&s->insn);
	}
}

/* ---- Straight lines -------------------------------------------------------------------------- */

#define TARGETS_MAX 1024

struct targets {
	uint64_t at[TARGETS_MAX];
	size_t n;
};

/* False: not all are known. */
static bool find_targets(struct code_decoder *d, const struct code_region *f, struct targets *t)
{
	struct code_insn insn;

	for (uint64_t at = f->addr; at < end_of(f); at += insn.size) {
		if (!code_decoder__at(d, at, &insn) || insn.flow == CODE_JMP_INDIRECT ||
		    t->n == TARGETS_MAX)
			return false;
		if (insn.flow == CODE_JCC || insn.flow == CODE_JMP)
			t->at[t->n++] = insn.target;
	}
	if (t->n)
		qsort(t->at, t->n, sizeof(*t->at), array__by_u64);
	return true;
}

bool llvm_sweep__lines(struct code_decoder *d, const struct code_region *f, llvm_sweep_fn see,
		       struct llvm_sweep *s)
{
	struct targets t = {0};

	if (!find_targets(d, f, &t))
		return false;
	begin(s);
	for (uint64_t at = f->addr; at < end_of(f) && code_decoder__at(d, at, &s->insn);
	     at += s->insn.size) {
		if (t.n && bsearch(&at, t.at, t.n, sizeof(at), array__by_u64))
			s->now = (struct llvm_values){0};
		see(s);
		step(s);
		if (!code_insn__goes_on(&s->insn))
			s->now = (struct llvm_values){0};
	}
	return true;
}
