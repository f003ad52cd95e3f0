// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/guards.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/mine/cold_sides.h"
#include "plan/mine/load_callers.h"
#include "plan/mine/owners.h"
#include "plan/mine/sites.h"
#include "plan/symbols/function_name.h"

/* ---- One guard ------------------------------------------------------------------------------- */

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
static void find_label(const struct flow_state *branch, const struct flow_state *cold,
		       struct mined_guard *g)
{
	const struct flow_slot *slot;
	int64_t at;

	if (!branch->has_sp || !on_stack(cold, WIRE_REG_DX, &at))
		return;
	slot = flow_state__slot(cold, at);
	if (slot && slot->value.kind == FLOW_STACK)
		at = slot->value.value;
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

#define LABEL_MAX 256
/* Guards in one function: 60 are the most seen. */
#define FUNCTION_MAX 1024

/* rustc's EventFilter, for names that do not contain the kind. */
static const struct {
	uint32_t filter;
	enum name_kind kind;
} filters[] = {
	{0x001, NAME_COLD_ACTIVITY}, {0x002, NAME_COLD_PROVIDER}, {0x008, NAME_COLD_BLOCKED},
	{0x010, NAME_COLD_LOAD},     {0x100, NAME_COLD_HASHING},  {0x200, NAME_COLD_ARTIFACT},
};

/* A guard while it is mined, beside its entry in the plan. */
struct draft {
	uint64_t addr; /* of its site, or 0 */
	size_t index;  /* of its site's instruction */
	uint32_t filter;
	size_t ends[WALK_MAX_ENDS];
};

/* The function whose guards are being mined. */
struct scene {
	const struct owner *owner;
	struct walk walk;
	struct fixpoint *flow;
	uint32_t body;	/* or PLAN_NONE */
	uint32_t scope; /* its number in the plan */
	uint32_t first; /* of its guards */
};

struct builder {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct plan *plan;
	const struct mined_body *mined;
	struct profiler profiler;
	struct cold_sides sides;
	struct owners owners;
	struct code code;
	struct draft *drafts; /* parallel to plan->guards */
	uint32_t cap_guards, cap_drafts;
	uint32_t *numbers; /* per scope: how many are in use */
	struct frame_drafts *frames;
};

static const struct {
	enum name_kind name;
	enum wire_kind kind;
} kinds[] = {
	{NAME_COLD_ACTIVITY, WIRE_KIND_ACTIVITY},
	{NAME_COLD_BLOCKED, WIRE_KIND_BLOCKED},
	{NAME_COLD_LOAD, WIRE_KIND_LOAD},
	{NAME_COLD_HASHING, WIRE_KIND_HASHING},
};

/* Add the last guard to the plan, which at once owns all that the guard owns. */
static int new_guard(struct builder *b, const struct scene *s, struct plan_guard **out)
{
	struct plan *plan = b->plan;

	if (array__reserve_one(&plan->guards, plan->n_guards, &b->cap_guards,
			       sizeof(*plan->guards)) ||
	    array__reserve_one(&b->drafts, plan->n_guards, &b->cap_drafts, sizeof(*b->drafts)))
		return -ENOMEM;
	b->drafts[plan->n_guards] = (struct draft){0};
	*out = &plan->guards[plan->n_guards++];
	**out = (struct plan_guard){.scope = s->scope, .body = s->body, .label_slot = PLAN_NO_SLOT};
	(*out)->function = function_path(s->owner->name);
	return (*out)->function ? 0 : -ENOMEM;
}

/* The first one stays. */
static int note_problem(struct plan_guard *g, const char *problem)
{
	if (g->problem)
		return 0;
	g->problem = strdup(problem);
	return g->problem ? 0 : -ENOMEM;
}

static int set_problem(struct plan_guard *g, const char *problem)
{
	g->exact = false;
	return note_problem(g, problem);
}

/* A label must be printable text; any other is treated as unknown. */
static bool is_text(const uint8_t *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] < ' ' || s[i] == 0x7f)
			return false;
	return true;
}

static int set_label(struct builder *b, const struct mined_guard *m, struct plan_guard *g)
{
	size_t len;
	const uint8_t *text = elf_image__bytes(b->img, m->label, &len);

	if (m->label_len && m->label_len <= LABEL_MAX && text && m->label_len <= len &&
	    is_text(text, m->label_len)) {
		g->label = strndup((const char *)text, m->label_len);
		return g->label ? 0 : -ENOMEM;
	}
	if (m->label_slot >= 0 && m->label_slot % 8 == 0 && m->label_slot <= PLAN_SLOT_MAX) {
		g->label_slot = (int32_t)m->label_slot;
		return 0;
	}
	return note_problem(g, "where its label is was not recognised");
}

static uint32_t only_query_of(const struct plan *plan, uint32_t body)
{
	for (uint32_t i = 0; plan->bodies[body].n_queries == 1 && i < plan->n_queries; i++)
		if (plan__serves(plan, &plan->queries[i], body))
			return i;
	return PLAN_NONE;
}

/* Find the vtable of the query at a site in a body that serves several queries. */
static bool find_vtable(struct builder *b, const struct scene *s, size_t i, struct plan_site *site)
{
	const struct mined_body *m = &b->mined[s->body];
	struct flow_state at;

	flow__at(s->flow, i, &at);
	for (size_t k = 0; k < m->n_masks; k++) {
		struct flow_value v = load_callers_vtable(&s->walk, s->flow, &m->masks[k]);
		struct mined_vtable vt;

		if ((v.kind != FLOW_ENTRY && v.kind != FLOW_FIELD) ||
		    !mined_vtable__place(&vt, &at, v, CODE_REGS))
			continue;
		site->reg = vt.reg;
		site->slot = vt.slot;
		site->vtable_offset = m->masks[k].vtable.offset;
		return true;
	}
	return false;
}

/* The query that a load or a wait is for. */
static int set_query(struct builder *b, const struct scene *s, size_t i, struct plan_guard *g,
		     struct plan_site *site)
{
	/* A function is named after its query, unless its symbols name another one as well. */
	if (s->body != PLAN_NONE)
		site->query = only_query_of(b->plan, s->body);
	else if (s->owner->n_names == 1)
		site->query = load_callers_named(b->plan, g->function);
	if (site->query != PLAN_NONE) {
		g->label = strdup(b->plan->queries[site->query].name);
		return g->label ? 0 : -ENOMEM;
	}
	g->label_of_query = s->body != PLAN_NONE && find_vtable(b, s, i, site);
	if (!g->label_of_query)
		return note_problem(g,
				    s->body != PLAN_NONE
					    ? "where the query's vtable is was not recognised"
					    : "it stands in a function that several queries share");
	site->role = WIRE_ROLE_GUARD_QUERY;
	return 0;
}

static struct plan_site blank_site(const struct scene *s, uint32_t guard, enum wire_role role,
				   const struct code_insn *insn)
{
	return (struct plan_site){
		.addr = insn->addr,
		.query = PLAN_NONE,
		.body = s->body,
		.guard = guard,
		.role = role,
		.cls = insn->emulated ? PLAN_EMULATED : PLAN_STEPPED,
		.reg = WIRE_REG_NONE,
		.slot = PLAN_NO_SLOT,
	};
}

/* `call` is the call of the cold side, and `to` the function that is called. */
static int set_argument(struct builder *b, const struct scene *s, const struct mined_guard *m,
			uint64_t call, uint64_t to, struct plan_guard *g)
{
	const struct cold_side *side = cold_sides__at(&b->sides, to);
	struct eval_function f = {
		.img = b->img,
		.entry = m->cold,
		.regions = s->owner->regions,
		.n_regions = s->owner->n_regions,
		.until = call,
	};

	g->has_argument = side;
	return side ? guard_argument(&f, side, m->addr, &g->source) : 0;
}

static int add_guard(struct builder *b, const struct scene *s, enum wire_kind kind,
		     const struct mined_guard *m, size_t call)
{
	const struct code_insn *insn = &b->code.insns[call];
	uint32_t i = b->plan->n_guards;
	struct plan_guard *g;
	struct plan_site site;
	int err = i - s->first < FUNCTION_MAX ? new_guard(b, s, &g) : -E2BIG;

	if (err)
		return err;
	g->kind = (uint8_t)kind;
	g->n_end = (uint32_t)m->n_ends;
	g->exact = !m->problem;
	b->drafts[i].addr = m->addr;
	b->drafts[i].index = m->index;
	b->drafts[i].filter = m->filter;
	memcpy(b->drafts[i].ends, m->ends, sizeof(m->ends));
	for (uint32_t k = m->first_frame; k < m->end_frame; k++)
		b->frames->items[k].guard = i;
	if (m->problem)
		err = set_problem(g, m->problem);
	if (err || !m->addr)
		return err;
	site = blank_site(s, i, WIRE_ROLE_GUARD, &s->walk.code->insns[m->index]);
	if (kind == WIRE_KIND_ACTIVITY)
		err = set_label(b, m, g)
			      ?: set_argument(b, s, m, insn->addr, profiler__callee(insn), g);
	else if (kind != WIRE_KIND_HASHING)
		err = set_query(b, s, m->index, g, &site);
	return err ?: sites_add(b->img, b->plan, site);
}

static int add_mined(struct builder *b, const struct scene *s, const struct profiler_cold *cold,
		     const struct mined_guard *m, size_t call)
{
	enum name_kind name = cold->kind;

	for (size_t i = 0; i < N_OF(filters); i++)
		if (cold->kind == NAME_COLD_UNKNOWN && filters[i].filter == m->filter)
			name = filters[i].kind;
	if (name == NAME_COLD_ARTIFACT)
		b->plan->n_artifacts++;
	/* Several calls may be of one guard. */
	for (uint32_t i = s->first; i < b->plan->n_guards; i++)
		if (m->addr && b->drafts[i].addr == m->addr)
			return 0;
	for (size_t i = 0; i < N_OF(kinds); i++)
		if (kinds[i].name == name)
			return add_guard(b, s, kinds[i].kind, m, call);
	return 0;
}

static bool share_an_end(const struct builder *b, uint32_t x, uint32_t y)
{
	for (uint32_t i = 0; i < b->plan->guards[x].n_end; i++)
		for (uint32_t k = 0; k < b->plan->guards[y].n_end; k++)
			if (b->drafts[x].ends[i] == b->drafts[y].ends[k])
				return true;
	return false;
}

/*
 * Guards that share an end share a number: only one of them runs at a time, and the end belongs to
 * the one that was started.
 */
static int set_numbers(struct builder *b, const struct scene *s)
{
	struct plan *plan = b->plan;
	uint32_t *used = &b->numbers[s->scope];

	for (uint32_t i = s->first; i < plan->n_guards; i++) {
		uint32_t number = 0;

		for (uint32_t k = s->first; k < i; k++) {
			if (!share_an_end(b, i, k))
				continue;
			/* This guard may join two that shared no end. */
			for (uint32_t j = s->first; number && j < i; j++)
				if (plan->guards[j].number == plan->guards[k].number)
					plan->guards[j].number = (uint8_t)number;
			number = plan->guards[k].number;
		}
		if (!number && *used == UINT8_MAX)
			return -E2BIG;
		plan->guards[i].number = (uint8_t)(number ?: ++*used);
	}
	return 0;
}

static int add_ends(struct builder *b, const struct scene *s)
{
	struct plan *plan = b->plan;
	uint32_t first = plan->n_sites;

	for (uint32_t i = s->first; i < plan->n_guards; i++)
		for (uint32_t k = 0; k < plan->guards[i].n_end; k++) {
			struct plan_site site = blank_site(s, i, WIRE_ROLE_GUARD_END,
							   &b->code.insns[b->drafts[i].ends[k]]);
			uint32_t same = first;
			int err;

			while (same < plan->n_sites && plan->sites[same].addr != site.addr)
				same++;
			err = same == plan->n_sites ? sites_add(b->img, plan, site) : 0;
			if (err)
				return err;
		}
	return 0;
}

struct asked {
	const struct builder *b;
	const struct scene *s;
};

/* True at instructions where mining needs the values of registers and slots, or at earlier ones. */
static bool is_asked(const void *arg, size_t i)
{
	const struct asked *a = arg;
	const struct code_insn *insn = &a->b->code.insns[i];
	const struct mined_body *m = a->s->body == PLAN_NONE ? NULL : &a->b->mined[a->s->body];
	uint64_t callee = profiler__callee(insn);

	for (size_t k = 0; m && k < m->n_masks; k++)
		if (m->masks[k].addr == insn->addr)
			return true;
	return callee && (profiler__cold(&a->b->profiler, callee) ||
			  profiler__drops(&a->b->profiler, callee));
}

static int mine_function(struct builder *b, struct scene *s)
{
	const struct profiler *p = &b->profiler;
	struct asked asked = {b, s};
	struct mine_guard m = {.walk = &s->walk, .profiler = p, .frames = b->frames};
	int err =
		code_decoder__decode(b->decoder, s->owner->regions, s->owner->n_regions, &b->code);

	if (err)
		return err;
	err = walk__init(&s->walk, b->img, &b->code, s->owner->entry);
	err = err ?: flow__new(&s->walk, s->owner->entry, is_asked, &asked, &s->flow);
	m.flow = s->flow;
	s->first = b->plan->n_guards;
	for (size_t i = 0; i < b->code.n && !err; i++) {
		uint64_t callee = s->walk.live[i] ? profiler__callee(&b->code.insns[i]) : 0;
		const struct profiler_cold *cold = callee ? profiler__cold(p, callee) : NULL;
		struct mined_guard found[MINED_BRANCHES_MAX];
		size_t n;

		if (!cold)
			continue;
		err = mine_guard(&m, i, found, &n);
		for (size_t k = 0; !err && k < n; k++)
			err = add_mined(b, s, cold, &found[k], i);
	}
	err = err ?: set_numbers(b, s) ?: add_ends(b, s);
	fixpoint__free(s->flow);
	walk__fini(&s->walk);
	return err;
}

static int mine_functions(struct builder *b)
{
	uint32_t scope = b->plan->n_bodies;
	int err = 0;

	b->numbers = calloc(b->plan->n_bodies + b->owners.n + 1, sizeof(*b->numbers));
	if (!b->numbers)
		return -ENOMEM;
	for (size_t i = 0; i < b->owners.n && !err; i++) {
		struct scene s = {.owner = &b->owners.items[i]};

		/* The guard in this function is probed as a timer. */
		if (s.owner->entry == b->profiler.timer)
			continue;
		s.body = plan__body_at(b->plan, s.owner->entry);
		s.scope = s.body != PLAN_NONE ? b->plan->bodies[s.body].group : scope++;
		err = mine_function(b, &s);
	}
	return err;
}

/* All guards of a kind test the same bits: the bits that most of them test. */
static int check_filters(struct builder *b)
{
	struct plan *plan = b->plan;

	for (size_t k = 0; k < WIRE_KIND_MAX; k++) {
		uint32_t n[16] = {0}, best = 0;

		for (uint32_t i = 0; i < plan->n_guards; i++)
			for (uint32_t bit = 0; plan->guards[i].kind == k && bit < 16; bit++)
				n[bit] += b->drafts[i].filter == 1u << bit;
		for (uint32_t bit = 1; bit < 16; bit++)
			best = n[bit] > n[best] ? bit : best;
		for (uint32_t i = 0; i < plan->n_guards; i++)
			if (plan->guards[i].kind == k && b->drafts[i].filter &&
			    b->drafts[i].filter != 1u << best &&
			    set_problem(&plan->guards[i],
					"it tests another bit of the event filter than others of "
					"its kind"))
				return -ENOMEM;
	}
	return 0;
}

/* The first emulated instruction after `entry`, unless one before it writes one of `regs`. */
static int add_timer_site(struct builder *b, uint64_t entry, enum wire_role role, uint32_t guard,
			  uint16_t regs)
{
	struct scene s = {.body = PLAN_NONE};
	struct mined_entry at;
	struct code_insn insn;
	struct plan_site site;
	int err = mine_entry(b->decoder, entry, &at);

	if (err)
		return err;
	for (uint64_t addr = entry; addr < at.addr; addr += insn.size)
		if (!code_decoder__at(b->decoder, addr, &insn) || (insn.writes & regs))
			at = (struct mined_entry){.addr = entry};
	if (!code_decoder__at(b->decoder, at.addr, &insn))
		return -EFAULT;
	site = blank_site(&s, guard, role, &insn);
	site.sp_delta = at.pushed + 8; /* and the return address */
	return sites_add(b->img, b->plan, site);
}

/* All timers are one guard in the plan: they start and end in functions of their own. */
static int add_timers(struct builder *b)
{
	const struct profiler_addrs *drops = &b->profiler.timer_drops;
	const uint16_t self = 1u << WIRE_REG_DI;
	struct owner owner = {.name = "SelfProfilerRef::verbose_generic_activity"};
	struct scene s = {.owner = &owner, .body = PLAN_NONE, .scope = WIRE_SCOPE_TIMER};
	uint32_t i = b->plan->n_guards;
	struct plan_guard *g;
	int err;

	if (!b->profiler.timer || !drops->n)
		return 0;
	err = new_guard(b, &s, &g);
	if (err)
		return err;
	err = add_timer_site(b, b->profiler.timer, WIRE_ROLE_TIMER, i,
			     self | 1u << WIRE_REG_DX | 1u << WIRE_REG_CX);
	if (err)
		return err;
	g->kind = WIRE_KIND_ACTIVITY;
	g->number = 1;
	for (size_t k = 0; k < drops->n; k++) {
		if (array__has_u64(drops->items, k, drops->items[k]))
			continue;
		g->n_end++;
		err = add_timer_site(b, drops->items[k], WIRE_ROLE_TIMER_END, i, self);
		if (err)
			return err;
	}
	return set_problem(g, "timers end where they are dropped, which is in functions that are "
			      "not followed");
}

/*
 * What the cold sides show of macros and their calls. It is no error if that is unknown: macros are
 * left out then. Without places a call would have none.
 */
static int add_expansions(struct builder *b)
{
	struct plan_layout *l = &b->plan->layout;

	b->plan->expansions = b->sides.expansions;
	if (b->sides.problem) {
		b->plan->expansions_problem = strdup(b->sides.problem);
		if (!b->plan->expansions_problem)
			return -ENOMEM;
	}
	if (!l->wire.places.known)
		return 0;
	l->wire.calls = b->sides.calls;
	if (!b->sides.calls_problem)
		return 0;
	l->calls_problem = strdup(b->sides.calls_problem);
	return l->calls_problem ? 0 : -ENOMEM;
}

int guards_add(struct elf_image *img, const struct known_symbols *known,
	       struct code_decoder *decoder, struct plan *plan, const struct mined_body *mined,
	       struct frame_drafts *frames)
{
	struct builder b = {
		.img = img,
		.decoder = decoder,
		.plan = plan,
		.mined = mined,
		.frames = frames,
	};
	int err = profiler__find(img, known, &b.profiler)
			  ?: cold_sides__find(img, plan->layout.wire.globals, &b.sides);

	err = err ?: add_expansions(&b);
	err = err ?: owners__find(img, b.profiler.calls.items, b.profiler.calls.n, &b.owners);
	err = err ?: mine_functions(&b);
	err = err ?: check_filters(&b);
	err = err ?: add_timers(&b);
	err = err ?: hash_callers_find(img, plan, mined, &b.owners);
	err = err ?: load_callers_find(img, decoder, plan, mined, &b.owners);
	sites_sort(plan);
	profiler__destroy(&b.profiler);
	cold_sides__destroy(&b.sides);
	owners__destroy(&b.owners);
	code__free(&b.code);
	free(b.drafts);
	free(b.numbers);
	return err;
}
