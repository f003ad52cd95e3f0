// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/body_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define REGS  BODY_RUN_REGS
#define FAR   BODY_RUN_FAR
#define STEPS 4096
/* Where the entries of a table are looked for, which is among the last that a body does. */
#define STEPS_OF_TABLE 16384
/* Instructions behind which the rest of an entry is filled in. */
#define STEPS_BEHIND 24
/* Functions that are given a table. */
#define CALLS 8
/* No entry of a table is so large. */
#define LINEAR_MAX (1 << 20)

static const struct run_value nothing;

/* ---- The stack ------------------------------------------------------------------------------- */

static bool stack_address(const struct body_run *r, const cs_x86_op *op, int64_t *at)
{
	uint8_t base = code_register(op->mem.base);

	if (op->mem.index != X86_REG_INVALID || op->mem.segment != X86_REG_INVALID)
		return false;
	if (op->mem.base == X86_REG_RSP) {
		*at = r->now.sp + op->mem.disp;
		return true;
	}
	if (base >= REGS || r->now.regs[base].origin != ORIGIN_STACK)
		return false;
	*at = (int64_t)r->now.regs[base].at + op->mem.disp;
	return true;
}

/* What was copied may be read in parts. */
static struct run_value load_slot(const struct body_run *r, int64_t at, uint32_t size)
{
	for (uint32_t i = 0; i < r->now.n_slots; i++) {
		const struct run_slot *s = &r->now.slots[i];
		struct run_value v = s->value;

		if (at == s->at)
			return v;
		if (v.origin == ORIGIN_KEY && at > s->at && at + size <= s->at + s->size) {
			v.at += (uint64_t)(at - s->at);
			return v;
		}
	}
	return nothing;
}

static void store_slot(struct body_run *r, int64_t at, uint32_t size, struct run_value v)
{
	struct run_slot *free = NULL;

	for (uint32_t i = 0; i < r->now.n_slots; i++) {
		struct run_slot *s = &r->now.slots[i];

		if (s->at < at + size && at < s->at + s->size)
			*s = (struct run_slot){.size = 0};
		if (!s->size && !free)
			free = s;
	}
	if (!v.origin)
		return;
	if (!free && r->now.n_slots < BODY_RUN_SLOTS)
		free = &r->now.slots[r->now.n_slots++];
	if (free)
		*free = (struct run_slot){at, size, v};
}

/* ---- The table ------------------------------------------------------------------------------- */

/* A bucket, or an address of an entry. */
struct linear {
	int64_t times, at;
	int ctrls; /* addresses of control bytes in the sum */
};

static bool is_table_word(const struct body_run *r, const struct run_value *v, uint8_t word)
{
	return r->table != BODY_RUN_NO_TABLE && v->origin == ORIGIN_KEY && v->at == r->table + word;
}

static bool add_value(const struct body_run *r, struct run_value v, int64_t by, struct linear *sum)
{
	bool entry = v.origin == ORIGIN_ENTRY;

	if (is_table_word(r, &v, r->ctrl)) {
		sum->ctrls += (int)by;
		return by == 1;
	}
	if ((!entry && v.origin != ORIGIN_BUCKET) || (entry && by != 1))
		return false;
	sum->ctrls += entry;
	sum->times += v.times * by;
	sum->at += (int64_t)v.at * by;
	return true;
}

static struct run_value value_of(const struct linear *sum)
{
	if (!sum->times || sum->ctrls > 1 || sum->times > LINEAR_MAX || sum->times < -LINEAR_MAX ||
	    sum->at > LINEAR_MAX || sum->at < -LINEAR_MAX)
		return nothing;
	return (struct run_value){sum->ctrls ? ORIGIN_ENTRY : ORIGIN_BUCKET, (uint64_t)sum->at,
				  sum->times};
}

/* The address that an operand in memory has. */
static struct run_value address_of(const struct body_run *r, const cs_x86_op *op)
{
	uint8_t base = code_register(op->mem.base), index = code_register(op->mem.index);
	struct linear sum = {.at = op->mem.disp};

	if (r->table == BODY_RUN_NO_TABLE || op->mem.segment != X86_REG_INVALID)
		return nothing;
	if (op->mem.base != X86_REG_INVALID &&
	    (base >= REGS || !add_value(r, r->now.regs[base], 1, &sum)))
		return nothing;
	if (op->mem.index != X86_REG_INVALID &&
	    (index >= REGS || !add_value(r, r->now.regs[index], op->mem.scale, &sum)))
		return nothing;
	return value_of(&sum);
}

static struct run_value get(struct body_run *r, const cs_x86_op *op);

static void note_access(struct body_run *r, const struct run_value *entry, uint32_t size,
			struct run_value v)
{
	if ((entry->origin == ORIGIN_ENTRY || entry->origin == ORIGIN_LOADED) && entry->times < 0 &&
	    r->n_accesses < BODY_RUN_ACCESSES)
		r->accesses[r->n_accesses++] =
			(struct run_access){entry->times, (int64_t)entry->at, size, v};
}

static bool compares(unsigned int id)
{
	return id == X86_INS_CMP || id == X86_INS_XOR || id == X86_INS_PCMPEQB ||
	       id == X86_INS_PCMPEQD;
}

static struct run_value loaded(struct run_value v)
{
	return v.origin == ORIGIN_LOADED ? v : nothing;
}

/* What is stored in an entry, or compared with what is there. */
static void note_accesses(struct body_run *r)
{
	const cs_x86 *x = &r->insn->detail->x86;

	if (r->table == BODY_RUN_NO_TABLE || r->insn->id == X86_INS_LEA)
		return;
	for (uint8_t i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i], *other = &x->operands[!i];
		bool with_other = x->op_count == 2 && compares(r->insn->id);
		struct run_value entry = op->type == X86_OP_MEM ? address_of(r, op) : nothing;
		bool here = entry.origin == ORIGIN_ENTRY;

		/* Its size was noted when it was loaded. */
		if (with_other && !here)
			entry = loaded(get(r, op));
		with_other |= x->op_count == 2 && !i && op->type == X86_OP_MEM;
		note_access(r, &entry, here ? op->size : 1, with_other ? get(r, other) : nothing);
	}
}

/* What is added to an address is a number; to a bucket or an entry it may be a part of the same. */
static bool add_run_value(struct body_run *r, struct run_value before, const cs_x86_op *from,
			  struct run_value *out)
{
	int64_t sign = r->insn->id == X86_INS_ADD ? 1 : -1;
	struct linear sum = {.ctrls = 0};

	if (before.origin == ORIGIN_STACK || before.origin == ORIGIN_ARGUMENT ||
	    before.origin == ORIGIN_WITHIN) {
		if (from->type != X86_OP_IMM || sign < 0)
			return false;
		if (before.origin == ORIGIN_ARGUMENT)
			before = (struct run_value){ORIGIN_WITHIN, before.at * FAR, 0};
		before.at += (uint64_t)from->imm;
		*out = before;
		return true;
	}
	if (!add_value(r, before, 1, &sum))
		return false;
	if (from->type == X86_OP_IMM)
		sum.at += sign * from->imm;
	if (from->type == X86_OP_IMM || add_value(r, get(r, from), sign, &sum))
		*out = value_of(&sum);
	return true;
}

static bool multiply(const struct body_run *r, struct run_value before, const cs_x86_op *by,
		     struct run_value *out)
{
	bool shifts = r->insn->id == X86_INS_SHL;
	struct linear sum = {.ctrls = 0};

	if (by->type != X86_OP_IMM || by->imm < 0 || by->imm > (shifts ? 16 : LINEAR_MAX) ||
	    before.origin != ORIGIN_BUCKET)
		return false;
	if (add_value(r, before, shifts ? 1 << by->imm : by->imm, &sum))
		*out = value_of(&sum);
	return true;
}

/* False: the instruction does something else. */
static bool compute(struct body_run *r, struct run_value *out)
{
	const cs_x86 *x = &r->insn->detail->x86;
	const cs_x86_op *to = x->operands, *from = x->operands + 1;
	struct run_value before, other;
	struct linear sum = {.ctrls = 0};

	if (r->table == BODY_RUN_NO_TABLE || !x->op_count || to->type != X86_OP_REG ||
	    to->size != 8)
		return false;
	before = get(r, to);
	other = x->op_count > 1 ? get(r, from) : nothing;
	*out = nothing;
	switch (r->insn->id) {
	case X86_INS_AND:
		if (!is_table_word(r, &before, r->mask) && !is_table_word(r, &other, r->mask))
			return false;
		*out = (struct run_value){ORIGIN_BUCKET, 0, 1};
		return true;
	case X86_INS_NEG:
	case X86_INS_NOT:
		sum.at = -(r->insn->id == X86_INS_NOT);
		if (before.origin == ORIGIN_BUCKET && add_value(r, before, -1, &sum))
			*out = value_of(&sum);
		return true;
	case X86_INS_SHL:
	case X86_INS_IMUL:
		return x->op_count > 1 &&
		       multiply(r, x->op_count == 3 ? other : before, to + x->op_count - 1, out);
	case X86_INS_ADD:
	case X86_INS_SUB:
		return x->op_count == 2 && add_run_value(r, before, from, out);
	case X86_INS_LEA:
		*out = address_of(r, from);
		return out->origin != ORIGIN_NONE;
	default:
		return false;
	}
}

/* lea (argument, word), as vtables have the place of their table among others (vtables.h). */
static struct run_value sum_of(const struct body_run *r, const cs_x86_op *op)
{
	uint8_t base = code_register(op->mem.base), index = code_register(op->mem.index);
	const struct run_value *a, *b;

	if (base >= REGS || index >= REGS || op->mem.scale != 1)
		return nothing;
	a = &r->now.regs[base];
	b = &r->now.regs[index];
	if (a->origin == ORIGIN_KEY) {
		const struct run_value *other = a;

		a = b;
		b = other;
	}
	if (a->origin == ORIGIN_ARGUMENT && b->origin == ORIGIN_KEY && b->at == r->word)
		return (struct run_value){ORIGIN_WITHIN, BODY_RUN_PLACES + (uint64_t)op->mem.disp,
					  0};
	return a->origin == ORIGIN_ARGUMENT && b->origin == ORIGIN_KEY && b->at / FAR != a->at
		       ? (struct run_value){ORIGIN_TABLE, b->at / FAR, 0}
		       : nothing;
}

/* The address that lea makes: of a place on the stack, or in what an argument leads to. */
static struct run_value place_of(const struct body_run *r, const cs_x86_op *op)
{
	uint8_t base = code_register(op->mem.base);
	const struct run_value *v = base < REGS ? &r->now.regs[base] : &nothing;
	int64_t at;

	if (op->mem.index != X86_REG_INVALID)
		return op->mem.disp >= 0
			       ? sum_of(r, op)
			       : (struct run_value){ORIGIN_BELOW, (uint64_t)op->mem.disp, 0};
	if (r->table == BODY_RUN_NO_TABLE)
		return nothing;
	if (stack_address(r, op, &at))
		return (struct run_value){ORIGIN_STACK, (uint64_t)at, 0};
	if (op->mem.disp < 0 || op->mem.disp >= FAR)
		return nothing;
	if (v->origin == ORIGIN_ARGUMENT)
		return (struct run_value){ORIGIN_WITHIN, v->at * FAR + (uint64_t)op->mem.disp, 0};
	if (v->origin == ORIGIN_WITHIN)
		return (struct run_value){ORIGIN_WITHIN, v->at + (uint64_t)op->mem.disp, 0};
	return nothing;
}

static bool is_table(const struct body_run *r, uint8_t reg)
{
	const struct run_value *v = &r->now.regs[reg];

	return r->table != BODY_RUN_NO_TABLE && v->origin == ORIGIN_WITHIN && v->at == r->table;
}

/* The function that is called gets the table. */
static bool gives_table(const struct body_run *r)
{
	for (uint32_t i = 0; i < CODE_ARGUMENTS; i++)
		if (is_table(r, code_arguments[i]))
			return true;
	return false;
}

static bool has_table(const struct body_run *r)
{
	for (uint8_t i = 0; i < REGS; i++)
		if (is_table(r, i))
			return true;
	return false;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static struct run_value *vector_of(struct body_run *r, unsigned int reg)
{
	return reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + BODY_RUN_VECTORS
		       ? &r->now.vectors[reg - X86_REG_XMM0]
		       : NULL;
}

static struct run_value *upper_of(struct body_run *r, const struct run_value *vector)
{
	return &r->now.uppers[vector - r->now.vectors];
}

static struct run_value load(struct body_run *r, const cs_x86_op *op)
{
	uint8_t base = code_register(op->mem.base);
	const struct run_value *from = base < REGS ? &r->now.regs[base] : NULL;
	uint64_t disp = (uint64_t)op->mem.disp;
	int64_t at;

	struct run_value entry = address_of(r, op);

	if (stack_address(r, op, &at))
		return load_slot(r, at, op->size);
	if (entry.origin == ORIGIN_ENTRY)
		return (struct run_value){ORIGIN_LOADED, entry.at, entry.times};
	if (op->mem.index != X86_REG_INVALID) {
		struct run_value v = sum_of(r, op);

		return v.origin == ORIGIN_WITHIN ? (struct run_value){ORIGIN_KEY, v.at, 0}
						 : nothing;
	}
	if (op->mem.base == X86_REG_RIP && op->size == 8)
		return (struct run_value){ORIGIN_WORD, r->insn->address + r->insn->size + disp, 0};
	if (!from || disp >= FAR)
		return nothing;
	if (op->mem.segment == X86_REG_FS)
		return from->origin == ORIGIN_WORD && !disp && op->size == 8 && from->at == r->slot
			       ? (struct run_value){ORIGIN_CURRENT, from->at, 0}
			       : nothing;
	if (from->origin == ORIGIN_CURRENT && op->size == 8)
		return (struct run_value){ORIGIN_FIELD, disp, 0};
	if (from->origin == ORIGIN_ARGUMENT || from->origin == ORIGIN_TABLE)
		return (struct run_value){ORIGIN_KEY, from->at * FAR + disp, 0};
	if (from->origin == ORIGIN_WITHIN &&
	    (from->at % FAR + disp < FAR || from->at >= BODY_RUN_PLACES))
		return (struct run_value){ORIGIN_KEY, from->at + disp, 0};
	return nothing;
}

static void set_register(struct body_run *r, uint8_t reg, struct run_value v)
{
	if (reg >= REGS)
		return;
	r->now.regs[reg] = v;
	r->now.versions[reg] = ++r->version;
}

static void note_store(struct body_run *r, const cs_x86_op *op, struct run_value v)
{
	uint8_t base = code_register(op->mem.base), index = code_register(op->mem.index);
	struct run_store *s;

	if (op->mem.segment != X86_REG_INVALID || base >= REGS || r->n_stores == BODY_RUN_STORES)
		return;
	s = &r->stores[r->n_stores++];
	*s = (struct run_store){
		.base = r->now.versions[base],
		.index = index < REGS ? r->now.versions[index] : 0,
		.base_value = r->now.regs[base],
		.index_value = index < REGS ? r->now.regs[index] : nothing,
		.scale = index < REGS ? op->mem.scale : 0,
		.at = op->mem.disp,
		.size = op->size,
		.value = v,
	};
	if (s->base_value.origin == ORIGIN_BELOW)
		s->at += (int64_t)s->base_value.at;
	r->has_job |= v.origin == ORIGIN_JOB;
	r->has_parent |= r->has_job && v.origin == ORIGIN_FIELD;
	if (r->has_parent && r->left > STEPS_BEHIND && r->table == BODY_RUN_NO_TABLE)
		r->left = STEPS_BEHIND;
}

/* What is behind the address that `v` is, if that is of an argument. */
static struct run_value behind(const struct body_run *r, const struct run_value *v)
{
	if (v->origin == ORIGIN_STACK)
		return load_slot(r, (int64_t)v->at, 8);
	if (v->origin == ORIGIN_WITHIN)
		return (struct run_value){ORIGIN_KEY, v->at, 0};
	return v->origin == ORIGIN_ARGUMENT ? (struct run_value){ORIGIN_KEY, v->at * FAR, 0}
					    : nothing;
}

/* rep movsq: a large key is copied to where an entry begins. */
static void note_copy(struct body_run *r)
{
	const struct run_value *to = &r->now.regs[WIRE_REG_DI], *from = &r->now.regs[WIRE_REG_SI];
	struct run_value key = behind(r, from);

	if (!key.origin)
		return;
	note_access(r, to, 8, key);
	if (to->origin == ORIGIN_STACK)
		store_slot(r, (int64_t)to->at, 16, key);
	if (to->origin != ORIGIN_BELOW || from->origin != ORIGIN_ARGUMENT ||
	    r->n_stores == BODY_RUN_STORES)
		return;
	r->stores[r->n_stores++] = (struct run_store){
		.base = r->now.versions[WIRE_REG_DI],
		.base_value = *to,
		.at = (int64_t)to->at,
		.value = key,
	};
}

/* What follows `v` in memory. */
static struct run_value next_to(struct run_value v)
{
	return v.origin == ORIGIN_KEY ? (struct run_value){ORIGIN_KEY, v.at + 8, 0} : nothing;
}

static void put(struct body_run *r, const cs_x86_op *to, struct run_value v)
{
	struct run_value *vector = to->type == X86_OP_REG ? vector_of(r, to->reg) : NULL;
	int64_t at;

	if (vector) {
		*vector = v;
		*upper_of(r, vector) = next_to(v);
	} else if (to->type == X86_OP_REG)
		set_register(r, code_register(to->reg), v);
	else if (stack_address(r, to, &at))
		store_slot(r, at, to->size, v);
	else
		note_store(r, to, v);
}

static struct run_value get(struct body_run *r, const cs_x86_op *op)
{
	const struct run_value *vector;
	uint8_t reg;

	if (op->type == X86_OP_MEM)
		return load(r, op);
	if (op->type != X86_OP_REG)
		return nothing;
	vector = vector_of(r, op->reg);
	reg = code_register(op->reg);
	return vector ? *vector : reg < REGS ? r->now.regs[reg] : nothing;
}

/* Whether `insn` moves a value as it is. */
static bool is_move(unsigned int id)
{
	return id == X86_INS_MOV || id == X86_INS_MOVABS || id == X86_INS_MOVUPS ||
	       id == X86_INS_MOVDQU || id == X86_INS_MOVAPS || id == X86_INS_MOVDQA ||
	       id == X86_INS_MOVQ || id == X86_INS_MOVD || id == X86_INS_MOVUPD;
}

/* A copy in another register is the same value. A copy of 16 bytes of the stack may be of two. */
static void move(struct body_run *r, const cs_x86_op *ops)
{
	const cs_x86_op *to = &ops[0], *from = &ops[1];
	uint8_t to_reg = to->type == X86_OP_REG ? code_register(to->reg) : REGS;
	uint8_t from_reg = from->type == X86_OP_REG ? code_register(from->reg) : REGS;
	uint32_t version = from_reg < REGS ? r->now.versions[from_reg] : 0;
	struct run_value *into = to->type == X86_OP_REG ? vector_of(r, to->reg) : NULL;
	struct run_value *out_of = from->type == X86_OP_REG ? vector_of(r, from->reg) : NULL;
	int64_t at;

	if (from->type == X86_OP_REG && from->reg == X86_REG_RSP && r->table != BODY_RUN_NO_TABLE)
		put(r, to, (struct run_value){ORIGIN_STACK, (uint64_t)r->now.sp, 0});
	else
		put(r, to, get(r, from));
	if (from_reg < REGS && to_reg < REGS)
		r->now.versions[to_reg] = version;
	if (to->size != 16)
		return;
	if (into && from->type == X86_OP_MEM && stack_address(r, from, &at)) {
		*upper_of(r, into) = load_slot(r, at + 8, 8);
	} else if (into && out_of) {
		*upper_of(r, into) = *upper_of(r, out_of);
	} else if (out_of && to->type == X86_OP_MEM && stack_address(r, to, &at)) {
		const struct run_value *upper = upper_of(r, out_of);
		struct run_value next = next_to(*out_of);

		if (next.origin != upper->origin || next.at != upper->at ||
		    next.times != upper->times) {
			store_slot(r, at, 8, *out_of);
			store_slot(r, at + 8, 8, *upper);
		}
	}
}

static void forget_written(struct body_run *r)
{
	const cs_detail *d = r->insn->detail;

	for (uint8_t i = 0; i < d->x86.op_count; i++)
		if (d->x86.operands[i].access & CS_AC_WRITE)
			put(r, &d->x86.operands[i], nothing);
	for (uint8_t i = 0; i < d->regs_write_count; i++)
		set_register(r, code_register(d->regs_write[i]), nothing);
}

/* The number of a bucket is limited by the mask of its table. */
static void note_mask(struct body_run *r, const cs_x86_op *mask)
{
	struct run_value v = get(r, mask);

	if (v.origin == ORIGIN_KEY && v.at / FAR < CODE_ARGUMENTS && v.at % FAR <= UINT8_MAX &&
	    mask->size == 8 && !r->masks[v.at / FAR])
		r->masks[v.at / FAR] = (uint8_t)(v.at % FAR);
}

/* ---- Control --------------------------------------------------------------------------------- */

/*
 * The path of a taken branch is run later. Behind the comparison of a table's mode, a byte, the
 * path of a table without shards is run first: only it has the table of the vtable, not a shard.
 */
static void jump(struct body_run *r)
{
	const cs_x86_op *to = &r->insn->detail->x86.operands[0];

	/* Behind a jump to a place in a table is the first of these places. */
	if (to->type != X86_OP_IMM)
		return;
	if (r->insn->id == X86_INS_JMP) {
		r->now.next = (uint64_t)to->imm;
	} else if (r->n_later < BODY_RUN_PATHS) {
		struct run_path *later = &r->later[r->n_later++];
		bool without_shards = r->compares_byte && r->insn->id == X86_INS_JNE;

		*later = r->now;
		*(without_shards ? &r->now.next : &later->next) = (uint64_t)to->imm;
	}
}

/* What follows a call that is followed is run when that has returned, or cannot go on. */
static void call(struct body_run *r)
{
	static const uint8_t kept[] = {WIRE_REG_BX,  WIRE_REG_BP,  WIRE_REG_R12, WIRE_REG_R13,
				       WIRE_REG_R14, WIRE_REG_R15, CODE_REG_SP};
	const cs_x86_op *to = &r->insn->detail->x86.operands[0];
	bool follows = r->calls && to->type == X86_OP_IMM && gives_table(r);
	const struct run_value *a = &r->now.regs[code_arguments[0]],
			       *b = &r->now.regs[code_arguments[1]];
	struct run_value key = behind(r, a->origin == ORIGIN_ENTRY ? b : a);
	struct run_path inner;

	/* A function whose first arguments lead to an entry and a key compares or copies them. */
	if (key.origin == ORIGIN_KEY)
		note_access(r, a->origin == ORIGIN_ENTRY ? a : b, 1, key);
	if (follows)
		inner = r->now;
	for (uint8_t i = 0; i < REGS; i++)
		if (!memchr(kept, i, sizeof(kept)))
			set_register(r, i, nothing);
	if (!follows)
		return;
	r->calls--;
	if (r->n_later < BODY_RUN_PATHS)
		r->later[r->n_later++] = r->now;
	r->now = inner;
	r->now.sp -= 8;
	r->now.next = (uint64_t)to->imm;
}

/* False: the path ends. */
static bool step(struct body_run *r)
{
	const cs_x86 *x = &r->insn->detail->x86;
	const cs_x86_op *ops = x->operands;
	unsigned int id = r->insn->id;
	struct run_value value;

	if (cs_insn_group(r->cs, r->insn, CS_GRP_JUMP)) {
		jump(r);
		return true;
	}
	note_accesses(r);
	r->compares_byte = id == X86_INS_CMP && ops[0].type == X86_OP_REG && ops[0].size == 1 &&
			   ops[1].type == X86_OP_IMM && ops[1].imm > 1;
	if (id == X86_INS_RET || id == X86_INS_UD2)
		return false;
	if (id == X86_INS_AND)
		note_mask(r, &ops[1]);
	if (id == X86_INS_MOVSQ)
		note_copy(r);
	if (id == X86_INS_CALL) {
		call(r);
	} else if (id == X86_INS_PUSH) {
		r->now.sp -= 8;
		store_slot(r, r->now.sp, 8, nothing);
	} else if (id == X86_INS_POP) {
		r->now.sp += 8;
		put(r, &ops[0], nothing);
	} else if ((id == X86_INS_SUB || id == X86_INS_ADD) && ops[0].type == X86_OP_REG &&
		   ops[0].reg == X86_REG_RSP && ops[1].type == X86_OP_IMM) {
		r->now.sp += id == X86_INS_ADD ? ops[1].imm : -ops[1].imm;
	} else if (id == X86_INS_XADD && ops[0].type == X86_OP_MEM && ops[0].size == 8 &&
		   ops[0].mem.disp >= FAR) {
		uint8_t base = code_register(ops[0].mem.base);

		/* The jobs are counted in the context. */
		if (base < REGS && r->now.regs[base].origin == ORIGIN_ARGUMENT)
			r->context_argument = r->now.regs[base].at;
		set_register(r, code_register(ops[1].reg), (struct run_value){ORIGIN_JOB, 0, 0});
	} else if (compute(r, &value)) {
		put(r, &ops[0], value);
	} else if (id == X86_INS_LEA) {
		put(r, &ops[0], place_of(r, &ops[1]));
	} else if (is_move(id) && x->op_count == 2) {
		move(r, ops);
	} else if (id != X86_INS_ADD || ops[1].type != X86_OP_IMM ||
		   get(r, &ops[0]).origin != ORIGIN_TABLE) {
		forget_written(r);
	}
	return true;
}

/*
 * False: it was seen before, or there is no room. What was seen without the table in a register,
 * such as with a shard of it, or behind a call that does not return, is seen again with it.
 */
static bool see(struct body_run *r, uint64_t addr)
{
	uint64_t key = addr << 1 | has_table(r);

	for (uint64_t i = 0, at = key * 0x9e3779b97f4a7c15ull >> 32; i < 16; i++, at++) {
		uint64_t *seen = &r->seen[at % BODY_RUN_SEEN];

		if (*seen == key)
			return false;
		if (!*seen) {
			*seen = key;
			return true;
		}
	}
	return false;
}

static void run(struct body_run *r, uint64_t entry)
{
	r->now.next = entry;
	for (uint64_t i = 0; i < CODE_ARGUMENTS; i++)
		r->now.regs[code_arguments[i]] = (struct run_value){ORIGIN_ARGUMENT, i, 0};
	for (r->left = r->table == BODY_RUN_NO_TABLE ? STEPS : STEPS_OF_TABLE; r->left; r->left--) {
		uint64_t addr = r->now.next;
		size_t len;
		const uint8_t *bytes = elf_image__code(r->img, addr, &len);
		bool goes_on = bytes && see(r, addr) &&
			       cs_disasm_iter(r->cs, &bytes, &len, &addr, r->insn);

		if (goes_on) {
			r->now.next = addr;
			goes_on = step(r);
		}
		if (goes_on)
			continue;
		if (!r->n_later)
			return;
		r->now = r->later[--r->n_later];
	}
}

int body_run__new(const struct elf_image *img, uint64_t entry, uint64_t slot,
		  const struct body_run_table *table, struct body_run **out)
{
	_body_run_ struct body_run *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &r->cs) != CS_ERR_OK)
		return -ENOMEM;
	cs_option(r->cs, CS_OPT_DETAIL, CS_OPT_ON);
	r->insn = cs_malloc(r->cs);
	if (!r->insn)
		return -ENOMEM;
	r->img = img;
	r->slot = slot;
	r->context_argument = CODE_ARGUMENTS;
	r->table = r->word = BODY_RUN_NO_TABLE;
	if (table) {
		r->table = table->argument * FAR + table->at;
		if (table->has_place) {
			r->table = BODY_RUN_PLACES + table->at;
			r->word = table->argument * FAR + table->word;
		}
		r->ctrl = table->ctrl;
		r->mask = table->mask;
		r->calls = CALLS;
	}
	run(r, entry);
	*out = take_ptr(r);
	return 0;
}

void body_run__free(struct body_run *r)
{
	if (!r)
		return;
	if (r->insn)
		cs_free(r->insn, 1);
	if (r->cs)
		cs_close(&r->cs);
	free(r);
}
