// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/vtable.h"

/* How far one step of pattern matching looks, in instructions. */
#define NEAR	   16
#define COLD_REACH 64
/* Entries of a switch that are followed. */
#define TABLE_MAX 512

/* A branch, by where it goes: the walk backwards needs the predecessors of a block. */
struct edge {
	uint64_t target;
	size_t from;
};

struct miner {
	const struct elf_image *img;
	const struct code *code;
	struct edge *edges; /* sorted by target */
	size_t n_edges;
	uint32_t *seen; /* per instruction: the states the current walk has been there with */
	bool *live;	/* per instruction: control can come there from the entry */
	struct {
		size_t idx;
		uint8_t state;
	} * work;
	size_t n_work, cap_work;
	bool met_end; /* in the current walk */
};

/* Guard states beside "register r holds the guard's word": nothing known, flags set from it. */
#define STATE_NONE  16
#define STATE_FLAGS 17

static int by_target(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->target < y->target ? -1 : x->target > y->target;
}

static int miner_init(struct miner *m)
{
	const struct code *code = m->code;

	m->edges = calloc(code->n + 1, sizeof(*m->edges));
	m->seen = calloc(code->n + 1, sizeof(*m->seen));
	m->live = calloc(code->n + 1, sizeof(*m->live));
	if (!m->edges || !m->seen || !m->live)
		return -ENOMEM;
	for (size_t i = 0; i < code->n; i++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->flow == CODE_JCC || insn->flow == CODE_JMP)
			m->edges[m->n_edges++] = (struct edge){insn->target, i};
	}
	qsort(m->edges, m->n_edges, sizeof(*m->edges), by_target);
	return 0;
}

static void miner_fini(struct miner *m)
{
	free(m->edges);
	free(m->seen);
	free(m->live);
	free(m->work);
}

/* The first of the branches to `addr`, among m->edges. */
static size_t first_branch_to(const struct miner *m, uint64_t addr)
{
	size_t lo = 0, hi = m->n_edges;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->edges[mid].target < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool is_branched_to(const struct miner *m, uint64_t addr)
{
	size_t i = first_branch_to(m, addr);

	return i < m->n_edges && m->edges[i].target == addr;
}

static bool falls_into(const struct code *code, size_t i)
{
	const struct code_insn *prev;

	if (i == 0)
		return false;
	prev = &code->insns[i - 1];
	if (prev->addr + prev->size != code->insns[i].addr)
		return false;
	return prev->flow == CODE_FALLS || prev->flow == CODE_JCC || prev->flow == CODE_CALL ||
	       prev->flow == CODE_CALL_INDIRECT;
}

/* The only instruction that control comes from to `i`, or SIZE_MAX if there is none or several. */
static size_t only_way_to(const struct miner *m, size_t i)
{
	uint64_t addr = m->code->insns[i].addr;
	size_t edge = first_branch_to(m, addr);
	size_t from = falls_into(m->code, i) ? i - 1 : SIZE_MAX;

	for (; edge < m->n_edges && m->edges[edge].target == addr; edge++) {
		if (from != SIZE_MAX)
			return SIZE_MAX;
		from = m->edges[edge].from;
	}
	return from;
}

struct guard {
	size_t mask;	 /* index of the mask site */
	uint64_t resume; /* where a normal run goes on from there */
	int64_t slot;	 /* D: the guard's offset from sp */
	bool has_slot;
};

/*
 * Walk backwards from the cold side's call to the branch that leads there, noting the guard's
 * address (first argument: rdi) on the way.
 */
static bool find_guard(const struct miner *m, size_t call, struct guard *g)
{
	const struct code *code = m->code;
	size_t i = call;

	*g = (struct guard){0};
	for (int steps = 0; steps < COLD_REACH; steps++) {
		size_t from = only_way_to(m, i);
		const struct code_insn *insn;

		if (from == SIZE_MAX)
			return false;
		insn = &code->insns[from];
		if (insn->flow == CODE_JCC) {
			g->mask = from;
			g->resume = insn->target == code->insns[i].addr ? insn->addr + insn->size
									: insn->target;
			return g->has_slot;
		}
		if (!g->has_slot && (insn->writes & 1u << WIRE_REG_DI)) {
			if (insn->shape != CODE_LEA || insn->base != CODE_REG_SP)
				return false;
			g->slot = insn->disp;
			g->has_slot = true;
		}
		i = from;
	}
	return false;
}

static int push_work(struct miner *m, uint64_t addr, uint8_t state, const char **problem)
{
	size_t idx = code__index(m->code, addr);

	if (idx == SIZE_MAX) {
		*problem = "a path leaves the function before the guard's end";
		return 0;
	}
	if (m->seen[idx] & 1u << state)
		return 0;
	m->seen[idx] |= 1u << state;
	if (m->n_work == m->cap_work) {
		size_t cap = m->cap_work ? m->cap_work * 2 : 256;
		void *p = reallocarray(m->work, cap, sizeof(*m->work));

		if (!p)
			return -ENOMEM;
		m->work = p;
		m->cap_work = cap;
	}
	m->work[m->n_work].idx = idx;
	m->work[m->n_work++].state = state;
	return 0;
}

/* What is known of the guard's word after `insn`. */
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

	for (size_t back = 1; back <= NEAR && back <= idx; back++) {
		const struct code_insn *insn = &code->insns[idx - back];

		if (insn->shape == CODE_JUMP_TABLE && base == CODE_REG_OTHER)
			base = insn->base;
		else if (base < CODE_REG_SP && (insn->writes & 1u << base))
			return insn->shape == CODE_LEA_RIP ? insn->target : 0;
	}
	return 0;
}

/*
 * Follow every entry that lands in the function; reading past the table's end only adds paths that
 * must also end.
 */
static int push_jump_table(struct miner *m, size_t idx, uint8_t state, const char **problem)
{
	uint64_t base = table_of(m->code, idx);
	size_t len = 0, n = 0;
	const uint8_t *table = base ? elf_image__bytes(m->img, base, &len) : NULL;
	int err = 0;

	for (; len >= 4 && n < TABLE_MAX && !err; n++, table += 4, len -= 4) {
		int32_t rel = (int32_t)((uint32_t)table[0] | (uint32_t)table[1] << 8 |
					(uint32_t)table[2] << 16 | (uint32_t)table[3] << 24);
		uint64_t target = base + (uint64_t)(int64_t)rel;

		if (code__index(m->code, target) == SIZE_MAX)
			break;
		err = push_work(m, target, state, problem);
	}
	if (!n)
		*problem = "an indirect jump before the guard's end could not be followed";
	return err;
}

static const struct mined_id no_id = {WIRE_REG_NONE, MINE_NO_SLOT};

static int add_site(struct mined_site *sites, size_t *n, const struct code_insn *insn,
		    struct mined_id id)
{
	for (size_t i = 0; i < *n; i++)
		if (sites[i].addr == insn->addr)
			return 0;
	if (*n == MINE_MAX_SITES)
		return -E2BIG;
	sites[(*n)++] = (struct mined_site){
		.addr = insn->addr,
		.id = id,
		.vtable = vtable_none,
		.emulated = insn->emulated,
	};
	return 0;
}

/* True if anything in the function takes the address of the slot at `disp`. */
static bool takes_address(const struct code *code, int64_t disp)
{
	for (size_t i = 0; i < code->n; i++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->shape == CODE_LEA && insn->reg != CODE_REG_SP &&
		    insn->base == CODE_REG_SP && insn->disp == disp)
			return true;
	}
	return false;
}

/*
 * The invocation id at an END site: it was stored to a u32 slot just before, whose address is
 * taken for the guard's finish. The register it was stored from still holds it unless something
 * has written it since, or control may have come from where it was stored from another register.
 */
static struct mined_id find_id(const struct miner *m, size_t end)
{
	const struct code *code = m->code;
	bool joined = false;
	uint16_t written = 0;

	for (size_t back = 1; back <= NEAR && back <= end; back++) {
		const struct code_insn *insn = &code->insns[end - back];

		if (insn->flow != CODE_FALLS)
			break;
		joined = joined || is_branched_to(m, insn->addr + insn->size);
		written |= insn->writes;
		if (insn->shape != CODE_STORE32 || insn->base != CODE_REG_SP ||
		    insn->reg >= CODE_REG_SP || insn->disp < 0 || insn->disp > INT32_MAX)
			continue;
		if (!takes_address(code, insn->disp))
			continue;
		if (!joined && !(written & 1u << insn->reg))
			return (struct mined_id){insn->reg, MINE_NO_SLOT};
		return (struct mined_id){WIRE_REG_NONE, (int32_t)insn->disp};
	}
	return no_id;
}

static int step(struct miner *m, size_t idx, uint8_t state, const struct guard *g,
		struct mined_body *out)
{
	const struct code_insn *insn = &m->code->insns[idx];
	uint64_t next = insn->addr + insn->size;
	int err;

	switch (insn->flow) {
	case CODE_RET:
		out->problem = "a path returns without meeting the guard's end";
		return 0;
	case CODE_TRAPS:
		return 0;
	case CODE_JMP:
		return push_work(m, insn->target, state, &out->problem);
	case CODE_JMP_INDIRECT:
		return push_jump_table(m, idx, state, &out->problem);
	case CODE_JCC:
		if (state == STATE_FLAGS) {
			m->met_end = true;
			return add_site(out->ends, &out->n_ends, insn, find_id(m, idx));
		}
		err = push_work(m, insn->target, state, &out->problem);
		return err ? err : push_work(m, next, state, &out->problem);
	default:
		return push_work(m, next, next_state(insn, g->slot, state), &out->problem);
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
	       code__index(code, insn->addr + insn->size) == SIZE_MAX;
}

static int find_ends(struct miner *m, const struct guard *g, struct mined_body *out)
{
	int err;

	memset(m->seen, 0, m->code->n * sizeof(*m->seen));
	m->n_work = 0;
	m->met_end = false;
	err = push_work(m, g->resume, STATE_NONE, &out->problem);
	while (!err && m->n_work) {
		size_t idx = m->work[--m->n_work].idx;
		uint8_t state = m->work[m->n_work].state;

		if (!ends_in_noreturn(m->code, idx))
			err = step(m, idx, state, g, out);
	}
	return err;
}

/* The test of the filter just before the mask site, or NULL. */
static const struct code_insn *mask_test(const struct code *code, size_t mask)
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

static bool is_cold_call(const struct mine_cold *cold, const struct code_insn *insn)
{
	for (size_t i = 0; i < cold->n; i++)
		if (insn->flow == CODE_CALL && insn->target == cold->addrs[i])
			return true;
	return false;
}

/*
 * Mark what control can come to from `entry`, all if that cannot be told. The rest is no cold side
 * of this function: folded twins may leave theirs behind.
 */
static int mark_live(struct miner *m, uint64_t entry)
{
	const struct code *code = m->code;
	const char *problem = NULL;
	int err = push_work(m, entry, STATE_NONE, &problem);

	while (!err && m->n_work) {
		size_t idx = m->work[--m->n_work].idx;
		const struct code_insn *insn = &code->insns[idx];
		uint64_t next = insn->addr + insn->size;

		m->live[idx] = true;
		problem = NULL;
		if (insn->flow == CODE_JMP_INDIRECT)
			err = push_jump_table(m, idx, STATE_NONE, &problem);
		if (problem) {
			memset(m->live, true, code->n * sizeof(*m->live));
			return err;
		}
		if (insn->flow == CODE_JCC || insn->flow == CODE_JMP)
			err = push_work(m, insn->target, STATE_NONE, &problem);
		if (!err && (insn->flow == CODE_FALLS || insn->flow == CODE_JCC ||
			     insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT))
			err = push_work(m, next, STATE_NONE, &problem);
	}
	return err;
}

static int add_mask(struct miner *m, const struct guard *g, struct mined_body *out)
{
	const struct code_insn *insn = &m->code->insns[g->mask];
	size_t before = out->n_masks;
	int err = add_site(out->masks, &out->n_masks, insn, no_id);

	if (err || out->n_masks == before)
		return err;
	return vtable_find(m->code, g->resume, &out->masks[before].vtable);
}

static int mine_guard(struct miner *m, size_t call, const struct mine_cold *cold,
		      struct mined_body *out)
{
	const struct code_insn *test;
	struct guard g;
	int err;

	if (!find_guard(m, call, &g)) {
		out->problem = "the branch to the profiler's cold side was not recognised";
		out->masks_exact = false;
		return 0;
	}
	test = mask_test(m->code, g.mask);
	if (cold->any_kind && test && test->imm != MINE_QUERY_PROVIDERS)
		return 0;
	if (cold->any_kind && !test) {
		out->problem = "the test of the profiler's event filter was not recognised";
		out->masks_exact = false;
		return 0;
	}
	if (test) {
		out->mask_disp = (uint64_t)test->disp;
		out->mask_bit = test->imm;
	}
	err = add_mask(m, &g, out);
	if (!err)
		err = find_ends(m, &g, out);
	if (!err && !m->met_end && !out->problem)
		out->problem = "no test of the guard was found after the provider";
	return err;
}

int mine_body(const struct elf_image *img, const struct code *code, uint64_t entry,
	      const struct mine_cold *cold, struct mined_body *out)
{
	struct miner m = {.img = img, .code = code};
	int err = miner_init(&m);

	*out = (struct mined_body){.masks_exact = true};
	if (!err)
		err = mark_live(&m, entry);
	for (size_t i = 0; i < code->n && !err; i++)
		if (m.live[i] && is_cold_call(cold, &code->insns[i]))
			err = mine_guard(&m, i, cold, out);
	if (err == -E2BIG) {
		out->problem = "more sites than a query body can have";
		out->masks_exact = false;
		err = 0;
	}
	if (!err && !out->n_masks && !out->problem)
		out->problem = "no test of the profiler's event filter was found";
	miner_fini(&m);
	return err;
}

int mine_entry(struct code_decoder *d, uint64_t entry, struct mined_entry *out)
{
	struct code_insn insn;
	uint64_t addr = entry;
	int32_t pushed = 0;

	if (!code_decoder__at(d, entry, &insn))
		return -EFAULT;
	*out = (struct mined_entry){.addr = entry};
	for (int steps = 0; steps < 2 * NEAR; steps++) {
		/* A loop comes by more than once. */
		if ((insn.flow == CODE_JCC || insn.flow == CODE_JMP) && insn.target >= entry &&
		    insn.target <= addr)
			return 0;
		if (insn.emulated) {
			*out = (struct mined_entry){addr, pushed, true};
			return 0;
		}
		/*
		 * Past `and $-32, %rsp` the distance from the entry is unknown; past any other
		 * write of sp, sp_adjust tells it.
		 */
		if (insn.flow != CODE_FALLS ||
		    ((insn.writes & 1u << CODE_REG_SP) && !insn.sp_adjust))
			return 0;
		pushed -= insn.sp_adjust;
		addr += insn.size;
		if (!code_decoder__at(d, addr, &insn))
			return 0;
	}
	return 0;
}

int mine_frame(struct code_decoder *d, uint64_t entry)
{
	struct code_insn insn;
	uint64_t addr = entry;
	int frame = 0;

	if (!code_decoder__at(d, entry, &insn))
		return -EFAULT;
	for (int steps = 0; steps < COLD_REACH && insn.flow == CODE_FALLS; steps++) {
		if ((insn.writes & 1u << CODE_REG_SP) && !insn.sp_adjust)
			return -ENOTSUP;
		frame -= insn.sp_adjust;
		addr += insn.size;
		if (!code_decoder__at(d, addr, &insn))
			return -EFAULT;
	}
	return frame >= 0 ? frame : -ENOTSUP;
}
