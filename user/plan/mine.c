// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How far one step of pattern matching looks, in instructions. */
#define NEAR	   16
#define COLD_REACH 64

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
	uint32_t *seen; /* per instruction: the guard states the walk has been there with */
	struct {
		size_t idx;
		uint8_t state;
	} * work;
	size_t n_work, cap_work;
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
	if (!m->edges || !m->seen)
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
	free(m->work);
}

/* The only branch to `addr`, or SIZE_MAX if there is none or more than one. */
static size_t only_branch_to(const struct miner *m, uint64_t addr)
{
	size_t lo = 0, hi = m->n_edges;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->edges[mid].target < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == m->n_edges || m->edges[lo].target != addr)
		return SIZE_MAX;
	if (lo + 1 < m->n_edges && m->edges[lo + 1].target == addr)
		return SIZE_MAX;
	return m->edges[lo].from;
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
		const struct code_insn *insn = &code->insns[i];
		size_t from = only_branch_to(m, insn->addr);

		if (!g->has_slot && insn->shape == CODE_LEA && insn->reg == WIRE_REG_DI &&
		    insn->base == CODE_REG_SP) {
			g->slot = insn->disp;
			g->has_slot = true;
		}
		if (from == SIZE_MAX) {
			if (!falls_into(code, i))
				return false;
			from = i - 1;
			if (code->insns[from].flow == CODE_JCC) {
				g->mask = from;
				g->resume = code->insns[from].target;
				return true;
			}
		} else if (code->insns[from].flow == CODE_JCC && !falls_into(code, i)) {
			g->mask = from;
			g->resume = code->insns[from].addr + code->insns[from].size;
			return true;
		} else if (falls_into(code, i)) {
			return false;
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
	if (state == STATE_FLAGS && insn->flow != CODE_FALLS)
		return STATE_NONE;
	return state;
}

/*
 * A dense switch: `lea table(%rip), b; movslq (b,i,4), r; add b, r; jmp *r`. Follow every entry
 * that lands in the function; reading past the table's end only adds paths that must also end.
 */
static int push_jump_table(struct miner *m, size_t idx, uint8_t state, const char **problem)
{
	const struct code *code = m->code;
	const uint8_t *table = NULL;
	size_t len = 0, n = 0;
	uint64_t base = 0;
	int err = 0;

	for (size_t back = 1; back <= NEAR && back <= idx && !table; back++) {
		const struct code_insn *insn = &code->insns[idx - back];

		if (insn->shape == CODE_LEA_RIP) {
			base = insn->target;
			table = elf_image__code(m->img, base, &len);
		}
	}
	for (; table && len >= 4 && n < 512 && !err; n++, table += 4, len -= 4) {
		int32_t rel = (int32_t)((uint32_t)table[0] | (uint32_t)table[1] << 8 |
					(uint32_t)table[2] << 16 | (uint32_t)table[3] << 24);
		uint64_t target = base + (uint64_t)(int64_t)rel;

		if (code__index(code, target) == SIZE_MAX)
			break;
		err = push_work(m, target, state, problem);
	}
	if (!n)
		*problem = "an indirect jump before the guard's end could not be followed";
	return err;
}

static const struct mined_id no_id = {WIRE_REG_NONE, MINE_NO_SLOT};
static const struct mined_vtable no_vtable = {WIRE_REG_NONE, MINE_NO_SLOT, -1};

static int add_site(struct mined_site *sites, size_t *n, const struct code_insn *insn,
		    struct mined_id id)
{
	for (size_t i = 0; i < *n; i++)
		if (sites[i].addr == insn->addr)
			return 0;
	if (*n == MINE_MAX_SITES)
		return -E2BIG;
	sites[(*n)++] = (struct mined_site){insn->addr, id, no_vtable, insn->emulated};
	return 0;
}

/* True if anything in the function takes the address of the slot at `disp`. */
static bool takes_address(const struct code *code, int64_t disp)
{
	for (size_t i = 0; i < code->n; i++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->shape == CODE_LEA && insn->base == CODE_REG_SP && insn->disp == disp)
			return true;
	}
	return false;
}

/*
 * The invocation id at an END site: it was stored to a u32 slot just before, whose address is
 * taken for the guard's finish. The register it was stored from still holds it unless something
 * has written it since.
 */
static struct mined_id find_id(const struct code *code, size_t end)
{
	uint16_t written = 0;

	for (size_t back = 1; back <= NEAR && back <= end; back++) {
		const struct code_insn *insn = &code->insns[end - back];

		if (insn->flow != CODE_FALLS)
			break;
		written |= insn->writes;
		if (insn->shape != CODE_STORE32 || insn->base != CODE_REG_SP ||
		    insn->reg >= CODE_REG_SP || insn->disp < 0 || insn->disp > INT32_MAX)
			continue;
		if (!takes_address(code, insn->disp))
			continue;
		if (!(written & 1u << insn->reg))
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
		if (state == STATE_FLAGS)
			return add_site(out->ends, &out->n_ends, insn, find_id(m->code, idx));
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
	err = push_work(m, g->resume, STATE_NONE, &out->problem);
	while (!err && m->n_work) {
		size_t idx = m->work[--m->n_work].idx;
		uint8_t state = m->work[m->n_work].state;

		if (!ends_in_noreturn(m->code, idx))
			err = step(m, idx, state, g, out);
	}
	return err;
}

/* The filter's displacement and bit, from the test just before the mask site. */
static void read_mask(const struct code *code, size_t mask, struct mined_body *out)
{
	for (size_t back = 1; back <= 6 && back <= mask; back++) {
		const struct code_insn *insn = &code->insns[mask - back];

		if (insn->flow != CODE_FALLS)
			return;
		if (insn->shape == CODE_TEST_MASK) {
			out->mask_disp = (uint64_t)insn->disp;
			out->mask_bit = insn->imm;
			return;
		}
	}
}

static bool is_cold_call(const struct mine_cold *cold, const struct code_insn *insn)
{
	for (size_t i = 0; i < cold->n; i++)
		if (insn->flow == CODE_CALL && insn->target == cold->addrs[i])
			return true;
	return false;
}

/* What is known of a register on the way from a mask site to the provider's call. */
struct value {
	enum {
		VALUE_UNKNOWN,
		VALUE_REG,   /* what register `reg` held at the mask site */
		VALUE_SLOT,  /* what the slot at `disp` held there */
		VALUE_FIELD, /* the word at `offset` behind one of the two */
	} kind;
	enum { FIELD_OF_REG, FIELD_OF_SLOT } of;
	uint8_t reg;
	int64_t disp;
	int64_t offset;
};

static struct value field_of(struct value base, int64_t offset)
{
	if (base.kind != VALUE_REG && base.kind != VALUE_SLOT)
		return (struct value){0};
	base.of = base.kind == VALUE_REG ? FIELD_OF_REG : FIELD_OF_SLOT;
	base.kind = VALUE_FIELD;
	base.offset = offset;
	return base;
}

static void evaluate(struct value regs[CODE_REG_SP], const struct code_insn *insn)
{
	struct value v = {0};

	if (insn->shape == CODE_MOVE64 && insn->base < CODE_REG_SP)
		v = regs[insn->base];
	else if (insn->shape == CODE_LOAD64 && insn->base == CODE_REG_SP)
		v = (struct value){.kind = VALUE_SLOT, .disp = insn->disp};
	else if (insn->shape == CODE_LOAD64 && insn->base < CODE_REG_SP)
		v = field_of(regs[insn->base], insn->disp);
	for (int r = 0; r < CODE_REG_SP; r++)
		if (insn->writes & 1u << r)
			regs[r] = (struct value){0};
	if (v.kind && insn->reg < CODE_REG_SP)
		regs[insn->reg] = v;
}

/* The function pointer that an indirect call goes through, if it is a field of a known place. */
static struct value callee(const struct value regs[CODE_REG_SP], const struct code_insn *insn)
{
	if (insn->shape == CODE_CALL_REG && insn->reg < CODE_REG_SP)
		return regs[insn->reg];
	if (insn->shape == CODE_CALL_MEM && insn->base < CODE_REG_SP)
		return field_of(regs[insn->base], insn->disp);
	return (struct value){0};
}

static struct mined_vtable vtable_of(struct value v)
{
	struct mined_vtable vt = no_vtable;

	if (v.kind != VALUE_FIELD || v.offset < 0 || v.offset > INT32_MAX || v.offset % 8)
		return vt;
	if (v.of == FIELD_OF_REG)
		vt.reg = v.reg;
	else if (v.disp < 0 || v.disp > INT32_MAX || v.disp % 8)
		return vt;
	else
		vt.slot = (int32_t)v.disp;
	vt.offset = (int32_t)v.offset;
	return vt;
}

/*
 * Breadth first from the mask site to the nearest call through a register or a field; every other
 * way there passes the same call or a direct call of the same provider.
 */
static size_t nearest_indirect_call(struct miner *m, size_t from, size_t *parent)
{
	const struct code *code = m->code;
	size_t *queue = parent + code->n, head = 0, tail = 0;

	for (size_t i = 0; i < code->n; i++)
		parent[i] = SIZE_MAX;
	queue[tail++] = from;
	parent[from] = from;
	while (head < tail) {
		size_t i = queue[head++], next[2] = {SIZE_MAX, SIZE_MAX};
		const struct code_insn *insn = &code->insns[i];

		if (insn->shape == CODE_CALL_REG || insn->shape == CODE_CALL_MEM)
			return i;
		if (insn->flow == CODE_JCC || insn->flow == CODE_JMP)
			next[0] = code__index(code, insn->target);
		if (insn->flow == CODE_FALLS || insn->flow == CODE_JCC || insn->flow == CODE_CALL ||
		    insn->flow == CODE_CALL_INDIRECT)
			next[1] = code__index(code, insn->addr + insn->size);
		for (int k = 0; k < 2; k++) {
			if (next[k] == SIZE_MAX || parent[next[k]] != SIZE_MAX)
				continue;
			parent[next[k]] = i;
			queue[tail++] = next[k];
		}
	}
	return SIZE_MAX;
}

static int find_vtable(struct miner *m, const struct guard *g, struct mined_vtable *out)
{
	struct value regs[CODE_REG_SP];
	size_t from = code__index(m->code, g->resume), call, n = 0;
	size_t *parent = calloc(2 * m->code->n + 1, sizeof(*parent));

	*out = no_vtable;
	if (!parent)
		return -ENOMEM;
	call = from == SIZE_MAX ? SIZE_MAX : nearest_indirect_call(m, from, parent);
	if (call != SIZE_MAX) {
		size_t *path = parent + m->code->n;

		/* The queue has served; it becomes the path, in reverse. */
		for (size_t i = call; i != from; i = parent[i])
			path[n++] = parent[i];
		for (uint8_t r = 0; r < CODE_REG_SP; r++)
			regs[r] = (struct value){.kind = VALUE_REG, .reg = r};
		while (n)
			evaluate(regs, &m->code->insns[path[--n]]);
		*out = vtable_of(callee(regs, &m->code->insns[call]));
	}
	free(parent);
	return 0;
}

static int mine_guard(struct miner *m, size_t call, struct mined_body *out)
{
	struct guard g;
	size_t before = out->n_ends;
	int err;

	if (!find_guard(m, call, &g) || !g.has_slot) {
		out->problem = "the branch to the profiler's cold side was not recognised";
		return 0;
	}
	read_mask(m->code, g.mask, out);
	err = add_site(out->masks, &out->n_masks, &m->code->insns[g.mask], no_id);
	if (!err && out->n_masks)
		err = find_vtable(m, &g, &out->masks[out->n_masks - 1].vtable);
	if (!err)
		err = find_ends(m, &g, out);
	if (!err && out->n_ends == before)
		out->problem = "no test of the guard was found after the provider";
	return err;
}

int mine_body(const struct elf_image *img, const struct code *code, uint64_t entry,
	      const struct mine_cold *cold, struct mined_body *out)
{
	struct miner m = {.img = img, .code = code};
	int err = miner_init(&m);

	*out = (struct mined_body){.frame = mine_frame(code, entry)};
	for (size_t i = 0; i < code->n && !err; i++)
		if (is_cold_call(cold, &code->insns[i]))
			err = mine_guard(&m, i, out);
	if (err == -E2BIG) {
		out->problem = "more sites than a query body can have";
		err = 0;
	}
	if (!err && !out->n_masks && !out->problem)
		out->problem = "no test of the profiler's event filter was found";
	miner_fini(&m);
	return err;
}

int32_t mine_frame(const struct code *code, uint64_t entry)
{
	int32_t frame = 0;

	for (size_t i = code__index(code, entry); i < code->n; i++) {
		if (code->insns[i].flow != CODE_FALLS)
			break;
		frame -= code->insns[i].sp_adjust;
	}
	return frame;
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
