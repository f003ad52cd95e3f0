// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/arguments.h"

#include "plan/code/flow.h"

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
