// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/arguments.h"

#include "plan/code/walk.h"

/* A TyCtxt has its queries' caches and its tables there, and no vtable or result is so large. */
#define CONTEXT_MIN 0x1000
#define CONTEXT_MAX 0x100000

#define SLOTS_MAX    16
#define BRANCHES_MAX 8
/* Instructions of one straight line. */
#define LINE_MAX 256

/* The register (enum wire_reg) whose value at the entry is somewhere now, or WIRE_REG_NONE. */
struct state {
	uint64_t addr;
	uint8_t regs[CODE_REG_SP];
	uint8_t from[CODE_REG_SP]; /* likewise of a value that is not, but was read at its address
				    */
	struct {
		int64_t at; /* bytes above sp at the entry */
		uint8_t reg;
	} slots[SLOTS_MAX];
	uint32_t n_slots;
	int64_t sp; /* bytes above its value at the entry */
};

struct tracer {
	struct code_decoder *decoder;
	struct state branches[BRANCHES_MAX]; /* not followed yet */
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

static void note_use(struct tracer *t, const struct state *s, const struct code_insn *insn)
{
	bool reads = reads_memory(insn);
	uint8_t reg;

	if ((!reads && insn->shape != CODE_LEA) || insn->base >= CODE_REG_SP)
		return;
	if (insn->disp > CONTEXT_MIN && insn->disp < CONTEXT_MAX &&
	    s->from[insn->base] != WIRE_REG_NONE)
		t->found.holders |= (uint16_t)(1u << s->from[insn->base]);
	reg = s->regs[insn->base];
	if (reg == WIRE_REG_NONE)
		return;
	if (reads)
		t->found.pointers |= (uint16_t)(1u << reg);
	if (insn->disp > CONTEXT_MIN && insn->disp < CONTEXT_MAX)
		t->found.contexts |= (uint16_t)(1u << reg);
}

static uint8_t load(const struct state *s, int64_t at)
{
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].at == at)
			return s->slots[i].reg;
	return WIRE_REG_NONE;
}

static void store(struct state *s, const struct code_insn *insn)
{
	int64_t at = s->sp + insn->disp;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].at + 8 <= at || s->slots[i].at >= at + insn->stores)
			s->slots[n++] = s->slots[i];
	s->n_slots = n;
	if (insn->shape != CODE_STORE64 || insn->reg >= CODE_REG_SP || n == SLOTS_MAX)
		return;
	s->slots[n].at = at;
	s->slots[n].reg = s->regs[insn->reg];
	s->n_slots++;
}

static void apply(struct state *s, const struct code_insn *insn)
{
	uint8_t reg = WIRE_REG_NONE, from = WIRE_REG_NONE;

	if (insn->shape == CODE_MOVE64 && insn->base < CODE_REG_SP) {
		reg = s->regs[insn->base];
		from = s->from[insn->base];
	} else if (insn->shape == CODE_LOAD64 && insn->base == CODE_REG_SP) {
		reg = load(s, s->sp + insn->disp);
	} else if (insn->shape == CODE_LOAD64 && insn->base < CODE_REG_SP && !insn->disp) {
		from = s->regs[insn->base];
	}
	if (insn->stores && insn->base == CODE_REG_SP)
		store(s, insn);
	for (int r = 0; r < CODE_REG_SP; r++)
		if (insn->writes & 1u << r)
			s->regs[r] = s->from[r] = WIRE_REG_NONE;
	if (insn->reg < CODE_REG_SP && (insn->writes & 1u << insn->reg)) {
		s->regs[insn->reg] = reg;
		s->from[insn->reg] = from;
	}
	s->sp += insn->sp_adjust;
	/* After `and $-32, %rsp` the slots are unknown. */
	if ((insn->writes & 1u << CODE_REG_SP) && !insn->sp_adjust)
		s->n_slots = 0;
}

static void trace_line(struct tracer *t, struct state s)
{
	struct code_insn insn;

	for (int i = 0; i < LINE_MAX && code_decoder__at(t->decoder, s.addr, &insn); i++) {
		note_use(t, &s, &insn);
		apply(&s, &insn);
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
	struct state s = {.addr = entry};

	for (uint8_t r = 0; r < CODE_REG_SP; r++) {
		s.regs[r] = r;
		s.from[r] = WIRE_REG_NONE;
	}
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
