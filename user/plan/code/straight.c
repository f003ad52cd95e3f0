// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/straight.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/constants.h"
#include "plan/code/decode.h"

#define REGS	(CODE_REG_SP + 1)
#define VECTORS 16
#define WIDEST	16

/* rustc 1.95's function has a frame of 126 KiB and 15,000 instructions. */
#define STACK_SIZE (1u << 20)
#define STEPS_MAX  400000
#define CALL_STEPS 20000
#define CALLS_MAX  8
/* Left above the first frame. */
#define STACK_ABOVE 4096

/* Addresses that no library's code refers to. */
#define RESULT_AT 0x6f0000000000ull
#define STACK_AT  0x7f0000000000ull

/* The bytes of a value, lowest first; bit i of `known`: byte i is known, it is 0 otherwise. */
struct bytes {
	uint8_t b[WIDEST];
	uint16_t known;
};

struct area {
	uint64_t addr;
	size_t size;
	uint8_t *b;
	uint8_t *known; /* of each byte: whether it is */
};

/* A constant of the library. */
struct word {
	uint64_t addr, value;
};

/* A call that is being run. */
struct frame {
	uint64_t back; /* where it returns to */
	uint64_t sp;   /* then */
	struct bytes regs[REGS];
	uint32_t steps; /* left to the caller */
};

/* Flags of the last comparison or calculation. */
struct flags {
	bool known, carry, zero, sign, overflow;
};

struct machine {
	const struct elf_image *img;
	csh cs;
	cs_insn *insn;
	struct area areas[2]; /* the struct and the stack */
	struct bytes regs[REGS];
	struct bytes vectors[VECTORS];
	struct flags flags;
	struct word words[64];
	struct frame frames[CALLS_MAX];
	uint32_t n_frames;
	uint64_t at;
	uint32_t steps; /* left to the current function, */
	uint32_t total; /* and to all */
	bool returned;
};

struct straight {
	struct area result;
};

static const struct bytes unknown;

static uint16_t mask_of(size_t size)
{
	return (uint16_t)((1u << size) - 1);
}

static struct bytes constant(uint64_t value)
{
	struct bytes v = {.known = 0xffff};

	memcpy(v.b, &value, sizeof(value));
	return v;
}

/* The lowest `size` bytes as a number. */
static bool number(const struct bytes *v, size_t size, uint64_t *out)
{
	*out = 0;
	if (size > sizeof(*out) || (v->known & mask_of(size)) != mask_of(size))
		return false;
	memcpy(out, v->b, size);
	return true;
}

/* Zeroes follow the lowest `size` bytes. */
static struct bytes zero_extended(struct bytes v, size_t size)
{
	if (size < WIDEST) {
		memset(v.b + size, 0, WIDEST - size);
		v.known |= (uint16_t)~mask_of(size);
	}
	return v;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool find_area(struct machine *m, uint64_t addr, uint64_t size, struct area **area,
		      size_t *at)
{
	for (size_t i = 0; i < N_OF(m->areas); i++) {
		struct area *a = &m->areas[i];

		if (addr < a->addr || addr - a->addr > a->size ||
		    size > a->size - (size_t)(addr - a->addr))
			continue;
		*area = a;
		*at = (size_t)(addr - a->addr);
		return true;
	}
	return false;
}

/* The words that tables begin with are the same for many, and finding one takes long. */
static bool constant_word(struct machine *m, uint64_t addr, uint64_t *value)
{
	struct word *w = &m->words[addr / 8 % N_OF(m->words)];

	if (addr && w->addr != addr && constants_word(m->img, addr, &w->value))
		w->addr = addr;
	*value = w->value;
	return addr && w->addr == addr;
}

/* The only byte that such functions read elsewhere is the compiler's mode. */
static struct bytes outside(size_t size)
{
	return size == 1 ? constant(1) : unknown; /* one thread */
}

/* Outside our memory constants are known, and pointers to functions in the global offset table. */
static struct bytes load(struct machine *m, uint64_t addr, size_t size)
{
	struct bytes v = unknown;
	uint64_t function, words[2] = {0};
	struct area *a;
	size_t at;

	if (find_area(m, addr, size, &a, &at)) {
		for (size_t i = 0; i < size; i++) {
			v.b[i] = a->b[at + i];
			v.known |= (uint16_t)(a->known[at + i] << i);
		}
		return v;
	}
	function = size == 8 ? elf_image__through(m->img, addr) : 0;
	if (function)
		return constant(function);
	if (size % 8 || size > WIDEST)
		return outside(size);
	for (size_t i = 0; i < size / 8; i++)
		if (!constant_word(m, addr + 8 * i, &words[i]))
			return unknown;
	memcpy(v.b, words, size);
	v.known = mask_of(size);
	return v;
}

static void store(struct machine *m, uint64_t addr, size_t size, const struct bytes *v)
{
	struct area *a;
	size_t at;

	if (!find_area(m, addr, size, &a, &at))
		return;
	for (size_t i = 0; i < size; i++) {
		a->known[at + i] = i < WIDEST && v->known >> i & 1;
		a->b[at + i] = a->known[at + i] ? v->b[i] : 0;
	}
}

/* ---- Operands -------------------------------------------------------------------------------- */

static bool address_of(const struct machine *m, const cs_x86_op *op, uint64_t *addr)
{
	uint64_t value;
	uint8_t r;

	*addr = (uint64_t)op->mem.disp;
	/* The others begin at 0. */
	if (op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS)
		return false;
	if (op->mem.base == X86_REG_RIP) {
		*addr += m->insn->address + m->insn->size;
	} else if (op->mem.base != X86_REG_INVALID) {
		r = code_register(op->mem.base);
		if (r >= REGS || !number(&m->regs[r], 8, &value))
			return false;
		*addr += value;
	}
	if (op->mem.index == X86_REG_INVALID)
		return true;
	r = code_register(op->mem.index);
	if (r >= REGS || !number(&m->regs[r], 8, &value))
		return false;
	*addr += value * (uint64_t)op->mem.scale;
	return true;
}

static struct bytes *vector_of(struct machine *m, unsigned int reg)
{
	if (reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + VECTORS)
		return &m->vectors[reg - X86_REG_XMM0];
	if (reg >= X86_REG_YMM0 && reg < X86_REG_YMM0 + VECTORS)
		return &m->vectors[reg - X86_REG_YMM0];
	return NULL;
}

static struct bytes get(struct machine *m, const cs_x86_op *op)
{
	const struct bytes *vector;
	uint64_t addr;
	uint8_t r;

	switch (op->type) {
	case X86_OP_IMM:
		return constant((uint64_t)op->imm);
	case X86_OP_REG:
		vector = vector_of(m, op->reg);
		if (vector)
			return *vector;
		r = code_register(op->reg);
		return r < REGS && !code_register_is_high_byte(op->reg) ? m->regs[r] : unknown;
	case X86_OP_MEM:
		if (op->size > WIDEST)
			return unknown;
		return address_of(m, op, &addr) ? load(m, addr, op->size) : outside(op->size);
	default:
		return unknown;
	}
}

static void set(struct machine *m, const cs_x86_op *op, struct bytes v)
{
	struct bytes *to = op->type == X86_OP_REG ? vector_of(m, op->reg) : NULL;
	size_t size = op->size;
	uint64_t addr;
	uint8_t r;

	if (op->type == X86_OP_MEM && address_of(m, op, &addr))
		store(m, addr, size, size <= WIDEST ? &v : &unknown);
	if (to)
		*to = v;
	if (to || op->type != X86_OP_REG)
		return;
	r = code_register(op->reg);
	if (r >= REGS)
		return;
	to = &m->regs[r];
	if (code_register_is_high_byte(op->reg)) {
		to->known &= (uint16_t)~2u;
	} else if (size >= 4) {
		*to = zero_extended(v, size);
	} else {
		memcpy(to->b, v.b, size);
		to->known &= (uint16_t)~mask_of(size);
		to->known |= v.known & mask_of(size);
	}
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static void note_flags(struct machine *m, unsigned int id, uint64_t a, uint64_t b, uint64_t result,
		       size_t size)
{
	unsigned int top = (unsigned int)(8 * size - 1);
	uint64_t mask = size == 8 ? ~0ull : (1ull << 8 * size) - 1;
	bool subtracts = id == X86_INS_CMP || id == X86_INS_SUB;

	m->flags = (struct flags){
		.known = true,
		.zero = !(result & mask),
		.sign = result >> top & 1,
		.carry = subtracts && (a & mask) < (b & mask),
		.overflow = subtracts && ((a ^ b) & (a ^ result)) >> top & 1,
	};
}

/* The result of an instruction with two operands; false: it is none of these. */
static bool compute(unsigned int id, uint64_t a, uint64_t b, uint64_t *result)
{
	switch (id) {
	case X86_INS_CMP:
	case X86_INS_SUB:
		*result = a - b;
		return true;
	case X86_INS_ADD:
		*result = a + b;
		return true;
	case X86_INS_TEST:
	case X86_INS_AND:
		*result = a & b;
		return true;
	case X86_INS_OR:
		*result = a | b;
		return true;
	case X86_INS_XOR:
		*result = a ^ b;
		return true;
	default:
		return false;
	}
}

/* rep movs and rep stos write what rcx counts, not one element. True if all of it is known. */
static bool repeat(struct machine *m)
{
	const cs_x86 *x = &m->insn->detail->x86;
	const cs_x86_op *to = &x->operands[0];
	bool copies = (x->opcode[0] | 1) == 0xa5, counted;
	struct area *a, *src;
	size_t at, from_at, room;
	uint64_t addr, from, n;

	if (x->prefix[0] != X86_PREFIX_REP || !x->op_count || to->type != X86_OP_MEM || !to->size ||
	    !address_of(m, to, &addr) || !find_area(m, addr, 0, &a, &at))
		return false;
	room = a->size - at;
	counted = number(&m->regs[WIRE_REG_CX], 8, &n) && n <= room / to->size;
	if (counted)
		room = n * to->size;
	if (copies && counted && number(&m->regs[WIRE_REG_SI], 8, &from) &&
	    find_area(m, from, room, &src, &from_at) &&
	    (src != a || from_at >= at || at - from_at >= room)) {
		memmove(a->b + at, src->b + from_at, room);
		memmove(a->known + at, src->known + from_at, room);
		return true;
	}
	memset(a->b + at, 0, room);
	memset(a->known + at, 0, room);
	return false;
}

/* Any other instruction may change whatever it names, and the flags. */
static void forget(struct machine *m)
{
	const cs_detail *detail = m->insn->detail;
	const cs_x86 *x = &detail->x86;
	bool known = repeat(m);

	m->flags.known = false;
	/* Where it writes may depend on what it changes. */
	for (int i = 0; i < x->op_count; i++)
		if ((i == 0 && !known) || x->operands[i].type == X86_OP_REG)
			set(m, &x->operands[i], unknown);
	for (int i = 0; i < detail->regs_write_count; i++) {
		uint8_t r = code_register(detail->regs_write[i]);

		if (r < REGS)
			m->regs[r] = unknown;
	}
}

static bool is_cleared(const struct machine *m)
{
	const cs_x86_op *a = &m->insn->detail->x86.operands[0];
	unsigned int id = m->insn->id;

	return (id == X86_INS_XOR || id == X86_INS_XORPS || id == X86_INS_PXOR ||
		id == X86_INS_XORPD) &&
	       a[0].type == X86_OP_REG && a[1].type == X86_OP_REG && a[0].reg == a[1].reg;
}

static void calculate(struct machine *m)
{
	const cs_x86 *x = &m->insn->detail->x86;
	const cs_x86_op *a = &x->operands[0];
	struct bytes left = x->op_count ? get(m, a) : unknown;
	struct bytes right = x->op_count > 1 ? get(m, a + 1) : unknown;
	unsigned int id = m->insn->id;
	uint64_t l, r, result;

	if (is_cleared(m)) {
		set(m, a, constant(0));
		/* Those on vectors leave the flags as they are. */
		if (id == X86_INS_XOR)
			note_flags(m, id, 0, 0, 0, 8);
		return;
	}
	if (x->op_count != 2 || !number(&left, a->size, &l) || !number(&right, a->size, &r) ||
	    !compute(id, l, r, &result)) {
		if (id == X86_INS_CMP || id == X86_INS_TEST)
			m->flags.known = false;
		else
			forget(m);
		return;
	}
	if (id != X86_INS_CMP && id != X86_INS_TEST)
		set(m, a, constant(result));
	if (id == X86_INS_ADD)
		m->flags.known = false;
	else
		note_flags(m, id, l, r, result, a->size);
}

/* e0 to e2: loop, which counts it down; e3: jrcxz. */
static bool asks_rcx(const struct machine *m)
{
	const uint8_t *op = m->insn->detail->x86.opcode;

	return op[0] >= 0xe0 && op[0] <= 0xe3;
}

/* 1 and 0: the condition that the instruction's code names is true, or not; -1: not known. */
static int decide(const struct machine *m)
{
	const uint8_t *op = m->insn->detail->x86.opcode;
	uint8_t condition = (op[0] == 0x0f ? op[1] : op[0]) & 15;
	const struct flags *f = &m->flags;
	bool value;

	if (!f->known || asks_rcx(m))
		return -1;
	switch (condition >> 1) {
	case 0:
		value = f->overflow;
		break;
	case 1:
		value = f->carry;
		break;
	case 2:
		value = f->zero;
		break;
	case 3:
		value = f->carry || f->zero;
		break;
	case 4:
		value = f->sign;
		break;
	case 6:
		value = f->sign != f->overflow;
		break;
	case 7:
		value = f->zero || f->sign != f->overflow;
		break;
	default:
		return -1;
	}
	return value ^ (condition & 1);
}

/* 0f 40 to 4f: a conditional move; 0f 90 to 9f: a byte that is set to a condition. */
static bool is_conditional(const struct machine *m, uint8_t opcode)
{
	const uint8_t *op = m->insn->detail->x86.opcode;

	return op[0] == 0x0f && (op[1] & 0xf0) == opcode;
}

static void push(struct machine *m, struct bytes v)
{
	uint64_t sp;

	if (!number(&m->regs[CODE_REG_SP], 8, &sp))
		return;
	m->regs[CODE_REG_SP] = constant(sp - 8);
	store(m, sp - 8, 8, &v);
}

static struct bytes pop(struct machine *m)
{
	uint64_t sp;

	if (!number(&m->regs[CODE_REG_SP], 8, &sp))
		return unknown;
	m->regs[CODE_REG_SP] = constant(sp + 8);
	return load(m, sp, 8);
}

/* Instructions that leave the flags as they are. */
static bool move(struct machine *m)
{
	const cs_x86_op *a = &m->insn->detail->x86.operands[0];
	uint64_t addr;
	int taken;

	if (is_conditional(m, 0x40)) {
		taken = decide(m);
		/* Not taken, one of 32 bits clears the upper half all the same. */
		set(m, a, taken < 0 ? unknown : get(m, taken ? a + 1 : a));
		return true;
	}
	if (is_conditional(m, 0x90)) {
		taken = decide(m);
		set(m, a, taken < 0 ? unknown : constant((uint64_t)taken));
		return true;
	}
	switch (m->insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVUPS:
	case X86_INS_MOVAPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVAPD:
	case X86_INS_MOVDQU:
	case X86_INS_MOVDQA:
	case X86_INS_MOVQ:
	case X86_INS_MOVD:
		set(m, a, zero_extended(get(m, a + 1), a[1].size < WIDEST ? a[1].size : WIDEST));
		return true;
	case X86_INS_LEA:
		set(m, a, address_of(m, a + 1, &addr) ? constant(addr) : unknown);
		return true;
	case X86_INS_PUSH:
		push(m, get(m, a));
		return true;
	case X86_INS_POP:
		set(m, a, pop(m));
		return true;
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
		return true;
	default:
		return false;
	}
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void forget_scratch(struct machine *m)
{
	static const uint8_t scratch[] = {WIRE_REG_AX, WIRE_REG_CX,  WIRE_REG_DX,
					  WIRE_REG_SI, WIRE_REG_DI,  WIRE_REG_R8,
					  WIRE_REG_R9, WIRE_REG_R10, WIRE_REG_R11};

	for (size_t i = 0; i < sizeof(scratch); i++)
		m->regs[scratch[i]] = unknown;
	for (size_t i = 0; i < VECTORS; i++)
		m->vectors[i] = unknown;
	m->flags.known = false;
}

/* memcpy or memset, if the arguments are such. */
static void fill(struct machine *m)
{
	uint64_t to, from, n;
	struct area *dest, *src;
	size_t at, from_at;
	bool from_known = number(&m->regs[WIRE_REG_SI], 8, &from);

	if (!number(&m->regs[WIRE_REG_DI], 8, &to) || !number(&m->regs[WIRE_REG_DX], 8, &n) ||
	    !find_area(m, to, n, &dest, &at))
		return;
	if (from_known && find_area(m, from, n, &src, &from_at)) {
		memmove(dest->b + at, src->b + from_at, n);
		memmove(dest->known + at, src->known + from_at, n);
	} else if (number(&m->regs[WIRE_REG_SI], 4, &from) && from < 256) {
		memset(dest->b + at, (int)from, n);
		memset(dest->known + at, 1, n);
	} else {
		memset(dest->b + at, 0, n);
		memset(dest->known + at, 0, n);
	}
}

/* The function of the library that a call or jump goes to. */
static bool target_of(struct machine *m, uint64_t *to)
{
	struct bytes v = get(m, &m->insn->detail->x86.operands[0]);
	size_t len;

	return number(&v, 8, to) && elf_image__code(m->img, *to, &len);
}

static void call(struct machine *m)
{
	struct frame *f = &m->frames[m->n_frames];
	struct bytes first = m->regs[WIRE_REG_DI];
	uint64_t to, addr;
	struct area *a;
	size_t at;

	if (!target_of(m, &to)) {
		fill(m);
		forget_scratch(m);
		m->regs[WIRE_REG_AX] = first;
		return;
	}
	if (m->n_frames == CALLS_MAX || !number(&first, 8, &addr) ||
	    !find_area(m, addr, 0, &a, &at) || !number(&m->regs[CODE_REG_SP], 8, &f->sp)) {
		forget_scratch(m);
		return;
	}
	f->back = m->at;
	f->steps = m->steps;
	memcpy(f->regs, m->regs, sizeof(f->regs));
	m->n_frames++;
	m->steps = CALL_STEPS;
	push(m, constant(f->back));
	m->at = to;
}

/* Go on behind a call that could not be run to its end. */
static bool give_up(struct machine *m)
{
	struct frame *f;

	if (!m->n_frames)
		return false;
	f = &m->frames[--m->n_frames];
	memcpy(m->regs, f->regs, sizeof(f->regs));
	forget_scratch(m);
	m->at = f->back;
	m->steps = f->steps;
	return true;
}

static bool go_back(struct machine *m)
{
	struct bytes back = pop(m);
	uint64_t to, sp;
	struct frame *f;

	if (!m->n_frames) {
		m->returned = true;
		return false;
	}
	f = &m->frames[m->n_frames - 1];
	if (!number(&back, 8, &to) || to != f->back || !number(&m->regs[CODE_REG_SP], 8, &sp) ||
	    sp != f->sp)
		return give_up(m);
	m->at = to;
	m->steps = f->steps;
	m->n_frames--;
	return true;
}

static bool decode(struct machine *m)
{
	uint64_t addr = m->at;
	size_t len;
	const uint8_t *bytes = elf_image__code(m->img, addr, &len);

	return bytes && cs_disasm_iter(m->cs, &bytes, &len, &addr, m->insn);
}

/* False: the run is over. */
static bool step(struct machine *m)
{
	if (!m->total)
		return false;
	m->total--;
	if (!m->steps || !decode(m))
		return give_up(m);
	m->steps--;
	m->at += m->insn->size;
	switch (m->insn->id) {
	case X86_INS_RET:
		return go_back(m);
	case X86_INS_UD2:
	case X86_INS_INT3:
	case X86_INS_HLT:
		return give_up(m);
	case X86_INS_CALL:
		call(m);
		return true;
	case X86_INS_JMP:
		return target_of(m, &m->at) || give_up(m);
	}
	if (cs_insn_group(m->cs, m->insn, CS_GRP_JUMP)) {
		if (decide(m) > 0)
			m->at = (uint64_t)m->insn->detail->x86.operands[0].imm;
		if (asks_rcx(m))
			m->regs[WIRE_REG_CX] = unknown;
	} else if (!move(m)) {
		calculate(m);
	}
	return true;
}

static int area__init(struct area *a, uint64_t addr, size_t size)
{
	a->addr = addr;
	a->size = size;
	a->b = calloc(2, size);
	a->known = a->b ? a->b + size : NULL;
	return a->b ? 0 : -ENOMEM;
}

static int run(struct machine *m, uint64_t entry, uint64_t argument)
{
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &m->cs) != CS_ERR_OK)
		return -ENOMEM;
	cs_option(m->cs, CS_OPT_DETAIL, CS_OPT_ON);
	m->insn = cs_malloc(m->cs);
	if (!m->insn) {
		cs_close(&m->cs);
		return -ENOMEM;
	}
	m->regs[WIRE_REG_DI] = constant(RESULT_AT);
	for (size_t i = 1; i < CODE_ARGUMENTS; i++)
		m->regs[code_arguments[i]] = constant(argument);
	m->regs[CODE_REG_SP] = constant(STACK_AT + STACK_SIZE - STACK_ABOVE - 8);
	m->at = entry;
	m->steps = m->total = STEPS_MAX;
	while (step(m))
		;
	cs_free(m->insn, 1);
	cs_close(&m->cs);
	return m->returned ? 0 : -ENOTSUP;
}

int straight__run(const struct elf_image *img, uint64_t entry, uint64_t argument,
		  struct straight **out)
{
	_straight_ struct straight *s = calloc(1, sizeof(*s));
	_free_ struct machine *m = calloc(1, sizeof(*m));
	int err;

	if (!s || !m || area__init(&s->result, RESULT_AT, STRAIGHT_RESULT))
		return -ENOMEM;
	m->img = img;
	m->areas[0] = s->result;
	err = area__init(&m->areas[1], STACK_AT, STACK_SIZE) ?: run(m, entry, argument);
	free(m->areas[1].b);
	if (!err)
		*out = take_ptr(s);
	return err;
}

bool straight__bytes(const struct straight *s, uint32_t at, void *to, uint32_t n)
{
	const struct area *a = &s->result;

	if (at > a->size || n > a->size - at)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!a->known[at + i])
			return false;
	memcpy(to, a->b + at, n);
	return true;
}

bool straight__word(const struct straight *s, uint32_t at, uint64_t *value)
{
	return straight__bytes(s, at, value, sizeof(*value));
}

void straight__free(struct straight *s)
{
	if (!s)
		return;
	free(s->result.b);
	free(s);
}
