// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/eval.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/constants.h"
#include "plan/symbols/relocated.h"
#include "plan/code/sum.h"

#define REGS	  (CODE_REG_SP + 1)
#define SLOTS_MAX 24
#define PATHS_MAX 64
#define WIDE_REGS 16
#define STEPS_MAX 20000
/* Pointers that are looked up among relocations: each time these are read from their start. */
#define POINTERS_MAX 64
/* Bytes of a struct that a function fills in. */
#define FILLED_MAX 256

/* A store to the function's own stack, `at` bytes above sp at its entry. */
struct slot {
	int64_t at;
	uint8_t size;
	struct sum value;
};

struct path {
	uint64_t at; /* of the next instruction */
	struct sum regs[REGS];
	struct sum wide[WIDE_REGS]; /* 16 bytes that were loaded at once */
	struct slot slots[SLOTS_MAX];
	uint32_t n_slots;
	bool slots_lost;	/* any slot may have been changed */
	struct sum filled;	/* the last call's result: a struct in the slots from */
	int64_t filled_at;	/* here on; unknown if there is none */
	struct sum left, right; /* of the last comparison; unknown: the flags are of another one */
	uint8_t width;		/* its bytes */
	bool carry;		/* only the carry flag is as after it */
};

struct machine {
	const struct eval_function *f;
	struct eval *out;
	csh cs;
	cs_insn *insn;
	struct path *work;
	uint32_t n_work;
	struct visits visits;
	uint32_t steps;		     /* left */
	uint32_t pointers;	     /* that were looked up among relocations */
	struct code_region followed; /* a function that was jumped to */
};

/* Add a pair to one of the lists of `out`. */
static void note(struct eval *out, struct eval_pairs *pairs, struct sum a, struct sum b)
{
	for (uint32_t i = 0; i < pairs->n; i++)
		if (sum_same(&pairs->items[i].a, &a) && sum_same(&pairs->items[i].b, &b))
			return;
	if (pairs->n == EVAL_RESULTS)
		out->partial = true;
	else
		pairs->items[pairs->n++] = (struct eval_pair){a, b};
}

static struct sum entry_value(struct machine *m, uint8_t reg)
{
	return sum_of_node(&m->out->nodes, (struct sum_node){.kind = SUM_ENTRY, .reg = reg});
}

/* True if `address` is a place on the function's stack. */
static bool on_stack(const struct machine *m, const struct sum *address, int64_t *at)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&m->out->nodes, address, &more);

	if (!node || node->kind != SUM_ENTRY || node->reg != CODE_REG_SP)
		return false;
	*at = (int64_t)more;
	return true;
}

/* Within a function a slot that was changed must be known from one that was not. */
static void store_slot(const struct machine *m, struct path *p, int64_t at, uint8_t size,
		       struct sum value)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_slots; i++) {
		const struct slot *s = &p->slots[i];

		if (s->at + s->size <= at || at + size <= s->at)
			p->slots[n++] = *s;
	}
	p->n_slots = n;
	if ((value.known || m->f->inside || m->f->fills) && n < SLOTS_MAX)
		p->slots[p->n_slots++] = (struct slot){at, size, value};
	else
		p->slots_lost = true;
}

/*
 * What a slot holds. What it held before the run is unknown if any of its bytes was changed since.
 */
static struct sum load_slot(struct machine *m, const struct path *p, int64_t at, uint8_t size)
{
	struct sum_node node = {.kind = SUM_LOAD, .size = size};

	for (uint32_t i = 0; i < p->n_slots; i++)
		if (p->slots[i].at == at && p->slots[i].size == size)
			return p->slots[i].value;
	for (uint32_t i = 0; i < p->n_slots; i++)
		if (p->slots[i].at < at + size && at < p->slots[i].at + p->slots[i].size)
			return sum_unknown;
	if (p->filled.known && at >= p->filled_at && at < p->filled_at + FILLED_MAX) {
		node.of = sum_add(p->filled, sum_constant((uint64_t)(at - p->filled_at)));
		return sum_of_node(&m->out->nodes, node);
	}
	if (!m->f->inside || p->slots_lost)
		return sum_unknown;
	node.of = sum_add(entry_value(m, CODE_REG_SP), sum_constant((uint64_t)at));
	return sum_of_node(&m->out->nodes, node);
}

/* The value of memory that is given. */
static bool load_given(struct machine *m, const struct sum_node *load, struct sum *value)
{
	uint64_t at;
	const struct sum_node *base = sum_node_of(&m->out->nodes, &load->of, &at);

	for (size_t i = 0; base && base->kind == SUM_ENTRY && i < m->f->n_given; i++) {
		const struct eval_given *g = &m->f->given[i];

		if (g->reg != base->reg || g->at != at || g->size != load->size)
			continue;
		*value = sum_constant(g->value);
		return true;
	}
	return false;
}

/* The address of the thread's storage, which is what it begins with. */
static struct sum thread_base(struct machine *m)
{
	return sum_of_node(&m->out->nodes, (struct sum_node){.kind = SUM_LOAD,
							     .size = 8,
							     .thread = true,
							     .of = sum_constant(0)});
}

/* An address that is a sum with that of the thread's storage is one within it. */
static void enter_thread(struct machine *m, struct sum_node *node)
{
	struct sum base = m->f->follows && !node->thread ? thread_base(m) : sum_unknown;

	for (uint8_t i = 0; base.known && i < node->of.n; i++)
		if (node->of.terms[i].node == base.terms[0].node && node->of.terms[i].factor == 1) {
			node->of = sum_add(node->of, sum_scale(base, -1ull));
			node->thread = true;
			return;
		}
}

/* The address that the dynamic linker writes there; 0 if none is known. Looking takes time. */
static uint64_t relocated(struct machine *m, uint64_t at)
{
	if (!m->f->follows || m->pointers == POINTERS_MAX)
		return 0;
	m->pointers++;
	return relocated__value(m->f->img, at);
}

static struct sum load_at(struct machine *m, const struct path *p, struct sum_node node)
{
	uint64_t pointer = 0;
	struct sum given;
	int64_t at;

	enter_thread(m, &node);
	if (!node.thread && on_stack(m, &node.of, &at))
		return load_slot(m, p, at, node.size);
	if (!node.thread && sum_is_constant(&node.of) && node.size <= 4)
		return constants_load(m->f->img, node.of.constant, node.size);
	if (!node.thread && load_given(m, &node, &given))
		return given;
	if (!node.thread && sum_is_constant(&node.of) && node.size == 8)
		pointer = relocated(m, node.of.constant);
	if (pointer)
		return sum_constant(pointer);
	return node.size <= 16 ? sum_of_node(&m->out->nodes, node) : sum_unknown;
}

static struct sum address_of(const struct machine *m, const struct path *p, const cs_x86_op *op)
{
	struct sum a = sum_constant((uint64_t)op->mem.disp);

	if (op->mem.segment != X86_REG_INVALID && op->mem.segment != X86_REG_FS)
		return sum_unknown;
	if (op->mem.base == X86_REG_RIP) {
		a.constant += m->insn->address + m->insn->size;
	} else if (op->mem.base != X86_REG_INVALID) {
		uint8_t r = code_register(op->mem.base);

		a = r < REGS ? sum_add(a, p->regs[r]) : sum_unknown;
	}
	if (op->mem.index != X86_REG_INVALID) {
		uint8_t r = code_register(op->mem.index);

		a = r < REGS ? sum_add(a, sum_scale(p->regs[r], (uint64_t)op->mem.scale))
			     : sum_unknown;
	}
	return a;
}

static bool is_wide(const cs_x86_op *op)
{
	return op->type == X86_OP_REG && op->reg >= X86_REG_XMM0 && op->reg <= X86_REG_XMM15;
}

/* The value of an operand, without a sign: its upper bits are zero. */
static struct sum get(struct machine *m, const struct path *p, const cs_x86_op *op)
{
	uint8_t r;

	if (op->type == X86_OP_MEM)
		return load_at(m, p,
			       (struct sum_node){.kind = SUM_LOAD,
						 .size = op->size,
						 .thread = op->mem.segment == X86_REG_FS,
						 .of = address_of(m, p, op)});
	if (is_wide(op))
		return p->wide[op->reg - X86_REG_XMM0];
	if (op->type == X86_OP_IMM)
		return sum_constant(op->size == 4 ? (uint32_t)op->imm : (uint64_t)op->imm);
	r = op->type == X86_OP_REG ? code_register(op->reg) : CODE_REG_OTHER;
	if (r >= REGS || op->size > 8)
		return sum_unknown;
	if (op->size < 4)
		return sum_is_constant(&p->regs[r]) && !code_register_is_high_byte(op->reg)
			       ? sum_constant(p->regs[r].constant & ((1u << 8 * op->size) - 1))
			       : sum_unknown;
	return op->size == 8 ? p->regs[r] : sum_low(&m->out->nodes, p->regs[r]);
}

static void set(struct machine *m, struct path *p, const cs_x86_op *op, struct sum value)
{
	uint8_t r;

	if (op->type == X86_OP_MEM) {
		struct sum address = address_of(m, p, op);
		int64_t at;

		if (op->mem.segment == X86_REG_FS)
			return;
		if (on_stack(m, &address, &at))
			store_slot(m, p, at, op->size, value);
		else if (address.known && value.known)
			note(m->out, &m->out->stores, address, value);
		return;
	}
	if (is_wide(op))
		p->wide[op->reg - X86_REG_XMM0] = value;
	r = op->type == X86_OP_REG ? code_register(op->reg) : CODE_REG_OTHER;
	if (r >= REGS)
		return;
	if (op->size < 4)
		p->regs[r] = sum_unknown;
	else
		p->regs[r] = op->size == 8 ? value : sum_low(&m->out->nodes, value);
}

static void compare(struct machine *m, struct path *p, struct sum a, struct sum b, uint8_t width)
{
	p->left = p->right = sum_unknown;
	p->carry = false;
	if (!a.known || !b.known || (width < 4 && !(sum_is_constant(&a) && sum_is_constant(&b))))
		return;
	p->left = a;
	p->right = b;
	p->width = width;
	if (width >= 4)
		note(m->out, &m->out->compares, a, b);
}

/* Any other instruction may change whatever it names: capstone's access flags are wrong for some.
 */
static void forget(struct machine *m, struct path *p)
{
	const cs_detail *detail = m->insn->detail;
	const cs_x86 *x = &detail->x86;

	for (int i = 0; i < detail->regs_write_count; i++) {
		uint8_t r = code_register(detail->regs_write[i]);

		if (r < REGS)
			p->regs[r] = sum_unknown;
	}
	for (int i = 0; i < x->op_count; i++) {
		if (i == 0 || x->operands[i].type == X86_OP_REG)
			set(m, p, &x->operands[i], sum_unknown);
	}
	if (m->insn->id == X86_INS_CMPXCHG)
		p->regs[WIRE_REG_AX] = sum_unknown;
}

static void push(struct path *p, struct sum value, const struct machine *m)
{
	int64_t at;

	p->regs[CODE_REG_SP] = sum_add(p->regs[CODE_REG_SP], sum_constant(-8ull));
	if (on_stack(m, &p->regs[CODE_REG_SP], &at))
		store_slot(m, p, at, 8, value);
}

static struct sum pop(struct path *p, struct machine *m)
{
	struct sum value = sum_unknown;
	int64_t at;

	if (on_stack(m, &p->regs[CODE_REG_SP], &at))
		value = load_slot(m, p, at, 8);
	p->regs[CODE_REG_SP] = sum_add(p->regs[CODE_REG_SP], sum_constant(8));
	return value;
}

static bool same_call(const struct eval_call *a, const struct eval_call *b)
{
	return a->target == b->target && sum_same(&a->first, &b->first) &&
	       sum_same(&a->second, &b->second) && sum_same(&a->third, &b->third) &&
	       sum_same(&a->fourth, &b->fourth) && sum_same(&a->halves[0], &b->halves[0]) &&
	       sum_same(&a->halves[1], &b->halves[1]) && sum_same(&a->words[0], &b->words[0]) &&
	       sum_same(&a->whole, &b->whole) && sum_same(&a->pieces[0], &b->pieces[0]) &&
	       sum_same(&a->pieces[1], &b->pieces[1]) && sum_same(&a->words[1], &b->words[1]) &&
	       sum_same(&a->half, &b->half);
}

/* The function that a call or jump goes to, directly or through the GOT; 0 if it is computed. */
static uint64_t target_of(struct machine *m, const struct path *p)
{
	const cs_x86_op *to = &m->insn->detail->x86.operands[0];
	struct sum at = to->type == X86_OP_MEM ? address_of(m, p, to) : sum_unknown;

	if (to->type == X86_OP_IMM)
		return (uint64_t)to->imm;
	return sum_is_constant(&at)
		       ? elf_image__through(m->f->img, at.constant) ?: relocated(m, at.constant)
		       : 0;
}

/* The value in the slots that an argument leads to. */
static struct sum passed(struct machine *m, const struct path *p, const struct sum *to, int at,
			 uint8_t size)
{
	int64_t slot;

	return on_stack(m, to, &slot) ? load_slot(m, p, slot + at, size) : sum_unknown;
}

static void note_call(struct machine *m, const struct path *p, uint64_t target)
{
	struct eval *out = m->out;
	struct eval_call c = {
		.target = target,
		.first = p->regs[WIRE_REG_DI],
		.second = p->regs[WIRE_REG_SI],
		.third = p->regs[WIRE_REG_DX],
		.fourth = p->regs[WIRE_REG_CX],
	};
	struct sum behind = passed(m, p, &c.second, 16, 8);
	int64_t slot;

	if (!on_stack(m, &behind, &slot))
		behind = c.third;
	for (int i = 0; i < 2; i++) {
		c.halves[i] = passed(m, p, &c.first, 4 * i, 4);
		c.pieces[i] = passed(m, p, &c.second, 8 * i, 8);
		c.words[i] = passed(m, p, &behind, 8 * i, 8);
	}
	c.whole = passed(m, p, &c.first, 0, 8);
	c.half = passed(m, p, &c.third, 0, 4);
	for (uint32_t i = 0; i < out->n_calls; i++)
		if (same_call(&out->calls[i], &c))
			return;
	if (out->n_calls < EVAL_CALLS)
		out->calls[out->n_calls++] = c;
}

static struct sum returned(struct machine *m, const struct path *p, uint64_t target)
{
	const cs_x86_op *to = &m->insn->detail->x86.operands[0];
	struct sum_node node = {.kind = SUM_CALL, .of = sum_constant(target)};
	uint64_t word;

	if (m->f->follows && target && constants_in_thread(m->f->img, target, &word)) {
		struct sum_node offset = {.kind = SUM_LOAD, .size = 8, .of = sum_constant(word)};
		struct sum base = thread_base(m);
		struct sum found = sum_add(base, sum_of_node(&m->out->nodes, offset));

		if (found.known)
			return found;
	}
	if (!target) {
		node.kind = SUM_CALL_BY;
		node.of = to->type == X86_OP_MEM ? address_of(m, p, to) : sum_unknown;
	}
	return sum_of_node(&m->out->nodes, node);
}

/* A function that is given the address of a slot may change any. */
static void call(struct machine *m, struct path *p)
{
	static const uint8_t scratch[] = {WIRE_REG_AX, WIRE_REG_CX,  WIRE_REG_DX,
					  WIRE_REG_SI, WIRE_REG_DI,  WIRE_REG_R8,
					  WIRE_REG_R9, WIRE_REG_R10, WIRE_REG_R11};
	uint64_t target = target_of(m, p);
	int64_t at, filled_at = 0;
	bool fills = m->f->fills && target && on_stack(m, &p->regs[WIRE_REG_DI], &filled_at);
	struct sum result = returned(m, p, target);

	note_call(m, p, target);
	for (size_t i = 0; i < sizeof(scratch); i++) {
		if (on_stack(m, &p->regs[scratch[i]], &at)) {
			p->n_slots = 0;
			p->slots_lost = true;
			p->filled = sum_unknown;
		}
		p->regs[scratch[i]] = sum_unknown;
	}
	memset(p->wide, 0, sizeof(p->wide));
	p->regs[WIRE_REG_AX] = result;
	if (!fills)
		return;
	p->filled = p->regs[WIRE_REG_AX];
	p->filled_at = filled_at;
}

static bool is_self(const cs_x86_op *a, const cs_x86_op *b)
{
	return a->type == X86_OP_REG && b->type == X86_OP_REG && a->reg == b->reg;
}

static int decide(const struct path *p, unsigned int jump)
{
	if (p->carry && jump != X86_INS_JB && jump != X86_INS_JAE)
		return -1;
	return constants_compare(&p->left, &p->right, p->width, jump);
}

/* Instructions that leave the flags as they are. */
static bool move(struct machine *m, struct path *p)
{
	const cs_x86_op *a = &m->insn->detail->x86.operands[0], *b = a + 1;
	unsigned int jump;
	struct sum value;
	int taken;

	switch (m->insn->id) {
	case X86_INS_XCHG:
		value = get(m, p, a);
		set(m, p, a, get(m, p, b));
		set(m, p, b, value);
		return true;
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVUPS:
	case X86_INS_MOVAPS:
	case X86_INS_MOVDQU:
	case X86_INS_MOVDQA:
		set(m, p, a, get(m, p, b));
		return true;
	case X86_INS_MOVSXD:
		value = get(m, p, b);
		set(m, p, a,
		    sum_is_constant(&value) && b->size == 4
			    ? sum_constant((uint64_t)(int64_t)(int32_t)value.constant)
			    : sum_unknown);
		return true;
	case X86_INS_LEA:
		set(m, p, a, address_of(m, p, b));
		return true;
	case X86_INS_PUSH:
		push(p, get(m, p, a), m);
		return true;
	case X86_INS_POP:
		set(m, p, a, pop(p, m));
		return true;
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
		return true;
	default:
		/* A conditional move. */
		jump = constants_condition(m->insn->id);
		taken = jump ? decide(p, jump) : -1;
		if (jump)
			set(m, p, a, taken < 0 ? sum_unknown : get(m, p, taken ? b : a));
		return jump;
	}
}

/* A mask that is constant says nothing of use, unless the value is constant, too. */
static struct sum masked(struct machine *m, const struct sum *value, const struct sum *mask,
			 uint8_t size)
{
	struct sum both = constants_fold(X86_INS_AND, value, mask, size);

	if (both.known || sum_is_constant(mask))
		return both;
	return sum_of_node(&m->out->nodes, (struct sum_node){.kind = SUM_BELOW, .of = *mask});
}

/* The bit of a register that another register, or the instruction, names. */
static void test_bit(struct machine *m, struct path *p, struct sum of, struct sum bit)
{
	const cs_x86_op *a = &m->insn->detail->x86.operands[0];

	if (a->type != X86_OP_REG || a->size < 4 || !sum_is_constant(&of) || !sum_is_constant(&bit))
		return;
	/* As after 0 - 1, which borrows, or after 1 - 1. */
	p->left = sum_constant(!(of.constant >> (bit.constant % (8 * a->size)) & 1));
	p->right = sum_constant(1);
	p->width = 8;
	p->carry = true;
}

/* Instructions that set them. */
static void calculate(struct machine *m, struct path *p)
{
	const cs_x86 *x = &m->insn->detail->x86;
	const cs_x86_op *a = &x->operands[0], *b = a + 1;
	struct sum left = sum_unknown, right = sum_unknown;

	if (x->op_count > 0)
		left = get(m, p, a);
	/* A shift by one has one operand. */
	right = x->op_count > 1 ? get(m, p, b) : sum_constant(1);
	p->left = p->right = sum_unknown;
	p->carry = false;
	switch (m->insn->id) {
	case X86_INS_CMP:
		compare(m, p, left, right, a->size);
		break;
	case X86_INS_TEST:
		if (is_self(a, b))
			compare(m, p, left, sum_constant(0), a->size);
		break;
	case X86_INS_BT:
		test_bit(m, p, left, right);
		break;
	case X86_INS_ADD:
		set(m, p, a, sum_add(left, right));
		break;
	case X86_INS_SUB:
		set(m, p, a, sum_add(left, sum_scale(right, -1ull)));
		compare(m, p, left, right, a->size);
		break;
	case X86_INS_INC:
	case X86_INS_DEC:
		set(m, p, a, sum_add(left, sum_constant(m->insn->id == X86_INS_INC ? 1 : -1ull)));
		break;
	case X86_INS_SHL:
		set(m, p, a,
		    b->type == X86_OP_REG ? constants_fold(X86_INS_SHL, &left, &right, a->size)
					  : sum_scale(left, 1ull << (right.constant & 63)));
		break;
	case X86_INS_OR:
	case X86_INS_SAR:
	case X86_INS_SHR:
		set(m, p, a, constants_fold(m->insn->id, &left, &right, a->size));
		break;
	case X86_INS_BSR:
		set(m, p, a, constants_fold(X86_INS_BSR, &right, &right, a->size));
		break;
	case X86_INS_NEG:
		set(m, p, a, sum_scale(left, -1ull));
		break;
	case X86_INS_AND:
		set(m, p, a, masked(m, &left, &right, a->size));
		break;
	case X86_INS_XOR:
		set(m, p, a, is_self(a, b) ? sum_constant(0) : sum_unknown);
		break;
	default:
		forget(m, p);
	}
}

/* False: this way was gone often enough. */
static bool may_go(struct machine *m, uint64_t from, uint64_t to)
{
	bool may = visits__add(&m->visits, from, to);

	m->out->partial = m->out->partial || !may;
	return may;
}

/* False at the path's end. */
static bool branch(struct machine *m, struct path *p, uint64_t next)
{
	uint64_t from = m->insn->address, to = (uint64_t)m->insn->detail->x86.operands[0].imm;
	int taken = decide(p, m->insn->id);

	if (taken != 0 && may_go(m, from, to)) {
		p->at = to;
		if (taken > 0)
			return true;
		if (m->n_work < PATHS_MAX)
			m->work[m->n_work++] = *p;
		else
			m->out->partial = true;
	}
	p->at = next;
	return taken <= 0 && may_go(m, from, next);
}

static bool is_within(const struct code_region *r, uint64_t addr)
{
	return addr >= r->addr && addr - r->addr < r->size;
}

static bool is_in(const struct machine *m, uint64_t addr)
{
	for (size_t i = 0; i < m->f->n_regions; i++)
		if (is_within(&m->f->regions[i], addr))
			return true;
	return is_within(&m->followed, addr);
}

static bool jump(struct machine *m, struct path *p)
{
	const cs_x86_op *op = &m->insn->detail->x86.operands[0];
	uint64_t target = target_of(m, p);
	struct sum to = target ? sum_constant(target) : get(m, p, op);

	if (!sum_is_constant(&to)) {
		m->out->partial = true;
		return false;
	}
	if (m->f->follows && target && !m->followed.size && !is_in(m, target))
		m->followed = (struct code_region){target, elf_image__size_of(m->f->img, target)};
	if (!is_in(m, to.constant)) {
		note(m->out, &m->out->leaves, to, p->regs[WIRE_REG_DI]);
		m->out->partial = true;
		return false;
	}
	p->at = to.constant;
	return may_go(m, m->insn->address, p->at);
}

static bool decode(struct machine *m, uint64_t addr)
{
	size_t len;
	const uint8_t *bytes = elf_image__code(m->f->img, addr, &len);

	return bytes && cs_disasm_iter(m->cs, &bytes, &len, &addr, m->insn);
}

static struct sum look_up(struct machine *m, const struct path *p, const struct wire_place *place)
{
	struct sum value = place->reg < REGS ? p->regs[place->reg] : sum_unknown;

	for (uint8_t i = 0; i < place->n && value.known; i++) {
		struct sum_node node = {.kind = SUM_LOAD, .size = 8};

		if (i + 1 == place->n && place->size)
			node.size = place->size;
		node.of = sum_add(value, sum_constant((uint64_t)(int64_t)place->at[i]));
		value = node.of.known ? load_at(m, p, node) : sum_unknown;
	}
	return value;
}

static void arrive(struct machine *m, const struct path *p)
{
	for (size_t i = 0; i < m->f->n_asked && i < EVAL_ASKED; i++) {
		struct sum answer = look_up(m, p, &m->f->asked[i]);

		if (m->out->arrived && !sum_equal(&m->out->answers[i], &answer))
			answer = sum_unknown;
		m->out->answers[i] = answer;
	}
	m->out->arrived = true;
}

/* False at the path's end. */
static bool step(struct machine *m, struct path *p)
{
	if (m->f->until && p->at == m->f->until) {
		arrive(m, p);
		return false;
	}
	if (!m->steps || !is_in(m, p->at) || !decode(m, p->at)) {
		m->out->partial = true;
		return false;
	}
	m->steps--;
	p->at += m->insn->size;
	switch (m->insn->id) {
	case X86_INS_RET:
		note(m->out, &m->out->returns, p->regs[WIRE_REG_AX], p->regs[WIRE_REG_DX]);
		return false;
	case X86_INS_UD2:
	case X86_INS_INT3:
	case X86_INS_HLT:
		return false;
	case X86_INS_CALL:
		call(m, p);
		/* A call at the end of a part never returns. */
		return is_in(m, p->at);
	case X86_INS_JMP:
		return jump(m, p);
	}
	if (cs_insn_group(m->cs, m->insn, CS_GRP_JUMP))
		return branch(m, p, p->at);
	if (!move(m, p))
		calculate(m, p);
	return true;
}

int eval__run(const struct eval_function *f, struct eval **out)
{
	_free_ struct path *work = calloc(PATHS_MAX, sizeof(*work));
	_free_ struct eval *result = calloc(1, sizeof(*result));
	struct machine m = {.f = f, .out = result, .work = work, .steps = f->steps ?: STEPS_MAX};

	if (!work || !result || cs_open(CS_ARCH_X86, CS_MODE_64, &m.cs) != CS_ERR_OK)
		return -ENOMEM;
	cs_option(m.cs, CS_OPT_DETAIL, CS_OPT_ON);
	m.insn = cs_malloc(m.cs);
	if (!m.insn) {
		cs_close(&m.cs);
		return -ENOMEM;
	}
	work[m.n_work++].at = f->entry;
	for (uint8_t r = 0; r < REGS; r++)
		work->regs[r] = entry_value(&m, r);
	if (f->has_first)
		work->regs[WIRE_REG_DI] = sum_constant(f->first);
	if (f->has_second)
		work->regs[WIRE_REG_SI] = sum_constant(f->second);
	while (m.n_work) {
		struct path p = work[--m.n_work];

		while (step(&m, &p))
			;
	}
	result->partial = result->partial || result->nodes.full;
	cs_free(m.insn, 1);
	cs_close(&m.cs);
	*out = take_ptr(result);
	return 0;
}
