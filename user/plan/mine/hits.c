// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/hits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/diag.h"
#include "plan/code/decode.h"
#include "plan/code/opcode.h"
#include "plan/code/scan.h"
#include "plan/recover/recover.h"
#include "plan/symbols/names.h"

/* test $imm32,%eax, and of any other 32-bit register; with OP_SIZE before it imm16. */
#define OP_TEST_AX 0xa9
#define OP_TEST	   0xf7
#define OP_SIZE	   0x66
/* Instructions between a test and its branch, and on the cold side up to the call. */
#define MAX_TO_BRANCH 4
#define MAX_TO_CALL   24
/* A call this close behind a branch's target shows which bits are tested. */
#define NEAR_CALL   48
#define MAX_FILTERS 32
/* Bytes: more than any frame or struct has. */
#define DISP_MAX 262136

struct call {
	uint64_t addr;
	bool seen; /* a site leads to it */
};

struct finder {
	struct elf_image *img;
	struct code_decoder *decoder;
	uint64_t cold;	    /* the cold side, or 0 */
	struct call *calls; /* by address */
	uint32_t n_calls, calls_capacity;
	struct {
		uint32_t bits;
		uint32_t n;
	} votes[MAX_FILTERS];
	struct plan_hits *out;
	uint32_t capacity; /* of its items */
};

static int find_cold(struct finder *f)
{
	const struct elf_symbol *syms;
	size_t n;
	int err = elf_image__symbols(f->img, &syms, &n);

	for (size_t i = 0; !err && i < n && !f->cold; i++) {
		struct name_info info;

		name_classify(syms[i].name, &info);
		if (info.kind == NAME_COLD_HIT && info.part == NAME_PART_ENTRY)
			f->cold = syms[i].addr;
	}
	return err;
}

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct finder *f = arg;
	struct call call = {.addr = addr};

	(void)to;
	return array__add(&f->calls, &f->n_calls, &f->calls_capacity, &call);
}

/* The first call at or behind `addr`, or NULL. */
static struct call *call_from(const struct finder *f, uint64_t addr)
{
	size_t first = bisect(f->n_calls, i, f->calls[i].addr < addr);

	return first < f->n_calls ? &f->calls[first] : NULL;
}

/* The bits that the instruction at `i` tests, and its size; 0 if it is no such test. */
static uint32_t tested_bits(const struct code_span *c, size_t i, size_t *size)
{
	const uint8_t *p = c->bytes + i;
	size_t op = p[0] == OP_TEST_AX ? 1 : p[0] == OP_TEST ? 2 : 0;
	bool word = i && p[-1] == OP_SIZE;

	*size = op + (word ? 2 : 4);
	if (!op || i + op + 4 > c->len || (op == 2 && (p[1] & 0xf8) != 0xc0))
		return 0;
	return opcode_u32(p + op) & (word ? 0xffff : 0xffffffff);
}

static void vote(struct finder *f, uint32_t bits)
{
	size_t i = 0;

	while (i < MAX_FILTERS && f->votes[i].n && f->votes[i].bits != bits)
		i++;
	if (i == MAX_FILTERS)
		return;
	f->votes[i].bits = bits;
	f->votes[i].n++;
}

/* Takes the bits from the most common form: a near jne right behind the test. */
static int note_bits(void *arg, const struct code_span *c)
{
	struct finder *f = arg;

	for (size_t i = 0; i + OPCODE_CALL_SIZE < c->len; i++) {
		size_t size, jump;
		uint32_t bits = tested_bits(c, i, &size);
		const struct call *call;
		uint64_t target;

		jump = i + size;
		if (!bits || jump + 6 > c->len || c->bytes[jump] != OPCODE_TWO_BYTES ||
		    c->bytes[jump + 1] != OPCODE_JNE)
			continue;
		target = opcode_target(c->bytes + jump + 2, c->addr + jump + 6);
		call = call_from(f, target);
		if (call && call->addr - target < NEAR_CALL)
			vote(f, bits);
	}
	return 0;
}

/* The path from a branch to the call: its instructions, and sp before each, from the site's. */
struct way {
	struct code_insn insns[MAX_TO_CALL];
	int64_t sp[MAX_TO_CALL];
	size_t n;
};

/* Follow `addr` up to the call of the cold side; its address, or 0. */
static uint64_t follow(struct finder *f, uint64_t addr, struct way *way)
{
	int64_t sp = 0;

	for (way->n = 0; way->n < MAX_TO_CALL;) {
		struct code_insn *insn = &way->insns[way->n];

		if (!code_decoder__at(f->decoder, addr, insn))
			return 0;
		if ((insn->flow == CODE_CALL || insn->flow == CODE_JMP) && insn->target == f->cold)
			return insn->addr;
		if (insn->flow != CODE_JMP && insn->flow != CODE_FALLS)
			return 0;
		addr = insn->flow == CODE_JMP ? insn->target : addr + insn->size;
		if (insn->writes & 1u << CODE_REG_SP && !insn->sp_adjust)
			return 0;
		way->sp[way->n++] = sp;
		sp += insn->sp_adjust;
	}
	return 0;
}

/*
 * The location of a value: in a register, or else in memory this many bytes above the value that
 * another register holds at the site.
 */
struct value_place {
	uint8_t reg;  /* or WIRE_REG_NONE, and: */
	uint8_t base; /* or CODE_REG_SP */
	int64_t disp;
};

/* Find the source of the value that `insn` loads into the register; false if it is unknown. */
static bool before_write(const struct code_insn *insn, int64_t sp, struct value_place *v)
{
	bool load = insn->shape == CODE_LOAD32 || insn->shape == CODE_LOAD64;
	bool move = insn->shape == CODE_MOVE32 || insn->shape == CODE_MOVE64;

	if (insn->reg != v->reg)
		return false;
	if (move && insn->base < CODE_REG_SP) {
		v->reg = insn->base;
		return true;
	}
	if (!load || insn->base > CODE_REG_SP)
		return false;
	*v = (struct value_place){WIRE_REG_NONE, insn->base, insn->disp};
	if (insn->base == CODE_REG_SP)
		v->disp += sp;
	return true;
}

/*
 * The same for a store, which may write the slot. If it may write other memory, the value is
 * unknown.
 */
static bool before_store(const struct code_insn *insn, int64_t sp, struct value_place *v)
{
	bool whole = insn->shape == CODE_STORE32 || insn->shape == CODE_STORE64;
	int64_t at = insn->disp + sp;

	if (insn->base != CODE_REG_SP || v->base != CODE_REG_SP)
		return false;
	if (at >= v->disp + 4 || at + insn->stores <= v->disp)
		return true;
	if (!whole || at != v->disp || insn->reg >= CODE_REG_SP)
		return false;
	v->reg = insn->reg;
	return true;
}

/* Where the invocation id is at the site. */
static bool trace_back(const struct way *way, struct value_place *v)
{
	*v = (struct value_place){.reg = WIRE_REG_SI};
	for (size_t i = way->n; i-- > 0;) {
		const struct code_insn *insn = &way->insns[i];
		bool known;

		if (v->reg != WIRE_REG_NONE)
			known = !(insn->writes & 1u << v->reg) || before_write(insn, way->sp[i], v);
		else if (insn->stores)
			known = before_store(insn, way->sp[i], v);
		else
			known = v->base == CODE_REG_SP || !(insn->writes & 1u << v->base);
		if (!known)
			return false;
	}
	return v->reg != WIRE_REG_NONE || (v->disp >= 0 && v->disp % 4 == 0 && v->disp <= DISP_MAX);
}

/* The branch that depends on the test which ends at `addr`, into `*jump`. */
static bool find_branch(struct finder *f, uint64_t addr, struct code_insn *jump)
{
	for (int i = 0; i <= MAX_TO_BRANCH; i++) {
		if (!code_decoder__at(f->decoder, addr, jump))
			return false;
		if (jump->flow == CODE_JCC)
			return jump->emulated;
		if (jump->flow != CODE_FALLS || jump->sets_flags)
			return false;
		addr += jump->size;
	}
	return false;
}

/* The target of the branch if a bit is set; 0 if the branch is neither jne nor je. */
static uint64_t cold_way(const struct finder *f, const struct code_insn *jump)
{
	size_t len;
	const uint8_t *op = elf_image__code(f->img, jump->addr, &len);
	uint8_t code = op && len ? op[0] : 0;

	if (code == OPCODE_TWO_BYTES)
		code = len > 1 ? op[1] : 0;
	if (code == OPCODE_JNE || code == OPCODE_JNE_SHORT)
		return jump->target;
	return code == OPCODE_JE || code == OPCODE_JE_SHORT ? jump->addr + jump->size : 0;
}

/* Every test of these bits whose branch leads to the cold side. */
static int note_hits(void *arg, const struct code_span *c)
{
	struct finder *f = arg;
	struct plan_hits *out = f->out;

	for (size_t i = 0; i + OPCODE_CALL_SIZE < c->len; i++) {
		struct code_insn jump;
		struct value_place v;
		struct plan_hit hit;
		struct way way;
		struct call *call;
		uint64_t at;
		size_t size;

		if (tested_bits(c, i, &size) != out->filter ||
		    !find_branch(f, c->addr + i + size, &jump))
			continue;
		at = follow(f, cold_way(f, &jump), &way);
		call = at ? call_from(f, at) : NULL;
		if (!call || call->addr != at || !trace_back(&way, &v))
			continue;
		call->seen = true;
		if (v.reg != WIRE_REG_NONE || v.base == CODE_REG_SP)
			v.base = WIRE_REG_NONE;
		hit = (struct plan_hit){
			.addr = jump.addr,
			.reg = v.reg,
			.base = v.base,
			.disp = (uint32_t)v.disp,
		};
		if (elf_image__offset(f->img, hit.addr, &hit.offset) &&
		    array__add(&out->items, &out->n, &f->capacity, &hit))
			return -ENOMEM;
	}
	return 0;
}

static int find(struct finder *f, struct library_file *file, struct debug_file *debug)
{
	_query_numbers_ struct query_numbers numbers = {0};
	struct plan_hits *out = f->out;
	enum symbol_source source;
	const char *problem;
	size_t best = 0;
	uint32_t n = 0;
	int err = recover__map(file, debug, &f->img, &source, &numbers, &problem)
			  ?: code_decoder__new(f->img, &f->decoder)
			  ?: find_cold(f);

	if (err || !f->cold)
		return err;
	err = code_scan__calls(f->img, (struct code_range){f->cold, f->cold}, note_call, f)
		      ?: code_scan__spans(f->img, note_bits, f);
	if (err)
		return err;
	for (size_t i = 1; i < MAX_FILTERS; i++)
		if (f->votes[i].n > f->votes[best].n)
			best = i;
	out->filter = f->votes[best].bits;
	if (out->filter)
		err = code_scan__spans(f->img, note_hits, f);

	/* Two tests may share a branch. */
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), array__by_u64);
	for (uint32_t i = 0; i < out->n; i++)
		if (!n || out->items[i].addr != out->items[n - 1].addr)
			out->items[n++] = out->items[i];
	out->n = n;
	out->n_calls = f->n_calls;
	for (size_t i = 0; i < f->n_calls; i++)
		out->n_missed += !f->calls[i].seen;
	return err;
}

int plan_hits__find(struct library_file *file, struct debug_file *debug, struct plan_hits **out)
{
	const char *path = library_file__path(file);
	_plan_hits_ struct plan_hits *hits = calloc(1, sizeof(*hits));
	struct finder f = {.out = hits};
	int err = hits ? find(&f, file, debug) : -ENOMEM;

	code_decoder__free(f.decoder);
	elf_image__free(f.img);
	free(f.calls);
	if (!err)
		*out = take_ptr(hits);
	else if (err == -ENOMEM)
		diag_error("cannot look for cache hits in %s: out of memory", path);
	else if (err == -ENODATA)
		diag_error("%s is stripped: its cache hits cannot be found", path);
	return err;
}

void plan_hits__free(struct plan_hits *hits)
{
	if (!hits)
		return;
	free(hits->items);
	free(hits);
}
