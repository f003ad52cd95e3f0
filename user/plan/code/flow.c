// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_BLOCK UINT32_MAX

struct fixpoint {
	const struct walk *walk;
	const struct fixpoint_domain *domain;
	const void *arg;
	uint32_t *block_of; /* per instruction: NO_BLOCK unless it starts one */
	size_t *first;	    /* per block: its first instruction */
	bool *needed;	    /* per block: a state is needed in it, or in a later one */
	char *states;	    /* per block, if that is reached; and room for one more, and another */
	bool *reached;
	bool *queued;
	uint32_t *switches; /* blocks that end in a switch, and wait to be followed */
	bool *waits;
	uint32_t n_blocks, n_queued, n_switches;
};

static void *state_of(const struct fixpoint *f, uint32_t block)
{
	return f->states + block * f->domain->size;
}

void fixpoint__reach(struct fixpoint *f, size_t i, const void *state)
{
	uint32_t block = i == SIZE_MAX ? NO_BLOCK : f->block_of[i];

	if (block == NO_BLOCK || !f->needed[block])
		return;
	if (!f->reached[block])
		memcpy(state_of(f, block), state, f->domain->size);
	else if (!f->domain->join(f->arg, state_of(f, block), state))
		return;
	f->reached[block] = true;
	f->n_queued += !f->queued[block];
	f->queued[block] = true;
}

static void reach_table(struct fixpoint *f, size_t i, const void *state)
{
	uint64_t targets[WALK_TABLE_MAX];
	size_t n = walk__table(f->walk, i, targets);
	void *bare = state_of(f, f->n_blocks + 1);

	for (size_t k = 0; k < n; k++)
		fixpoint__reach(f, code__index(f->walk->code, targets[k]), state);
	if (n || !f->domain->forget)
		return;
	f->domain->forget(state, bare);
	for (uint32_t b = 0; b < f->n_blocks; b++)
		if (!walk__ways_to(f->walk, f->first[b]))
			fixpoint__reach(f, f->first[b], bare);
}

static void run_block(struct fixpoint *f, uint32_t block, bool tables)
{
	const struct code *code = f->walk->code;
	size_t last = (block + 1 < f->n_blocks ? f->first[block + 1] : code->n) - 1;
	const struct code_insn *end = &code->insns[last];
	void *s = state_of(f, f->n_blocks);
	bool is_switch;

	memcpy(s, state_of(f, block), f->domain->size);
	for (size_t i = f->first[block]; i <= last; i++)
		f->domain->apply(f->arg, s, &code->insns[i]);
	is_switch =
		end->flow == CODE_JMP_INDIRECT && !(f->domain->is_left && f->domain->is_left(s));
	if (is_switch && tables)
		reach_table(f, last, s);
	else if (is_switch && !f->waits[block])
		f->switches[f->n_switches++] = block;
	f->waits[block] = is_switch && !tables;
	if (is_switch)
		return;
	if (f->walk->to[last] != WALK_NOWHERE)
		fixpoint__reach(f, f->walk->to[last], s);
	if (code_insn__goes_on(end))
		fixpoint__reach(f, code__after(code, last), s);
}

/*
 * Run the blocks again and again in the order of addresses, which is usually the order of
 * execution: in any other order, most blocks would be run again for each new fact about earlier
 * ones.
 */
void fixpoint__run(struct fixpoint *f)
{
	for (uint32_t block = 0; f->n_queued || f->n_switches; block++) {
		const bool *next;

		if (!f->n_queued)
			run_block(f, f->switches[--f->n_switches], true);
		next = block < f->n_blocks ? memchr(f->queued + block, true, f->n_blocks - block)
					   : NULL;
		if (!next) {
			block = UINT32_MAX;
			continue;
		}
		block = (uint32_t)(next - f->queued);
		f->queued[block] = false;
		f->n_queued--;
		run_block(f, block, false);
	}
}

/*
 * A block starts at the target of a jump, and after an instruction that does not just fall through.
 */
static int find_blocks(struct fixpoint *f, uint64_t entry)
{
	const struct code *code = f->walk->code;
	uint64_t targets[WALK_TABLE_MAX];

	f->block_of = calloc(code->n + 1, sizeof(*f->block_of));
	f->first = calloc(code->n + 1, sizeof(*f->first));
	if (!f->block_of || !f->first)
		return -ENOMEM;
	for (size_t i = 0; i < code->n; i++) {
		const struct code_insn *insn = &code->insns[i];
		size_t n = insn->flow == CODE_JMP_INDIRECT ? walk__table(f->walk, i, targets) : 0;

		f->block_of[i] |= f->domain->each || i == 0 || insn->addr == entry ||
				  code->insns[i - 1].flow ||
				  code->insns[i - 1].addr + code->insns[i - 1].size != insn->addr ||
				  walk__is_branched_to(f->walk, i);
		for (size_t k = 0; k < n; k++)
			f->block_of[code__index(code, targets[k])] = 1;
	}
	for (size_t i = 0; i < code->n; i++) {
		if (f->block_of[i])
			f->first[f->n_blocks] = i;
		f->block_of[i] = f->block_of[i] ? f->n_blocks++ : NO_BLOCK;
	}
	return 0;
}

static uint32_t block_around(const struct fixpoint *f, size_t i)
{
	while (f->block_of[i] == NO_BLOCK)
		i--;
	return f->block_of[i];
}

static void need(struct fixpoint *f, uint32_t block, uint32_t *work, uint32_t *n_work)
{
	if (f->needed[block])
		return;
	f->needed[block] = true;
	work[(*n_work)++] = block;
}

/*
 * Mark the blocks from which a path leads to a needed state. The table of a switch is not read
 * here: a switch is taken to lead to every needed block.
 */
static int find_needed(struct fixpoint *f, bool (*asks)(const void *, size_t), const void *arg)
{
	const struct code *code = f->walk->code;
	_free_ uint32_t *work = calloc(f->n_blocks + 1, sizeof(*work));
	uint32_t n_work = 0, block = 0;

	f->needed = calloc(f->n_blocks + 1, sizeof(*f->needed));
	if (!work || !f->needed)
		return -ENOMEM;
	for (size_t i = 0; i < code->n; i++) {
		block = f->block_of[i] == NO_BLOCK ? block : f->block_of[i];
		if (!asks || code->insns[i].flow == CODE_JMP_INDIRECT || asks(arg, i))
			need(f, block, work, &n_work);
	}
	while (n_work) {
		size_t first = f->first[work[--n_work]], n = walk__ways_to(f->walk, first);

		for (size_t k = 0; k < n; k++)
			need(f, block_around(f, walk__way_to(f->walk, first, k)), work, &n_work);
	}
	return 0;
}

int fixpoint__new(const struct walk *w, uint64_t entry, const struct fixpoint_domain *domain,
		  const void *arg, bool (*asks)(const void *, size_t), const void *asked,
		  struct fixpoint **out)
{
	_fixpoint_ struct fixpoint *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->walk = w;
	f->domain = domain;
	f->arg = arg;
	err = find_blocks(f, entry) ?: find_needed(f, asks, asked);
	if (err)
		return err;
	f->states = reallocarray(NULL, f->n_blocks + 2UL, domain->size);
	f->reached = calloc(f->n_blocks + 1, sizeof(*f->reached));
	f->queued = calloc(f->n_blocks + 1, sizeof(*f->queued));
	f->switches = calloc(f->n_blocks + 1, sizeof(*f->switches));
	f->waits = calloc(f->n_blocks + 1, sizeof(*f->waits));
	if (!f->states || !f->reached || !f->queued || !f->switches || !f->waits)
		return -ENOMEM;
	*out = take_ptr(f);
	return 0;
}

void fixpoint__free(struct fixpoint *f)
{
	if (!f)
		return;
	free(f->block_of);
	free(f->first);
	free(f->needed);
	free(f->states);
	free(f->reached);
	free(f->queued);
	free(f->switches);
	free(f->waits);
	free(f);
}

const void *fixpoint__state(const struct fixpoint *f, size_t i)
{
	uint32_t block = block_around(f, i);

	return f->reached[block] ? state_of(f, block) : NULL;
}

bool fixpoint__at(const struct fixpoint *f, size_t i, void *out)
{
	uint32_t block = block_around(f, i);

	if (!f->reached[block])
		return false;
	memcpy(out, state_of(f, block), f->domain->size);
	for (size_t k = f->first[block]; k < i; k++)
		f->domain->apply(f->arg, out, &f->walk->code->insns[k]);
	return true;
}

/* ---- Contents of registers and slots -----------------------------------------------------------
 */

/*
 * Where paths join, values on which they disagree become unknown.
 *
 * A store through an unknown pointer is taken to leave the slots alone: no pointer to rustc's
 * spilled registers exists.
 */

/* Above sp at the entry: behind the return address. */
#define ARGUMENTS 8

static bool same_value(struct flow_value a, struct flow_value b)
{
	return a.kind == b.kind && (!a.kind || a.value == b.value);
}

const struct flow_slot *flow_state__slot(const struct flow_state *s, int64_t at)
{
	for (uint32_t i = s->n_slots; i-- > 0;)
		if (s->slots[i].at == at)
			return &s->slots[i];
	return NULL;
}

static void forget_slots(struct flow_state *s, int64_t at, int64_t size)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].at + 8 <= at || s->slots[i].at >= at + size)
			s->slots[n++] = s->slots[i];
	s->n_slots = n;
}

/* The oldest slot with a value of this kind; FLOW_SLOTS if there is none. */
static uint32_t oldest_of(const struct flow_state *s, uint8_t kind)
{
	uint32_t i = 0;

	while (i < FLOW_SLOTS && s->slots[i].value.kind != kind)
		i++;
	return i;
}

/* If there is no room, the oldest slot with an unknown value is dropped, or a field, or another. */
static void write_slot(struct flow_state *s, int64_t at, struct flow_value v)
{
	if (s->n_slots == FLOW_SLOTS) {
		uint32_t out = oldest_of(s, FLOW_UNKNOWN);

		out = out < FLOW_SLOTS ? out : oldest_of(s, FLOW_FIELD);
		out = out < FLOW_SLOTS ? out : 0;
		memmove(s->slots + out, s->slots + out + 1,
			(FLOW_SLOTS - 1 - out) * sizeof(*s->slots));
		s->n_slots--;
	}
	s->slots[s->n_slots++] = (struct flow_slot){at, v};
}

/* The address base+disp, if that is on the stack. */
static bool stack_address(const struct flow_state *s, const struct code_insn *insn, int64_t *at)
{
	if (insn->base == CODE_REG_SP && s->has_sp) {
		*at = s->sp + insn->disp;
		return true;
	}
	if (insn->base >= CODE_REG_SP || s->regs[insn->base].kind != FLOW_STACK)
		return false;
	*at = s->regs[insn->base].value + insn->disp;
	return true;
}

static struct flow_value value_of(const struct flow_state *s, const struct code_insn *insn)
{
	const struct flow_slot *slot;
	int64_t at;

	switch (insn->shape) {
	case CODE_LEA_RIP:
		return (struct flow_value){FLOW_CONST, (int64_t)insn->target};
	case CODE_SET:
	case CODE_STORE_IMM:
		return (struct flow_value){FLOW_CONST, insn->imm};
	case CODE_LEA:
		if (stack_address(s, insn, &at))
			return (struct flow_value){FLOW_STACK, at};
		break;
	case CODE_LOAD64:
		if (insn->base < CODE_REG_SP && s->regs[insn->base].kind == FLOW_ENTRY)
			return flow_field((uint8_t)s->regs[insn->base].value, insn->disp);
		if (!stack_address(s, insn, &at))
			break;
		slot = flow_state__slot(s, at);
		if (slot)
			return slot->value;
		if (at >= ARGUMENTS && !s->spoiled)
			return (struct flow_value){FLOW_ARGUMENT, at};
		break;
	case CODE_MOVE64:
		if (insn->base < CODE_REG_SP)
			return s->regs[insn->base];
		if (insn->base == CODE_REG_SP && s->has_sp)
			return (struct flow_value){FLOW_STACK, s->sp};
		break;
	case CODE_STORE64:
		if (insn->reg < CODE_REG_SP)
			return s->regs[insn->reg];
		break;
	default:
		break;
	}
	return (struct flow_value){0};
}

/* After `and $-32, %rsp` slots are known from the new sp only. */
static void move_sp(struct flow_state *s, const struct code_insn *insn)
{
	s->sp += insn->sp_adjust;
	if (insn->sp_adjust < 0)
		forget_slots(s, s->sp, -insn->sp_adjust);
	if (insn->sp_adjust)
		return;
	s->has_sp = insn->shape == CODE_OTHER;
	s->spoiled = true;
	s->n_slots = 0;
	for (int r = 0; r < CODE_REG_SP; r++)
		if (s->regs[r].kind == FLOW_STACK)
			s->regs[r].kind = FLOW_UNKNOWN;
}

void flow_state__apply(struct flow_state *s, const struct code_insn *insn)
{
	struct flow_value v = value_of(s, insn);
	bool stores = insn->stores && insn->shape != CODE_LOAD64;
	int64_t at;

	if (stores && stack_address(s, insn, &at)) {
		forget_slots(s, at, insn->stores);
		s->spoiled = s->spoiled || at + insn->stores > ARGUMENTS;
		if (insn->shape != CODE_STORE64 && insn->shape != CODE_STORE_IMM)
			v.kind = FLOW_UNKNOWN;
		for (int64_t k = 0; k + 8 <= insn->stores; k += 8)
			write_slot(s, at + k, v);
	}
	for (uint32_t left = insn->writes & CODE_REGS; left; left &= left - 1)
		s->regs[__builtin_ctz(left)].kind = FLOW_UNKNOWN;
	if (insn->writes & 1u << CODE_REG_SP)
		move_sp(s, insn);
	/* A push of an argument, not of a register that is to be preserved. */
	if (insn->shape == CODE_PUSH && insn->reg < CODE_REG_SP && s->has_sp &&
	    s->regs[insn->reg].kind && s->regs[insn->reg].kind != FLOW_ENTRY)
		write_slot(s, s->sp, s->regs[insn->reg]);
	if (insn->reg < CODE_REG_SP && (insn->writes & 1u << insn->reg))
		s->regs[insn->reg] = v;
}

static bool join(const void *arg, void *a, const void *b)
{
	struct flow_state *to = a;
	const struct flow_state *from = b;
	bool changed = false;
	uint32_t n = 0;

	(void)arg;
	if (to->has_sp != from->has_sp || to->sp != from->sp)
		return false;
	for (int r = 0; r < CODE_REG_SP; r++) {
		if (same_value(to->regs[r], from->regs[r]))
			continue;
		changed = changed || to->regs[r].kind;
		to->regs[r].kind = FLOW_UNKNOWN;
	}
	for (uint32_t i = 0; i < to->n_slots; i++) {
		struct flow_slot mine = to->slots[i];
		const struct flow_slot *slot = &from->slots[i];

		/* Slots are usually written in the same order. */
		if (i >= from->n_slots || slot->at != mine.at)
			slot = flow_state__slot(from, mine.at);
		if (!slot)
			continue;
		if (!same_value(mine.value, slot->value)) {
			changed = changed || mine.value.kind;
			mine.value.kind = FLOW_UNKNOWN;
		}
		to->slots[n++] = mine;
	}
	changed = changed || n != to->n_slots || (from->spoiled && !to->spoiled);
	to->n_slots = n;
	to->spoiled = to->spoiled || from->spoiled;
	return changed;
}

void flow_state__enter(struct flow_state *s)
{
	*s = (struct flow_state){.reached = true, .has_sp = true};
	for (uint8_t r = 0; r < CODE_REG_SP; r++)
		s->regs[r] = (struct flow_value){FLOW_ENTRY, r};
}

static void apply(const void *arg, void *state, const struct code_insn *insn)
{
	(void)arg;
	flow_state__apply(state, insn);
}

/* A jump at which sp has its value of the entry is a tail call, not a switch. */
static bool is_left(const void *state)
{
	const struct flow_state *s = state;

	return s->has_sp && !s->sp;
}

static void forget(const void *state, void *out)
{
	const struct flow_state *s = state;

	*(struct flow_state *)out =
		(struct flow_state){.reached = true, .has_sp = s->has_sp, .sp = s->sp};
}

static const struct fixpoint_domain contents = {
	.size = sizeof(struct flow_state),
	.apply = apply,
	.join = join,
	.is_left = is_left,
	.forget = forget,
};

int flow__new(const struct walk *w, uint64_t entry, bool (*asks)(const void *, size_t),
	      const void *arg, struct fixpoint **out)
{
	struct flow_state start;
	struct fixpoint *f;
	int err = fixpoint__new(w, entry, &contents, NULL, asks, arg, &f);

	if (err)
		return err;
	flow_state__enter(&start);
	fixpoint__reach(f, code__index(w->code, entry), &start);
	fixpoint__run(f);
	*out = f;
	return 0;
}

void flow__at(const struct fixpoint *f, size_t i, struct flow_state *out)
{
	if (!fixpoint__at(f, i, out))
		*out = (struct flow_state){.reached = false};
}
