// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/code/opcode.h"

#define COLD_REACH 64

struct walk_work {
	size_t idx;
	uint8_t state;
};

/* Guard states beside "register r holds the guard's word": nothing known, flags set from it. */
#define STATE_NONE  16
#define STATE_FLAGS 17

static bool jumps(const struct code_insn *insn)
{
	return insn->flow == CODE_JCC || insn->flow == CODE_JMP;
}

/* Sort the branches by target: the walk backwards needs the predecessors of a block. */
static int collect_branches(struct walk *w)
{
	const struct code *code = w->code;
	uint32_t total = 0;

	if (code->n >= WALK_NOWHERE)
		return -ENOMEM;
	w->to = calloc(code->n + 1, sizeof(*w->to));
	w->first_branch = calloc(code->n + 1, sizeof(*w->first_branch));
	w->branches = calloc(code->n + 1, sizeof(*w->branches));
	w->seen = calloc(code->n + 1, sizeof(*w->seen));
	w->live = calloc(code->n + 1, sizeof(*w->live));
	if (!w->to || !w->first_branch || !w->branches || !w->seen || !w->live)
		return -ENOMEM;
	for (size_t i = 0; i < code->n; i++) {
		size_t to = SIZE_MAX;

		if (jumps(&code->insns[i]))
			to = code__index(code, code->insns[i].target);
		w->to[i] = to == SIZE_MAX ? WALK_NOWHERE : (uint32_t)to;
		if (to != SIZE_MAX)
			w->first_branch[to]++;
	}
	for (size_t i = 0; i <= code->n; i++) {
		total += w->first_branch[i];
		w->first_branch[i] = total;
	}
	/* Insert each branch before earlier ones with the same target. */
	for (size_t i = code->n; i-- > 0;)
		if (w->to[i] != WALK_NOWHERE)
			w->branches[--w->first_branch[w->to[i]]] = (uint32_t)i;
	return 0;
}

bool walk__is_branched_to(const struct walk *w, size_t i)
{
	return w->first_branch[i] < w->first_branch[i + 1];
}

static bool falls_into(const struct code *code, size_t i)
{
	const struct code_insn *prev;

	if (i == 0)
		return false;
	prev = &code->insns[i - 1];
	return prev->addr + prev->size == code->insns[i].addr && code_insn__goes_on(prev);
}

size_t walk__way_to(const struct walk *w, size_t i, size_t k)
{
	uint32_t first = w->first_branch[i];

	if (falls_into(w->code, i) && k-- == 0)
		return i - 1;
	return k < w->first_branch[i + 1] - first ? w->branches[first + k] : SIZE_MAX;
}

size_t walk__ways_to(const struct walk *w, size_t i)
{
	return falls_into(w->code, i) + (w->first_branch[i + 1] - w->first_branch[i]);
}

/* A walk backwards from the call of a cold side. */
struct way_back {
	const struct walk *walk;
	struct walk_guard *out;
	size_t most, n;
	int steps;
	bool failed;
};

/* Note the guard's address, in `holds` behind the instruction. False if it is lost. */
static bool note_slot(const struct code_insn *insn, uint8_t *holds, struct walk_guard *g)
{
	if (g->has_slot || !(insn->writes & 1u << *holds))
		return true;
	if (insn->shape == CODE_MOVE64 && insn->base < CODE_REG_SP) {
		*holds = insn->base;
		return true;
	}
	/* The lowest place of the frame is where sp is. */
	g->slot = insn->shape == CODE_LEA ? insn->disp : 0;
	g->has_slot = (insn->shape == CODE_LEA || insn->shape == CODE_MOVE64) &&
		      insn->base == CODE_REG_SP;
	return g->has_slot;
}

static void go_back(struct way_back *b, size_t i, uint8_t holds, struct walk_guard g)
{
	size_t n = walk__ways_to(b->walk, i);

	b->failed = b->failed || !n || n > b->most || b->steps++ >= COLD_REACH;
	for (size_t k = 0; k < n && !b->failed; k++) {
		size_t from = walk__way_to(b->walk, i, k);
		const struct code_insn *insn = &b->walk->code->insns[from];
		struct walk_guard way = g;
		uint8_t way_holds = holds;

		if (insn->flow != CODE_JCC) {
			if (note_slot(insn, &way_holds, &way))
				go_back(b, from, way_holds, way);
			else
				b->failed = true;
			continue;
		}
		way.mask = from;
		way.resume = insn->target == b->walk->code->insns[i].addr ? insn->addr + insn->size
									  : insn->target;
		b->failed = !way.has_slot || b->n == b->most;
		if (!b->failed)
			b->out[b->n++] = way;
	}
}

size_t walk__guards(const struct walk *w, size_t call, struct walk_guard *out, size_t most)
{
	struct way_back b = {.walk = w, .out = out, .most = most};

	go_back(&b, call, WIRE_REG_DI, (struct walk_guard){0});
	return b.failed ? 0 : b.n;
}

bool walk__guard(const struct walk *w, size_t call, struct walk_guard *g)
{
	*g = (struct walk_guard){0};
	return walk__guards(w, call, g, 1) == 1;
}

static int push_index(struct walk *w, size_t idx, uint8_t state, const char **problem)
{
	struct walk_work work = {idx, state};

	if (idx == SIZE_MAX) {
		*problem = "a path leaves the function before the guard's end";
		return 0;
	}
	if (w->seen[idx] & 1u << state)
		return 0;
	w->seen[idx] |= 1u << state;
	return array__add(&w->work, &w->n_work, &w->work_capacity, &work);
}

static int push_work(struct walk *w, uint64_t addr, uint8_t state, const char **problem)
{
	return push_index(w, code__index(w->code, addr), state, problem);
}

static int push_target(struct walk *w, size_t idx, uint8_t state, const char **problem)
{
	size_t to = w->to[idx] == WALK_NOWHERE ? SIZE_MAX : w->to[idx];

	return push_index(w, to, state, problem);
}

static int push_next(struct walk *w, size_t idx, uint8_t state, const char **problem)
{
	return push_index(w, code__after(w->code, idx), state, problem);
}

/* The state of the guard's word after `insn`. */
static uint8_t next_state(const struct code_insn *insn, int64_t slot, uint8_t state)
{
	if (insn->shape == CODE_LOAD64 && insn->base == CODE_REG_SP && insn->disp == slot)
		return insn->reg < CODE_REG_SP ? insn->reg : STATE_NONE;
	if (insn->shape == CODE_CMP64_ZERO && insn->base == CODE_REG_SP && insn->disp == slot)
		return STATE_FLAGS;
	if (insn->shape == CODE_TEST_SELF && insn->reg == state)
		return STATE_FLAGS;
	if (state < CODE_REG_SP && (insn->writes & 1u << state))
		return STATE_NONE;
	if (state == STATE_FLAGS && (insn->flow != CODE_FALLS || insn->sets_flags))
		return STATE_NONE;
	return state;
}

/*
 * The table of the dense switch that ends in the indirect jump `idx`, or 0:
 * `lea table(%rip), b; movslq (b,i,4), r; add b, r; jmp *r`.
 */
static uint64_t table_of(const struct code *code, size_t idx)
{
	uint8_t base = CODE_REG_OTHER;

	for (size_t back = 1; back <= WALK_NEAR && back <= idx; back++) {
		const struct code_insn *insn = &code->insns[idx - back];

		if (insn->shape == CODE_JUMP_TABLE && base == CODE_REG_OTHER)
			base = insn->base;
		else if (base < CODE_REG_SP && (insn->writes & 1u << base))
			return insn->shape == CODE_LEA_RIP ? insn->target : 0;
	}
	return 0;
}

static int collect_tables(struct walk *w)
{
	for (size_t i = 0; i < w->code->n; i++) {
		uint64_t table =
			w->code->insns[i].flow == CODE_JMP_INDIRECT ? table_of(w->code, i) : 0;

		if (table && array__add(&w->tables, &w->n_tables, &w->tables_capacity, &table))
			return -ENOMEM;
	}
	if (w->n_tables)
		qsort(w->tables, w->n_tables, sizeof(*w->tables), array__by_u64);
	return 0;
}

/*
 * Take every entry that points into the function. Entries read past the table's end only add paths
 * that must also end.
 */
size_t walk__table(const struct walk *w, size_t i, uint64_t *targets)
{
	uint64_t base = table_of(w->code, i);
	size_t len = 0, n = 0;
	const uint8_t *table = base ? elf_image__bytes(w->img, base, &len) : NULL;
	size_t next = bisect(w->n_tables, k, w->tables[k] <= base);

	if (next < w->n_tables && len > w->tables[next] - base)
		len = w->tables[next] - base;
	for (; len >= 4 && n < WALK_TABLE_MAX; table += 4, len -= 4) {
		uint64_t target = opcode_target(table, base);

		if (code__index(w->code, target) == SIZE_MAX)
			break;
		targets[n++] = target;
	}
	return n;
}

static int push_jump_table(struct walk *w, size_t idx, uint8_t state, const char **problem)
{
	uint64_t targets[WALK_TABLE_MAX];
	size_t n = walk__table(w, idx, targets);
	int err = 0;

	if (!n)
		*problem = "an indirect jump before the guard's end could not be followed";
	for (size_t i = 0; i < n && !err; i++)
		err = push_work(w, targets[i], state, problem);
	return err;
}

static int add_end(struct walk_ends *out, size_t idx)
{
	for (size_t i = 0; i < out->n; i++)
		if (out->at[i] == idx)
			return 0;
	if (out->n == WALK_MAX_ENDS)
		return -E2BIG;
	out->at[out->n++] = idx;
	return 0;
}

static int step(struct walk *w, size_t idx, uint8_t state, int64_t slot, struct walk_ends *out)
{
	const struct code_insn *insn = &w->code->insns[idx];
	int err;

	switch (insn->flow) {
	case CODE_RET:
		out->problem = "a path returns without meeting the guard's end";
		return 0;
	case CODE_TRAPS:
		return 0;
	case CODE_JMP:
		return push_target(w, idx, state, &out->problem);
	case CODE_JMP_INDIRECT:
		return push_jump_table(w, idx, state, &out->problem);
	case CODE_JCC:
		if (state == STATE_FLAGS)
			return add_end(out, idx);
		err = push_target(w, idx, state, &out->problem);
		return err ? err : push_next(w, idx, state, &out->problem);
	case CODE_CALL:
	case CODE_CALL_INDIRECT:
		if (out->is_drop && out->is_drop(out->arg, idx))
			return add_end(out, idx);
		/* fall through */
	default:
		return push_next(w, idx, next_state(insn, slot, state), &out->problem);
	}
}

/*
 * Code after a call that never returns (a panic) is often missing or belongs to something else;
 * such a path cannot end a query normally, so it is no problem if it runs out of the function.
 */
static bool ends_in_noreturn(const struct code *code, size_t idx)
{
	const struct code_insn *insn = &code->insns[idx];

	return (insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT) &&
	       code__after(code, idx) == SIZE_MAX;
}

int walk__ends(struct walk *w, uint64_t from, int64_t slot, struct walk_ends *out)
{
	int err;

	out->n = 0;
	out->problem = NULL;
	memset(w->seen, 0, w->code->n * sizeof(*w->seen));
	w->n_work = 0;
	err = push_work(w, from, STATE_NONE, &out->problem);
	while (!err && w->n_work) {
		size_t idx = w->work[--w->n_work].idx;
		uint8_t state = w->work[w->n_work].state;

		if (!ends_in_noreturn(w->code, idx))
			err = step(w, idx, state, slot, out);
	}
	return err;
}

/* The test of the filter just before the mask site, or NULL. */
const struct code_insn *walk__mask_test(const struct code *code, size_t mask)
{
	for (size_t back = 1; back <= 6 && back <= mask; back++) {
		const struct code_insn *insn = &code->insns[mask - back];

		if (insn->flow != CODE_FALLS)
			return NULL;
		if (insn->shape == CODE_TEST_MASK)
			return insn;
	}
	return NULL;
}

/*
 * Mark the instructions that control can reach from `entry`; all of them if that is unknown.
 * Unmarked code is no cold side of this function: folded twins may leave theirs behind.
 */
static int mark_live(struct walk *w, uint64_t entry)
{
	const struct code *code = w->code;
	const char *problem = NULL;
	int err = push_work(w, entry, STATE_NONE, &problem);

	while (!err && w->n_work) {
		size_t idx = w->work[--w->n_work].idx;
		const struct code_insn *insn = &code->insns[idx];

		w->live[idx] = true;
		problem = NULL;
		if (insn->flow == CODE_JMP_INDIRECT)
			err = push_jump_table(w, idx, STATE_NONE, &problem);
		if (problem) {
			memset(w->live, true, code->n * sizeof(*w->live));
			return err;
		}
		if (jumps(insn))
			err = push_target(w, idx, STATE_NONE, &problem);
		if (!err && code_insn__goes_on(insn))
			err = push_next(w, idx, STATE_NONE, &problem);
	}
	return err;
}

int walk__init(struct walk *w, const struct elf_image *img, const struct code *code, uint64_t entry)
{
	*w = (struct walk){.img = img, .code = code};
	return collect_branches(w) ?: collect_tables(w) ?: mark_live(w, entry);
}

void walk__fini(struct walk *w)
{
	free(w->to);
	free(w->first_branch);
	free(w->branches);
	free(w->seen);
	free(w->live);
	free(w->tables);
	free(w->work);
}
