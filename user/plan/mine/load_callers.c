// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/load_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/code/scan.h"
#include "plan/symbols/function_name.h"

/* Instructions of a prologue. */
#define PROLOGUE_MAX 32

/* Where a called function keeps its caller's registers, at one of its instructions. */
struct frame {
	int64_t depth; /* from sp at that instruction up to the return address, bytes */
	int64_t saved[CODE_REG_SP]; /* bytes above sp at that instruction, or PLAN_NO_SLOT */
	bool kept[CODE_REG_SP];	    /* still in the register */
};

/* A GUARD site whose query has to be found. */
struct asked {
	uint32_t site;
	uint64_t entry; /* of its function */
	uint32_t body;	/* of the query that the function is named after, or PLAN_NONE */
	struct frame frame;
};

/* A call of a function that needs a query, in a function that a body calls. */
struct relay {
	uint64_t entry, callee;
	uint64_t ret; /* 0: it is a jump, and that function returns to the body */
	uint32_t body;
	struct frame frame;
};

/* A call in a body, of a function that may load. */
struct body_call {
	uint64_t target; /* or 0: through a register or memory */
	uint64_t ret;
	uint32_t body;
	struct mined_vtable vtable; /* in a register that calls preserve, or above sp at the call */
};

struct finder {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct plan *plan;
	const struct mined_body *mined;
	const struct owners *owners;
	struct code code;
	struct asked *asked;
	uint32_t n_asked, asked_capacity;
	struct relay *relays;
	uint32_t n_relays, relays_capacity;
	struct body_call *calls;
	uint32_t n_calls, calls_capacity;
	uint64_t *shared; /* entries that `asked` has without a body, sorted */
	uint32_t n_shared, shared_capacity;
	struct calls callers; /* of these functions */
	bool *bodies;	      /* by body of the plan: it may request a load of these */
	uint32_t steps_capacity;
};

struct flow_value load_callers_vtable(const struct walk *w, const struct fixpoint *flow,
				      const struct mined_site *mask)
{
	size_t i = code__index(w->code, mask->addr);
	struct flow_state at = {.reached = false};

	if (i != SIZE_MAX)
		flow__at(flow, i, &at);
	return mined_vtable__value(&mask->vtable, &at);
}

uint32_t load_callers_named(const struct plan *plan, const char *function)
{
	static const char module[] = "rustc_query_impl::query_impl::";
	const char *name = function + sizeof(module) - 1;

	if (strncmp(function, module, sizeof(module) - 1))
		return PLAN_NONE;
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		size_t len = strlen(plan->queries[i].name);

		if (!strncmp(name, plan->queries[i].name, len) && name[len] == ':')
			return i;
	}
	return PLAN_NONE;
}

/* The incremental body of the query that a function is named after. */
static int body_named(const struct plan *plan, const char *symbol, uint32_t *body)
{
	_free_ char *path = function_path(symbol);
	uint32_t query;

	if (!path)
		return -ENOMEM;
	query = load_callers_named(plan, path);
	*body = query == PLAN_NONE ? PLAN_NONE : plan->queries[query].body_incr;
	return 0;
}

/* ---- One function, and the known values at its calls ---- */

struct scene {
	const struct finder *f;
	const struct mined_body *mined; /* or NULL: it is no body */
	uint64_t at;			/* else the address whose state is needed */
	struct walk walk;
	struct fixpoint *flow;
};

/* It calls a function that holds a site which was asked for, or a relay; or something unknown. */
static bool may_load(const struct finder *f, const struct code_insn *insn)
{
	if (insn->flow != CODE_CALL)
		return insn->shape == CODE_CALL_REG || insn->shape == CODE_CALL_MEM;
	for (uint32_t i = 0; i < f->n_asked; i++)
		if (f->asked[i].entry == insn->target)
			return true;
	for (uint32_t i = 0; i < f->n_relays; i++)
		if (f->relays[i].entry == insn->target)
			return true;
	return false;
}

static bool is_wanted(const void *arg, size_t i)
{
	const struct scene *s = arg;
	const struct code_insn *insn = &s->f->code.insns[i];

	for (size_t k = 0; s->mined && k < s->mined->n_masks; k++)
		if (s->mined->masks[k].addr == insn->addr)
			return true;
	return s->mined ? may_load(s->f, insn) : insn->addr == s->at;
}

static int open_scene(struct finder *f, const struct owner *o, struct scene *s)
{
	int err = code_decoder__decode(f->decoder, o->regions, o->n_regions, &f->code);

	s->f = f;
	err = err ?: walk__init(&s->walk, f->img, &f->code, o->entry);
	return err ?: flow__new(&s->walk, o->entry, is_wanted, s, &s->flow);
}

static void close_scene(struct scene *s)
{
	fixpoint__free(s->flow);
	walk__fini(&s->walk);
}

/* Find where the prologue saves the caller's registers, in bytes below the return address. */
static int read_pushes(struct code_decoder *d, uint64_t entry, int64_t below[CODE_REG_SP])
{
	struct code_insn insn;
	uint16_t written = 0;
	int64_t sp = 0;

	for (int r = 0; r < CODE_REG_SP; r++)
		below[r] = 0;
	for (int n = 0; n < PROLOGUE_MAX; n++, entry += insn.size) {
		if (!code_decoder__at(d, entry, &insn))
			return n ? 0 : -EFAULT;
		sp -= insn.sp_adjust;
		if (insn.flow != CODE_FALLS ||
		    ((insn.writes & 1u << CODE_REG_SP) && !insn.sp_adjust))
			return 0;
		if (insn.shape == CODE_PUSH && insn.reg < CODE_REG_SP &&
		    !(written & 1u << insn.reg) && !below[insn.reg])
			below[insn.reg] = sp;
		written |= insn.writes;
	}
	return 0;
}

/* The frame of the function, at the instruction at `addr`; -ENODATA if it is unknown. */
static int read_frame(struct finder *f, const struct owner *o, uint64_t addr, struct frame *out)
{
	struct scene s = {.at = addr};
	int64_t below[CODE_REG_SP];
	struct flow_state at = {.reached = false};
	int err = open_scene(f, o, &s);
	size_t i = err ? SIZE_MAX : code__index(&f->code, addr);

	if (i != SIZE_MAX)
		flow__at(s.flow, i, &at);
	close_scene(&s);
	err = err ?: read_pushes(f->decoder, o->entry, below);
	if (!err && (!at.reached || !at.has_sp || at.sp > 0))
		err = -ENODATA;
	out->depth = -at.sp;
	for (int r = 0; r < CODE_REG_SP; r++) {
		out->kept[r] = at.regs[r].kind == FLOW_ENTRY && at.regs[r].value == r;
		out->saved[r] = below[r] ? out->depth - below[r] : PLAN_NO_SLOT;
	}
	return err;
}

/* ---- From the places that load to the bodies ---- */

static int find_asked(struct finder *f)
{
	const struct plan *plan = f->plan;

	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *site = &plan->sites[i];
		struct asked a = {.site = i};
		const struct owner *o;
		int err;

		if (site->role != WIRE_ROLE_GUARD || site->body != PLAN_NONE ||
		    plan->guards[site->guard].kind != WIRE_KIND_LOAD)
			continue;
		o = owners__at(f->owners, site->addr);
		if (!o)
			continue;
		a.entry = o->entry;
		err = body_named(plan, o->name, &a.body) ?: read_frame(f, o, site->addr, &a.frame);
		if (err == -ENODATA)
			continue;
		if (err || array__add(&f->asked, &f->n_asked, &f->asked_capacity, &a))
			return err ?: -ENOMEM;
		if (a.body != PLAN_NONE)
			f->bodies[a.body] = true;
	}
	return 0;
}

static int add_relay(struct finder *f, const struct owner *o, uint64_t addr, uint32_t body)
{
	struct relay r = {.entry = o->entry, .body = body};
	struct code_insn insn;
	int err;

	/* A match by bytes may lie within an instruction: then no path leads to it. */
	if (!code_decoder__at(f->decoder, addr, &insn) ||
	    (insn.flow != CODE_CALL && insn.flow != CODE_JMP))
		return 0;
	r.callee = insn.target;
	r.ret = insn.flow == CODE_CALL ? addr + insn.size : 0;
	err = read_frame(f, o, addr, &r.frame);
	if (err || (!r.ret && r.frame.depth))
		return err == -ENODATA ? 0 : err;
	return array__add(&f->relays, &f->n_relays, &f->relays_capacity, &r);
}

static int find_relays(struct finder *f)
{
	_owners_ struct owners owners = {NULL, 0};
	int err;

	for (uint32_t i = 0; i < f->n_asked; i++)
		if (f->asked[i].body == PLAN_NONE &&
		    array__add(&f->shared, &f->n_shared, &f->shared_capacity, &f->asked[i].entry))
			return -ENOMEM;
	if (f->n_shared)
		qsort(f->shared, f->n_shared, sizeof(*f->shared), array__by_u64);
	err = calls__find(f->img, f->shared, f->n_shared, sizeof(*f->shared), &f->callers);
	if (!err && f->callers.n)
		err = calls__owners(f->img, &f->callers, &owners);
	for (uint32_t i = 0; i < f->callers.n && !err; i++) {
		const struct owner *o = owners__at(&owners, f->callers.items[i].addr);
		uint32_t body = o ? plan__body_at(f->plan, o->entry) : PLAN_NONE;

		if (body != PLAN_NONE) {
			f->bodies[body] = true;
			continue;
		}
		err = o ? body_named(f->plan, o->name, &body) : 0;
		if (err || body == PLAN_NONE)
			continue;
		f->bodies[body] = true;
		err = add_relay(f, o, f->callers.items[i].addr, body);
	}
	return err;
}

/* The vtable must stay where it is while the call runs. */
static int add_call(struct finder *f, const struct scene *s, uint32_t body, size_t i)
{
	/* Registers that a function preserves (System V ABI). */
	const uint16_t kept = 1u << WIRE_REG_BX | 1u << WIRE_REG_BP | 1u << WIRE_REG_R12 |
			      1u << WIRE_REG_R13 | 1u << WIRE_REG_R14 | 1u << WIRE_REG_R15;
	const struct code_insn *insn = &f->code.insns[i];
	struct body_call c = {.ret = insn->addr + insn->size, .body = body};
	struct flow_state at;

	if (!s->walk.live[i] || !may_load(f, insn))
		return 0;
	c.target = insn->flow == CODE_CALL ? insn->target : 0;
	flow__at(s->flow, i, &at);
	for (size_t k = 0; k < s->mined->n_masks; k++) {
		const struct mined_site *mask = &s->mined->masks[k];
		struct flow_value v = load_callers_vtable(&s->walk, s->flow, mask);

		if (v.kind != FLOW_ENTRY || !at.has_sp ||
		    !mined_vtable__place(&c.vtable, &at, v, kept))
			continue;
		c.vtable.offset = mask->vtable.offset;
		return array__add(&f->calls, &f->n_calls, &f->calls_capacity, &c);
	}
	return 0;
}

static int find_calls(struct finder *f)
{
	for (uint32_t b = 0; b < f->plan->n_bodies; b++) {
		const struct owner *o =
			f->bodies[b] ? owners__at(f->owners, f->plan->bodies[b].addr) : NULL;
		struct scene s = {.mined = &f->mined[b]};
		int err;

		/* The search up the stack looks for a provider's address, not for a number. */
		if (!o || plan__has_numbers(f->plan, b))
			continue;
		err = open_scene(f, o, &s);
		for (size_t i = 0; i < f->code.n && !err; i++)
			err = add_call(f, &s, b, i);
		close_scene(&s);
		if (err)
			return err;
	}
	return 0;
}

/* ---- Steps ---- */

/* -EEXIST if the same return address would mean two things. */
static int add_step(struct finder *f, struct plan_step step)
{
	struct plan *plan = f->plan;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];

		if (s->guard == step.guard && s->addr == step.addr)
			return s->body == step.body && s->reg == step.reg && s->slot == step.slot &&
					       s->vtable_offset == step.vtable_offset
				       ? 0
				       : -EEXIST;
	}
	if (plan_step_excess(&step))
		return -EEXIST;
	return array__add(&plan->steps, &plan->n_steps, &f->steps_capacity, &step);
}

/*
 * Add the location of the vtable at a body's call, seen from the site. `frames` are the functions
 * called since, the site's own first. If the value is no longer in its register, one of them has
 * pushed it.
 */
static int add_vtable(struct finder *f, uint32_t guard, const struct body_call *c,
		      const struct frame *const *frames, int n)
{
	struct plan_step step = {
		.guard = guard,
		.addr = c->ret,
		.body = c->body,
		.reg = WIRE_REG_NONE,
		.slot = PLAN_NO_SLOT,
		.vtable_offset = c->vtable.offset,
	};
	int64_t up = 0;

	for (int i = 0; i < n; i++)
		up += frames[i]->depth + 8;
	if (c->vtable.reg == WIRE_REG_NONE) {
		step.slot = (int32_t)(up + c->vtable.slot);
		return add_step(f, step);
	}
	for (int i = n; i-- > 0;) {
		up -= frames[i]->depth + 8;
		if (frames[i]->kept[c->vtable.reg])
			continue;
		if (frames[i]->saved[c->vtable.reg] == PLAN_NO_SLOT)
			return 0;
		step.slot = (int32_t)(up + frames[i]->saved[c->vtable.reg]);
		return add_step(f, step);
	}
	step.reg = c->vtable.reg;
	return add_step(f, step);
}

static bool leads_to(const struct body_call *c, uint64_t entry, uint32_t body)
{
	return c->target ? c->target == entry : c->body == body;
}

/* From the bodies that call the site's function, and from those that call a relay to it. */
static int add_steps(struct finder *f, uint32_t guard, const struct asked *a)
{
	const struct frame *frames[2] = {&a->frame};
	int err = 0;

	for (uint32_t i = 0; i < f->n_calls && !err; i++)
		if (leads_to(&f->calls[i], a->entry, a->body))
			err = add_vtable(f, guard, &f->calls[i], frames, 1);
	for (uint32_t i = 0; i < f->n_relays && !err; i++) {
		const struct relay *r = &f->relays[i];
		struct plan_step next = {
			.guard = guard,
			.addr = r->ret,
			.body = PLAN_NONE,
			.reg = WIRE_REG_NONE,
			.slot = (int32_t)(a->frame.depth + 8 + r->frame.depth),
		};

		if (r->callee != a->entry)
			continue;
		frames[1] = &r->frame;
		err = r->ret ? add_step(f, next) : 0;
		for (uint32_t k = 0; k < f->n_calls && !err; k++)
			if (leads_to(&f->calls[k], r->entry, r->body))
				err = add_vtable(f, guard, &f->calls[k], frames, r->ret ? 2 : 1);
	}
	return err;
}

static int settle(struct finder *f, const struct asked *a)
{
	struct plan *plan = f->plan;
	struct plan_site *site = &plan->sites[a->site], called = *site;
	struct plan_guard *g = &plan->guards[site->guard];
	uint32_t first = plan->n_steps;
	bool finds_vtable = false;
	int err = add_steps(f, site->guard, a);

	if (err == -ENOMEM)
		return err;
	for (uint32_t i = first; i < plan->n_steps; i++)
		finds_vtable = finds_vtable || plan->steps[i].body != PLAN_NONE;
	called.role = WIRE_ROLE_GUARD_CALLED;
	called.query = PLAN_NONE;
	called.slot = (int32_t)a->frame.depth;
	if (err || !finds_vtable || plan_site_excess(&called)) {
		plan->n_steps = first;
		return 0;
	}
	*site = called;
	g->label_of_query = true;
	free(g->label);
	g->label = NULL;
	if (g->exact) {
		free(g->problem);
		g->problem = NULL;
	}
	return 0;
}

int load_callers_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		      const struct mined_body *mined, const struct owners *owners)
{
	struct finder f = {
		.img = img,
		.decoder = decoder,
		.plan = plan,
		.mined = mined,
		.owners = owners,
		.bodies = calloc(plan->n_bodies + 1UL, sizeof(*f.bodies)),
	};
	int err = f.bodies ? find_asked(&f) ?: find_relays(&f) ?: find_calls(&f) : -ENOMEM;

	for (uint32_t i = 0; i < f.n_asked && !err; i++)
		err = settle(&f, &f.asked[i]);
	code__free(&f.code);
	free(f.asked);
	free(f.relays);
	free(f.calls);
	free(f.shared);
	free(f.callers.items);
	free(f.bodies);
	return err;
}

/* ---- Hashing --------------------------------------------------------------------------------- */

/* The calls of some functions, and who makes them. */
struct called {
	struct calls calls;
	struct owners callers;
};

struct hash_finder {
	struct elf_image *img;
	const struct plan *plan;
	const struct mined_body *mined;
	const struct owners *owners;
	uint64_t *hashers; /* functions that hash results and are no bodies */
	uint32_t n_hashers, hashers_capacity;
	uint64_t *between; /* functions that call these, and that bodies call to run providers */
	uint32_t n_between, between_capacity;
	struct called of_hashers, of_between;
};

static bool hashes(const struct plan *plan, const struct plan_site *site)
{
	return site->role == WIRE_ROLE_GUARD && plan->guards[site->guard].kind == WIRE_KIND_HASHING;
}

/* The function that holds a site; 0 if that is a body. */
static uint64_t hasher_of(const struct hash_finder *f, const struct plan_site *site)
{
	const struct owner *o = site->body == PLAN_NONE ? owners__at(f->owners, site->addr) : NULL;

	return o ? o->entry : 0;
}

/* Sorts the functions. */
static int find_called(struct elf_image *img, uint64_t *targets, uint32_t n, struct called *c)
{
	if (n)
		qsort(targets, n, sizeof(*targets), array__by_u64);
	return calls__find(img, targets, n, sizeof(*targets), &c->calls)
		       ?: calls__owners(img, &c->calls, &c->callers);
}

static void called__destroy(struct called *c)
{
	free(c->calls.items);
	owners__destroy(&c->callers);
}

static bool is_body(const struct hash_finder *f, uint64_t entry)
{
	return plan__body_at(f->plan, entry) != PLAN_NONE;
}

/* True if all callers of `to` are as `is` says, and there is one. */
static bool only_called_by(const struct hash_finder *f, const struct called *c, uint64_t to,
			   bool (*is)(const struct hash_finder *f, uint64_t entry))
{
	bool called = false;

	for (uint32_t i = 0; i < c->calls.n; i++) {
		const struct owner *o;

		if (c->calls.items[i].to != to)
			continue;
		o = owners__at(&c->callers, c->calls.items[i].addr);
		if (!o || !is(f, o->entry))
			return false;
		called = true;
	}
	return called;
}

/* A body calls it to run its provider. */
static bool provides(const struct hash_finder *f, uint64_t entry)
{
	for (uint32_t b = 0; b < f->plan->n_bodies; b++)
		for (size_t i = 0; i < f->mined[b].n_calls; i++)
			if (f->mined[b].provides[i] && f->mined[b].calls[i] == entry)
				return true;
	return false;
}

static bool is_of_bodies(const struct hash_finder *f, uint64_t entry)
{
	return is_body(f, entry) || only_called_by(f, &f->of_between, entry, is_body);
}

static int settle_hashing(const struct hash_finder *f, const struct plan_site *site,
			  struct plan_guard *g)
{
	uint64_t hasher = hasher_of(f, site);

	g->label_of_query = !hasher || only_called_by(f, &f->of_hashers, hasher, is_of_bodies);
	if (g->label_of_query || g->problem)
		return 0;
	g->problem = strdup("not only bodies call the function: the result may be another query's, "
			    "which is fed, or no query's");
	return g->problem ? 0 : -ENOMEM;
}

int hash_callers_find(struct elf_image *img, struct plan *plan, const struct mined_body *mined,
		      const struct owners *owners)
{
	struct hash_finder f = {.img = img, .plan = plan, .mined = mined, .owners = owners};
	const struct owners *callers = &f.of_hashers.callers;
	int err = 0;

	for (uint32_t i = 0; i < plan->n_sites && !err; i++) {
		const struct plan_site *site = &plan->sites[i];
		uint64_t entry = hashes(plan, site) ? hasher_of(&f, site) : 0;

		if (entry && !array__has_u64(f.hashers, f.n_hashers, entry))
			err = array__add(&f.hashers, &f.n_hashers, &f.hashers_capacity, &entry);
	}
	err = err ?: find_called(img, f.hashers, f.n_hashers, &f.of_hashers);
	for (size_t i = 0; i < callers->n && !err; i++) {
		uint64_t entry = callers->items[i].entry;

		if (!is_body(&f, entry) && provides(&f, entry))
			err = array__add(&f.between, &f.n_between, &f.between_capacity, &entry);
	}
	err = err ?: find_called(img, f.between, f.n_between, &f.of_between);
	for (uint32_t i = 0; i < plan->n_sites && !err; i++)
		if (hashes(plan, &plan->sites[i]))
			err = settle_hashing(&f, &plan->sites[i],
					     &plan->guards[plan->sites[i].guard]);
	called__destroy(&f.of_hashers);
	called__destroy(&f.of_between);
	free(f.hashers);
	free(f.between);
	return err;
}
