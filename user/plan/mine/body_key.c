// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A domain of plan/code/flow.h. There are only a few bodies, so every instruction has a state of
 * its own.
 *
 * A function that gets an address on the stack may write to all that lies there and above. Two
 * kinds of memory are safe from that:
 *
 * - a spilled register, to which no pointer exists: nothing but the key is ever stored there, it is
 *   loaded from there, and its address is not taken;
 * - a variable whose own address is taken somewhere, from pointers to what lies below it. (LLVM
 *   gives variables that live at different times the same memory, but then the same address, too.)
 *
 * Which memory that is follows from a first run, in which nothing is safe.
 */
#include "plan/mine/body_key.h"

#include <string.h>

#include "plan/code/flow.h"

#define SLOTS_MAX 24

enum part {
	PART_NONE,
	PART_KEY,   /* the key, or a DefId's index */
	PART_CRATE, /* a DefId's */
	PART_STACK, /* registers only: an address on the stack */
};

struct slot {
	int32_t at; /* bytes above sp at the entry */
	uint8_t part;
	bool spilled;  /* a spilled register */
	bool variable; /* one whose address is taken */
};

struct state {
	uint8_t regs[CODE_REG_SP];    /* enum part */
	int32_t address[CODE_REG_SP]; /* of PART_STACK: bytes above sp at the entry */
	struct slot slots[SLOTS_MAX];
	uint32_t n_slots;
	int32_t sp; /* bytes above its value at the entry */
	bool has_sp;
};

struct finder {
	const struct walk *walk;
	const struct mine_key *key;
	const struct fixpoint *before; /* the states of the first run, or NULL in it */
};

static int32_t key_size(const struct finder *f)
{
	return f->key->pointer ? 8 : 4;
}

/* Forget the slots that overlap [from, to). */
static void forget(const struct finder *f, struct state *s, int64_t from, int64_t to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].at + key_size(f) <= from || s->slots[i].at >= to)
			s->slots[n++] = s->slots[i];
	s->n_slots = n;
}

/* The address of base+disp on the stack; false if it is elsewhere or unknown. */
static bool stack_address(const struct state *s, const struct code_insn *insn, int64_t *at)
{
	if (insn->base == CODE_REG_SP && s->has_sp) {
		*at = s->sp + insn->disp;
		return true;
	}
	if (insn->base >= CODE_REG_SP || s->regs[insn->base] != PART_STACK)
		return false;
	*at = s->address[insn->base] + insn->disp;
	return true;
}

static uint8_t part_at(const struct state *s, int64_t at)
{
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].at == at)
			return s->slots[i].part;
	return PART_NONE;
}

/* The value that `insn` puts into its register. */
static uint8_t value_of(const struct finder *f, const struct state *s, const struct code_insn *insn,
			int64_t *address)
{
	bool narrow = insn->shape == CODE_MOVE32 || insn->shape == CODE_LOAD32;
	uint8_t part = PART_NONE;
	int64_t at;

	switch (insn->shape) {
	case CODE_MOVE32:
	case CODE_MOVE64:
		if (insn->base < CODE_REG_SP) {
			part = s->regs[insn->base];
			*address = s->address[insn->base];
		} else if (insn->base == CODE_REG_SP && s->has_sp) {
			part = PART_STACK;
			*address = s->sp;
		}
		break;
	case CODE_LOAD32:
	case CODE_LOAD64:
		if (stack_address(s, insn, &at))
			part = part_at(s, at);
		break;
	case CODE_LEA:
		if (stack_address(s, insn, address))
			part = PART_STACK;
		break;
	default:
		break;
	}
	return narrow && (f->key->pointer || part == PART_STACK) ? PART_NONE : part;
}

static bool stores_memory(const struct code_insn *insn)
{
	return insn->stores && insn->shape != CODE_LOAD32 && insn->shape != CODE_LOAD64;
}

/* The part of a key that an instruction stores whole, or PART_NONE. */
static uint8_t stored_part(const struct finder *f, const struct state *s,
			   const struct code_insn *insn)
{
	bool wide = insn->shape == CODE_STORE64;
	uint8_t part;

	if ((!wide && insn->shape != CODE_STORE32) || insn->reg >= CODE_REG_SP ||
	    (f->key->pointer && !wide))
		return PART_NONE;
	part = s->regs[insn->reg];
	return part == PART_STACK ? PART_NONE : part;
}

/*
 * True if the function uses the memory at `at` for a spilled register only: all stores there are of
 * `part`, some load is from there, and no address in it is taken.
 */
static bool is_spilled(const struct finder *f, int64_t at, uint8_t part)
{
	const struct code *code = f->walk->code;
	bool loaded = false;

	for (size_t i = 0; i < code->n; i++) {
		const struct code_insn *insn = &code->insns[i];
		const struct state *s = fixpoint__state(f->before, i);
		int64_t to;

		if (!s || !stack_address(s, insn, &to))
			continue;
		if (insn->shape == CODE_LEA && to >= at && to < at + key_size(f))
			return false;
		loaded = loaded || (to == at && (insn->shape == CODE_LOAD64 ||
						 (insn->shape == CODE_LOAD32 && !f->key->pointer)));
		if (stores_memory(insn) && to < at + key_size(f) && to + insn->stores > at &&
		    (to != at || stored_part(f, s, insn) != part))
			return false;
	}
	return loaded;
}

/*
 * Landing pads, which take addresses to drop variables, are not followed; there sp is as at the
 * calls that unwind to them.
 */
static bool is_variable(const struct finder *f, int64_t at, int32_t sp)
{
	const struct code *code = f->walk->code;

	for (size_t i = 0; i < code->n; i++) {
		const struct code_insn *insn = &code->insns[i];
		const struct state *s;
		int64_t to = sp + insn->disp;

		if (insn->shape != CODE_LEA)
			continue;
		s = fixpoint__state(f->before, i);
		if (s ? !stack_address(s, insn, &to) : insn->base != CODE_REG_SP)
			continue;
		if (to == at)
			return true;
	}
	return false;
}

static void store(const struct finder *f, struct state *s, const struct code_insn *insn)
{
	uint8_t part = stored_part(f, s, insn);
	struct slot slot = {.part = part};
	int64_t at;

	if (!stack_address(s, insn, &at))
		return;
	forget(f, s, at, at + insn->stores);
	if (part == PART_NONE || s->n_slots == SLOTS_MAX)
		return;
	slot.at = (int32_t)at;
	slot.spilled = f->before && is_spilled(f, at, part);
	slot.variable = f->before && is_variable(f, part == PART_CRATE ? at - 4 : at, s->sp);
	s->slots[s->n_slots++] = slot;
}

/* A callee may write to what its arguments point to, and to all that is below sp. */
static void call(const struct finder *f, struct state *s)
{
	for (size_t i = 0; i < CODE_ARGUMENTS; i++) {
		int64_t at = s->address[code_arguments[i]];
		uint32_t n = 0;

		if (s->regs[code_arguments[i]] != PART_STACK)
			continue;
		for (uint32_t k = 0; k < s->n_slots; k++) {
			const struct slot *slot = &s->slots[k];
			int64_t start = slot->at - (slot->part == PART_CRATE ? 4 : 0);

			if (slot->spilled || slot->at + key_size(f) <= at ||
			    (slot->variable && at < start))
				s->slots[n++] = *slot;
		}
		s->n_slots = n;
	}
	forget(f, s, INT32_MIN, s->sp);
}

static void apply(const void *arg, void *state, const struct code_insn *insn)
{
	const struct finder *f = arg;
	struct state *s = state;
	int64_t address = 0;
	uint8_t part = value_of(f, s, insn, &address);

	if (insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT)
		call(f, s);
	else if (stores_memory(insn))
		store(f, s, insn);
	for (uint32_t left = insn->writes & CODE_REGS; left; left &= left - 1)
		s->regs[__builtin_ctz(left)] = PART_NONE;
	if (insn->writes & 1u << CODE_REG_SP) {
		s->sp += insn->sp_adjust;
		forget(f, s, INT32_MIN, s->sp);
		if (insn->sp_adjust < 0)
			forget(f, s, s->sp, (int64_t)s->sp - insn->sp_adjust);
		/* After `and $-32, %rsp` no slot is known. */
		if (!insn->sp_adjust) {
			s->has_sp = false;
			s->n_slots = 0;
			for (int r = 0; r < CODE_REG_SP; r++)
				if (s->regs[r] == PART_STACK)
					s->regs[r] = PART_NONE;
		}
	}
	if (insn->reg < CODE_REG_SP && (insn->writes & 1u << insn->reg)) {
		s->regs[insn->reg] = part;
		s->address[insn->reg] = (int32_t)address;
	}
}

static bool has_slot(const struct state *s, const struct slot *slot)
{
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].at == slot->at && s->slots[i].part == slot->part)
			return true;
	return false;
}

static bool join(const void *arg, void *x, const void *y)
{
	struct state *to = x;
	const struct state *from = y;
	bool changed = false;
	uint32_t n = 0;

	(void)arg;
	if (to->has_sp != from->has_sp || to->sp != from->sp)
		return false;
	for (int r = 0; r < CODE_REG_SP; r++) {
		if (to->regs[r] == PART_NONE ||
		    (to->regs[r] == from->regs[r] &&
		     (to->regs[r] != PART_STACK || to->address[r] == from->address[r])))
			continue;
		to->regs[r] = PART_NONE;
		changed = true;
	}
	for (uint32_t i = 0; i < to->n_slots; i++)
		if (has_slot(from, &to->slots[i]))
			to->slots[n++] = to->slots[i];
	changed = changed || n != to->n_slots;
	to->n_slots = n;
	return changed;
}

static const struct fixpoint_domain places = {
	.size = sizeof(struct state),
	.each = true,
	.apply = apply,
	.join = join,
};

/* Between functions' blocks, and never executed there. */
static bool is_padding(const struct code_insn *insn)
{
	return insn->flow == CODE_FALLS && insn->shape == CODE_OTHER && !insn->writes &&
	       !insn->stores && !insn->sets_flags;
}

static struct mined_key answer(const struct finder *f, const struct state *s)
{
	bool def = f->key->crate != WIRE_REG_NONE;

	for (uint8_t r = 0; r < CODE_REG_SP && !def; r++)
		if (s->regs[r] == PART_KEY)
			return (struct mined_key){r, MINED_NO_KEY};
	for (uint32_t i = 0; i < s->n_slots && s->has_sp; i++) {
		const struct slot *slot = &s->slots[i];

		if (slot->part == PART_KEY && slot->at >= s->sp &&
		    (!def || part_at(s, slot->at + 4) == PART_CRATE))
			return (struct mined_key){WIRE_REG_NONE, slot->at - s->sp};
	}
	return (struct mined_key){WIRE_REG_NONE, MINED_NO_KEY};
}

static int find(const struct finder *f, uint64_t entry, struct fixpoint **out)
{
	const struct walk *w = f->walk;
	struct state start = {.has_sp = true}, bare;
	int err = fixpoint__new(w, entry, &places, f, NULL, NULL, out);

	if (err)
		return err;
	start.regs[f->key->reg] = PART_KEY;
	if (f->key->crate != WIRE_REG_NONE)
		start.regs[f->key->crate] = PART_CRATE;
	fixpoint__reach(*out, code__index(w->code, entry), &start);
	fixpoint__run(*out);

	/*
	 * Code that no path was seen to reach (a switch that could not be read, a landing pad)
	 * knows nothing, and so does what it leads to.
	 */
	for (size_t i = 0; i < w->code->n; i++) {
		if (!fixpoint__at(*out, i, &bare))
			continue;
		memset(bare.regs, PART_NONE, sizeof(bare.regs));
		bare.n_slots = 0;
		for (size_t k = 0; k < walk__ways_to(w, i); k++) {
			size_t from = walk__way_to(w, i, k);

			if (!fixpoint__state(*out, from) && !is_padding(&w->code->insns[from]))
				fixpoint__reach(*out, i, &bare);
		}
	}
	fixpoint__run(*out);
	return 0;
}

int mine_body_key(const struct walk *w, uint64_t entry, const struct mine_key *key,
		  const uint64_t *sites, size_t n, struct mined_key *out)
{
	_fixpoint_ struct fixpoint *first = NULL, *second = NULL;
	struct finder f = {.walk = w, .key = key};
	int err = find(&f, entry, &first);

	f.before = first;
	err = err ?: find(&f, entry, &second);
	for (size_t i = 0; i < n && !err; i++) {
		size_t at = code__index(w->code, sites[i]);
		const struct state *s = at == SIZE_MAX ? NULL : fixpoint__state(second, at);

		out[i] = s ? answer(&f, s) : (struct mined_key){WIRE_REG_NONE, MINED_NO_KEY};
	}
	return err;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* A TyCtxt has its queries' caches and its tables there, and no vtable or result is so large. */
#define CONTEXT_MIN 0x1000
#define CONTEXT_MAX 0x100000

#define BRANCHES_MAX 8
/* Instructions of one straight line. */
#define LINE_MAX 256

/* A line of code that begins at `addr`. */
struct line {
	uint64_t addr;
	struct flow_state state;
};

struct tracer {
	struct code_decoder *decoder;
	struct line branches[BRANCHES_MAX]; /* not followed yet */
	uint32_t n_branches;
	struct mined_arguments found;
};

static bool reads_memory(const struct code_insn *insn)
{
	switch (insn->shape) {
	case CODE_LOAD32:
	case CODE_LOAD64:
	case CODE_LOAD128:
	case CODE_CMP64_ZERO:
	case CODE_TEST_MASK:
	case CODE_CALL_MEM:
	case CODE_JMP_MEM:
		return true;
	default:
		return insn->stores;
	}
}

static void note_use(struct tracer *t, const struct flow_state *s, const struct code_insn *insn)
{
	bool reads = reads_memory(insn), far = insn->disp > CONTEXT_MIN && insn->disp < CONTEXT_MAX;
	struct flow_value v;
	uint16_t bit;

	if ((!reads && insn->shape != CODE_LEA) || insn->base >= CODE_REG_SP)
		return;
	v = s->regs[insn->base];
	bit = (uint16_t)(1u << (v.value & 15));
	/* What was read at the very address that an argument is. */
	if (far && v.kind == FLOW_FIELD && v.value == flow_field((uint8_t)v.value, 0).value)
		t->found.holders |= bit;
	if (v.kind != FLOW_ENTRY)
		return;
	if (reads)
		t->found.pointers |= bit;
	if (far)
		t->found.contexts |= bit;
}

static void trace_line(struct tracer *t, struct line s)
{
	struct code_insn insn;

	for (int i = 0; i < LINE_MAX && code_decoder__at(t->decoder, s.addr, &insn); i++) {
		note_use(t, &s.state, &insn);
		flow_state__apply(&s.state, &insn);
		if (insn.flow == CODE_JCC && t->n_branches < BRANCHES_MAX) {
			t->branches[t->n_branches] = s;
			t->branches[t->n_branches++].addr = insn.target;
		}
		if (insn.flow == CODE_RET || insn.flow == CODE_TRAPS ||
		    insn.flow == CODE_JMP_INDIRECT)
			return;
		s.addr = insn.flow == CODE_JMP ? insn.target : insn.addr + insn.size;
	}
}

struct mined_arguments mine_arguments(struct code_decoder *d, uint64_t entry)
{
	struct tracer t = {.decoder = d};
	struct line s = {.addr = entry};

	flow_state__enter(&s.state);
	trace_line(&t, s);
	for (uint32_t i = 0; i < t.n_branches && !t.found.contexts && !t.found.holders; i++)
		trace_line(&t, t.branches[i]);
	return t.found;
}

bool mine_arguments_kept(struct code_decoder *d, uint64_t entry, uint64_t site, uint16_t regs)
{
	struct code_insn insn;

	for (uint64_t addr = entry; addr != site; addr += insn.size)
		if (addr > site || !code_decoder__at(d, addr, &insn) || insn.flow != CODE_FALLS ||
		    (insn.writes & regs))
			return false;
	return true;
}
