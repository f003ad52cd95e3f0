// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/guard.h"

#include <errno.h>

/* Most instructions between a branch and the call of the cold side that it leads to. */
#define COLD_REACH 256
#define WAYS_MAX   8
/* Between the test of the filter and its branch. */
#define TEST_REACH 6

struct branch {
	size_t index;
	uint64_t resume; /* where a normal run continues */
	uint64_t cold;	 /* where the cold side begins */
	uint32_t filter;
};

struct branches {
	struct branch found[MINED_BRANCHES_MAX];
	size_t n;
	size_t steps;
	bool past_calls; /* search past calls too */
	bool many;
};

/* The bits of the filter that the branch depends on, 0 if there are none. */
static uint32_t tested_bits(const struct code *code, size_t jcc)
{
	for (size_t back = 1; back <= TEST_REACH && back <= jcc; back++) {
		const struct code_insn *insn = &code->insns[jcc - back];

		if (insn->flow != CODE_FALLS)
			return 0;
		if (insn->shape == CODE_TEST_IMM)
			return insn->imm;
		/* The filter is 16 bits wide and aligned. */
		if (insn->shape == CODE_TEST_MASK)
			return insn->imm << (insn->disp & 1 ? 8 : 0);
		if (insn->sets_flags)
			return 0;
	}
	return 0;
}

static void add_branch(struct branches *b, const struct code *code, size_t jcc, size_t to)
{
	const struct code_insn *insn = &code->insns[jcc];
	bool taken = insn->target == code->insns[to].addr;
	uint64_t next = insn->addr + insn->size;
	uint32_t filter = tested_bits(code, jcc);

	for (size_t i = 0; i < b->n; i++)
		if (b->found[i].index == jcc)
			return;
	if (!filter)
		return;
	b->many = b->many || b->n == MINED_BRANCHES_MAX;
	if (!b->many)
		b->found[b->n++] = (struct branch){jcc, taken ? next : insn->target,
						   taken ? insn->target : next, filter};
}

static bool is_barrier(const struct walk *w, size_t i, const struct branches *b)
{
	uint8_t flow = w->code->insns[i].flow;

	return flow == CODE_JCC ||
	       (!b->past_calls && (flow == CODE_CALL || flow == CODE_CALL_INDIRECT));
}

/* Follow all paths back from `i` to the nearest branches. Only tests of the filter count. */
static void find_branches(const struct walk *w, size_t i, struct branches *b)
{
	while (b->steps++ < COLD_REACH) {
		size_t n = walk__ways_to(w, i);

		b->many = b->many || n > WAYS_MAX;
		if (!n || b->many)
			return;
		for (size_t k = 0; k < n; k++) {
			size_t from = walk__way_to(w, i, k);

			if (w->code->insns[from].flow == CODE_JCC)
				add_branch(b, w->code, from, i);
			else if (k && !is_barrier(w, from, b))
				find_branches(w, from, b);
		}
		i = walk__way_to(w, i, 0);
		if (is_barrier(w, i, b))
			return;
	}
}

static bool on_stack(const struct flow_state *s, uint8_t reg, int64_t *at)
{
	*at = s->regs[reg].value;
	return s->reached && s->has_sp && s->regs[reg].kind == FLOW_STACK;
}

struct dropped {
	const struct mine_guard *m;
	int64_t at; /* of the guard, from sp at the entry */
};

static bool is_drop(const void *arg, size_t i)
{
	const struct dropped *d = arg;
	uint64_t callee = profiler__callee(&d->m->walk->code->insns[i]);
	struct flow_state s;
	int64_t at;

	if (!callee || !profiler__drops(d->m->profiler, callee))
		return false;
	flow__at(d->m->flow, i, &s);
	return on_stack(&s, WIRE_REG_DI, &at) && at == d->at;
}

static bool constant_at(const struct flow_state *s, int64_t at, uint64_t *value)
{
	const struct flow_slot *slot = flow_state__slot(s, at);

	if (!slot || slot->value.kind != FLOW_CONST)
		return false;
	*value = (uint64_t)slot->value.value;
	return true;
}

/*
 * The closure is the third argument. It captures a reference to the label, and so is that
 * reference; if it captures more than two words, it is in memory and holds the reference.
 */
static bool find_label_slot(const struct flow_state *cold, int64_t *at)
{
	const struct flow_slot *slot;

	if (!on_stack(cold, WIRE_REG_DX, at))
		return false;
	slot = flow_state__slot(cold, *at);
	if (slot && slot->value.kind == FLOW_STACK)
		*at = slot->value.value;
	return true;
}

static void find_label(const struct flow_state *branch, const struct flow_state *cold,
		       struct mined_guard *g)
{
	int64_t at;

	if (!branch->has_sp || !find_label_slot(cold, &at))
		return;
	if (constant_at(branch, at, &g->label) && constant_at(branch, at + 8, &g->label_len))
		return;
	/* Stores may have been moved into the cold side; only constants are known then. */
	if (constant_at(cold, at, &g->label) && constant_at(cold, at + 8, &g->label_len))
		return;
	g->label = g->label_len = 0;
	if (flow_state__slot(branch, at) && flow_state__slot(branch, at + 8) && at >= branch->sp)
		g->label_slot = at - branch->sp;
}

static int find_ends(struct mine_guard *m, const struct flow_state *cold, uint64_t resume,
		     struct mined_guard *g)
{
	struct dropped dropped = {.m = m};
	struct walk_ends ends = {.is_drop = is_drop, .arg = &dropped};
	int err;

	if (!on_stack(cold, WIRE_REG_DI, &dropped.at)) {
		g->problem = "where its guard is kept was not recognised";
		return 0;
	}
	err = walk__ends(m->walk, resume, dropped.at - cold->sp, &ends);
	if (err == -E2BIG)
		ends.problem = "it ends at more places than a guard can have";
	else if (err)
		return err;
	g->first_frame = m->frames->n;
	err = frame_drafts__guard(m->frames, m->walk);
	if (err)
		return err;
	g->end_frame = m->frames->n;
	for (g->n_ends = 0; g->n_ends < ends.n; g->n_ends++)
		g->ends[g->n_ends] = ends.at[g->n_ends];
	g->problem = ends.problem;
	if (!g->problem && !g->n_ends)
		g->problem = "nothing that ends it was found";
	return 0;
}

int mine_guard(struct mine_guard *m, size_t call, struct mined_guard out[MINED_BRANCHES_MAX],
	       size_t *n)
{
	const struct code *code = m->walk->code;
	struct branches b = {.n = 0};
	struct flow_state cold, branch;
	int err = 0;

	/* Control rarely falls in from a call just before: such a call usually does not return. */
	find_branches(m->walk, call, &b);
	if (!b.n && !b.many) {
		b = (struct branches){.past_calls = true};
		find_branches(m->walk, call, &b);
	}
	flow__at(m->flow, call, &cold);
	*n = b.many ? 0 : b.n;
	for (size_t i = 0; i < *n && !err; i++) {
		out[i] = (struct mined_guard){
			.addr = code->insns[b.found[i].index].addr,
			.index = b.found[i].index,
			.emulated = code->insns[b.found[i].index].emulated,
			.cold = b.found[i].cold,
			.filter = b.found[i].filter,
			.label_slot = MINED_NO_SLOT,
		};
		flow__at(m->flow, b.found[i].index, &branch);
		find_label(&branch, &cold, &out[i]);
		err = find_ends(m, &cold, b.found[i].resume, &out[i]);
	}
	if (!*n) {
		out[(*n)++] = (struct mined_guard){
			.label_slot = MINED_NO_SLOT,
			.problem = "the branch to the profiler's cold side was not recognised",
		};
	}
	return err;
}
