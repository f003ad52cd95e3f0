// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/body.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/code/walk.h"

/* ---- The vtable of a query ------------------------------------------------------------------- */

/* Stores to the stack that are remembered. */
#define STORES_MAX 16

const struct mined_vtable vtable_none = {WIRE_REG_NONE, VTABLE_NO_SLOT, -1};

/* The value of a register between the start and the provider's call. */
struct value {
	enum {
		VALUE_UNKNOWN,
		VALUE_REG,   /* the value of register `reg` at the start */
		VALUE_SLOT,  /* the value of the slot at `disp` at the start */
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

/* All known values at a point of that path. */
struct knowledge {
	struct value regs[CODE_REG_SP];
	struct {
		int64_t disp;
		struct value v;
	} stored[STORES_MAX]; /* to slots, since the start */
	size_t n_stored;
	bool lost; /* more stores than STORES_MAX were seen */
};

static struct value slot_value(const struct knowledge *k, int64_t disp)
{
	if (k->lost)
		return (struct value){0};
	for (size_t i = k->n_stored; i-- > 0;) {
		if (k->stored[i].disp == disp)
			return k->stored[i].v;
		if (k->stored[i].disp > disp - 8 && k->stored[i].disp < disp + 8)
			return (struct value){0};
	}
	return (struct value){.kind = VALUE_SLOT, .disp = disp};
}

static void evaluate(struct knowledge *k, const struct code_insn *insn)
{
	struct value v = {0};

	if (insn->shape == CODE_MOVE64 && insn->base < CODE_REG_SP) {
		v = k->regs[insn->base];
	} else if (insn->shape == CODE_LOAD64 && insn->base == CODE_REG_SP) {
		v = slot_value(k, insn->disp);
	} else if (insn->shape == CODE_LOAD64 && insn->base < CODE_REG_SP) {
		v = field_of(k->regs[insn->base], insn->disp);
	} else if (insn->shape == CODE_STORE64 && insn->base == CODE_REG_SP) {
		k->lost = k->lost || k->n_stored == STORES_MAX;
		if (!k->lost) {
			k->stored[k->n_stored].disp = insn->disp;
			k->stored[k->n_stored++].v =
				insn->reg < CODE_REG_SP ? k->regs[insn->reg] : (struct value){0};
		}
	}
	k->lost = k->lost || (insn->writes & 1u << CODE_REG_SP);
	for (int r = 0; r < CODE_REG_SP; r++)
		if (insn->writes & 1u << r)
			k->regs[r] = (struct value){0};
	if (v.kind && insn->reg < CODE_REG_SP)
		k->regs[insn->reg] = v;
}

/* The place of the vtable, if the pointer that an indirect call goes through is a field of one. */
static struct mined_vtable vtable_of(const struct knowledge *k, const struct code_insn *call)
{
	struct mined_vtable vt = vtable_none;
	struct value v = {0};

	if (call->shape == CODE_CALL_REG && call->reg < CODE_REG_SP)
		v = k->regs[call->reg];
	else if (call->shape == CODE_CALL_MEM && call->base < CODE_REG_SP)
		v = field_of(k->regs[call->base], call->disp);
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
 * Breadth first from the start to the nearest call through a register or a field; every other path
 * passes the same call, or a direct call of the same provider.
 */
static size_t nearest_indirect_call(const struct code *code, size_t from, size_t *parent)
{
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
		if (code_insn__goes_on(insn))
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

/* Where the vtable is at `from`, an address in `code`. Returns 0 or -ENOMEM. */
static int vtable_find(const struct code *code, uint64_t addr, struct mined_vtable *out)
{
	struct knowledge k = {.n_stored = 0};
	size_t from = code__index(code, addr), call, n = 0;
	_free_ size_t *parent = calloc(2 * code->n + 1, sizeof(*parent));
	size_t *path;

	*out = vtable_none;
	if (!parent)
		return -ENOMEM;
	path = parent + code->n;
	call = from == SIZE_MAX ? SIZE_MAX : nearest_indirect_call(code, from, parent);
	if (call == SIZE_MAX)
		return 0;
	/* The queue is no longer needed; its memory holds the path, in reverse. */
	for (size_t i = call; i != from; i = parent[i])
		path[n++] = parent[i];
	for (uint8_t r = 0; r < CODE_REG_SP; r++)
		k.regs[r] = (struct value){.kind = VALUE_REG, .reg = r};
	while (n)
		evaluate(&k, &code->insns[path[--n]]);
	*out = vtable_of(&k, &code->insns[call]);
	return 0;
}

struct flow_value mined_vtable__value(const struct mined_vtable *vt, const struct flow_state *at)
{
	const struct flow_slot *slot;

	if (!at->reached || vt->offset < 0)
		return (struct flow_value){0};
	if (vt->reg != WIRE_REG_NONE)
		return at->regs[vt->reg];
	slot = at->has_sp ? flow_state__slot(at, at->sp + vt->slot) : NULL;
	if (slot || !at->has_sp || at->spoiled)
		return slot ? slot->value : (struct flow_value){0};
	return (struct flow_value){FLOW_ARGUMENT, at->sp + vt->slot};
}

static bool set_slot(struct mined_vtable *vt, int64_t slot)
{
	if (slot < 0 || slot % 8 || slot > PLAN_SLOT_MAX)
		return false;
	vt->slot = (int32_t)slot;
	return true;
}

bool mined_vtable__place(struct mined_vtable *vt, const struct flow_state *at, struct flow_value v,
			 uint16_t regs)
{
	vt->reg = WIRE_REG_NONE;
	vt->slot = VTABLE_NO_SLOT;
	if (!at->reached || !v.kind)
		return false;
	for (uint8_t r = 0; r < CODE_REG_SP; r++)
		if (regs & 1u << r && at->regs[r].kind == v.kind && at->regs[r].value == v.value) {
			vt->reg = r;
			return true;
		}
	if (!at->has_sp)
		return false;
	if (v.kind == FLOW_ARGUMENT && !at->spoiled && set_slot(vt, v.value - at->sp))
		return true;
	for (uint32_t k = at->n_slots; k-- > 0;)
		if (at->slots[k].value.kind == v.kind && at->slots[k].value.value == v.value &&
		    set_slot(vt, at->slots[k].at - at->sp))
			return true;
	return false;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Instructions of a prologue before the first branch or call. */
#define PROLOGUE_REACH 64

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

		if (insn->reg == CODE_REG_SP || insn->base != CODE_REG_SP)
			continue;
		if ((insn->shape == CODE_LEA && insn->disp == disp) ||
		    (insn->shape == CODE_MOVE64 && !disp))
			return true;
	}
	return false;
}

/*
 * The invocation id at an END site: it was stored to a u32 slot just before, whose address is
 * taken for the guard's finish. The register that it was stored from still holds it, unless an
 * instruction has written that register since, or another path stores it from another register.
 */
static struct mined_id find_id(const struct walk *w, size_t end)
{
	const struct code *code = w->code;
	bool joined = false;
	uint16_t written = 0;

	for (size_t back = 1; back <= WALK_NEAR && back <= end; back++) {
		const struct code_insn *insn = &code->insns[end - back];

		if (insn->flow != CODE_FALLS)
			break;
		joined = joined || walk__is_branched_to(w, end - back + 1);
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

/* A body that is being mined. */
struct body_miner {
	const struct mine_cold *cold;
	struct frame_drafts *frames; /* or NULL */
	uint64_t entry;
	struct mined_body *out;
};

/* Note the calls among the instructions that the last walk__ends() reached. */
static void note_calls(const struct walk *w, struct mined_body *out)
{
	for (size_t i = 0; i < w->code->n; i++) {
		const struct code_insn *insn = &w->code->insns[i];

		if (!w->seen[i])
			continue;
		if (insn->flow == CODE_CALL) {
			if (array__has_u64(out->calls, out->n_calls, insn->target))
				continue;
			if (out->n_calls == MINE_MAX_CALLS)
				out->more_calls = true;
			else
				out->calls[out->n_calls++] = insn->target;
		} else if (insn->shape == CODE_CALL_MEM && insn->base < CODE_REG_SP &&
			   out->n_offsets < MINE_MAX_SITES) {
			out->offsets[out->n_offsets++] = insn->disp;
		} else if (insn->shape == CODE_CALL_MEM || insn->shape == CODE_CALL_REG) {
			out->calls_others = true;
		}
	}
}

static int add_guard(struct walk *w, const struct walk_guard *g, struct body_miner *m)
{
	const struct code_insn *test = walk__mask_test(w->code, g->mask);
	struct walk_ends ends = {.n = 0};
	struct mined_body *out = m->out;
	size_t before = out->n_masks;
	int err;

	if (test)
		out->mask_disp = (uint64_t)test->disp;
	err = add_site(out->masks, &out->n_masks, &w->code->insns[g->mask], no_id);
	if (!err && out->n_masks > before)
		err = vtable_find(w->code, g->resume, &out->masks[before].vtable);
	if (err)
		return err;

	err = walk__ends(w, g->resume, g->slot, &ends);
	err = err ?: frame_drafts__runs(m->frames, w, m->entry);
	note_calls(w, out);
	for (size_t i = 0; i < ends.n && !err; i++)
		err = add_site(out->ends, &out->n_ends, &w->code->insns[ends.at[i]],
			       find_id(w, ends.at[i]));
	if (ends.problem)
		out->problem = ends.problem;
	else if (!ends.n && !out->problem)
		out->problem = "no test of the guard was found after the provider";
	return err;
}

static bool is_query(const struct walk *w, const struct walk_guard *g)
{
	const struct code_insn *test = walk__mask_test(w->code, g->mask);

	return test && test->imm == MINE_QUERY_PROVIDERS;
}

static int mine_guard(struct walk *w, size_t call, struct body_miner *m)
{
	struct walk_guard guards[MINE_MAX_SITES];
	bool any_kind = m->cold->any_kind;
	size_t n, queries = 0;
	int err = 0;

	if (walk__guard(w, call, &guards[0])) {
		if (!any_kind || is_query(w, &guards[0]))
			return add_guard(w, &guards[0], m);
		if (walk__mask_test(w->code, guards[0].mask))
			return 0;
		m->out->problem = "the test of the profiler's event filter was not recognised";
		m->out->masks_exact = false;
		return 0;
	}

	/* Several branches lead to the cold side's call: all must be seen to be a query's. */
	n = walk__guards(w, call, guards, N_OF(guards));
	for (size_t i = 0; i < n; i++)
		queries += is_query(w, &guards[i]);
	if (!n || queries < n) {
		m->out->problem = "the branch to the profiler's cold side was not recognised";
		m->out->masks_exact = false;
		return 0;
	}
	for (size_t i = 0; i < n && !err; i++)
		err = add_guard(w, &guards[i], m);
	return err;
}

int mine_body(const struct elf_image *img, const struct code *code, uint64_t entry,
	      const struct mine_cold *cold, struct frame_drafts *frames, struct mined_body *out)
{
	struct body_miner m = {cold, frames, entry, out};
	struct walk w;
	int err = walk__init(&w, img, code, entry);

	*out = (struct mined_body){.masks_exact = true};
	for (size_t i = 0; i < code->n && !err; i++)
		if (w.live[i] && code->insns[i].flow == CODE_CALL &&
		    array__has_u64(cold->addrs, cold->n, code->insns[i].target))
			err = mine_guard(&w, i, &m);
	if (err == -E2BIG) {
		out->problem = "more sites than a query body can have";
		out->masks_exact = false;
		err = 0;
	}
	if (!err && !out->n_masks && !out->problem)
		out->problem = "no test of the profiler's event filter was found";
	walk__fini(&w);
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
	for (int steps = 0; steps < 2 * WALK_NEAR; steps++) {
		/* A loop reaches a site more than once. */
		if ((insn.flow == CODE_JCC || insn.flow == CODE_JMP) && insn.target >= entry &&
		    insn.target <= addr)
			return 0;
		if (insn.emulated) {
			*out = (struct mined_entry){addr, pushed, true};
			return 0;
		}
		/*
		 * Past `and $-32, %rsp` the distance from the entry is unknown; past any other
		 * write of sp, sp_adjust has it.
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
	for (int steps = 0; steps < PROLOGUE_REACH && insn.flow == CODE_FALLS; steps++) {
		if ((insn.writes & 1u << CODE_REG_SP) && !insn.sp_adjust)
			return -ENOTSUP;
		frame -= insn.sp_adjust;
		addr += insn.size;
		if (!code_decoder__at(d, addr, &insn))
			return -EFAULT;
	}
	return frame >= 0 ? frame : -ENOTSUP;
}
