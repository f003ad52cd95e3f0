// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/between.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/flow.h"
#include "plan/mine/owners.h"

/* Distances between a body and its providers may differ by as much: starts are looked for that much
 * further below. */
#define DIFFER_MAX 256

/* A function that a body calls, and that may call the provider. */
struct between_callee {
	uint64_t addr;
	int64_t *offsets; /* of the vtables' fields that it calls through */
	uint32_t n_offsets, capacity;
	uint32_t below; /* from its caller's sp down to its own; 0: not known */
};

struct search {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct code code;
	struct plan *plan;
	struct mined_body *mined;
	struct between_callee *callees; /* by address */
	size_t n_callees;
};

static struct between_callee *callee_at(const struct search *s, uint64_t addr)
{
	return s->n_callees ? bsearch(&addr, s->callees, s->n_callees, sizeof(*s->callees),
				      array__by_u64)
			    : NULL;
}

/*
 * From the sp of the function's caller down to its own; 0 if that is not known, or more than
 * PLAN_BETWEEN_MAX.
 */
static uint32_t depth_of(struct code_decoder *d, uint64_t entry)
{
	int frame = mine_frame(d, entry);

	return frame < 0 || frame % 8 || frame + 8 > PLAN_BETWEEN_MAX ? 0 : 8 + (uint32_t)frame;
}

static int look_into(struct search *s, const struct owner *f, struct between_callee *c)
{
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	for (size_t i = 0; i < s->code.n && !err; i++) {
		const struct code_insn *insn = &s->code.insns[i];

		if (insn->shape == CODE_CALL_MEM && insn->base < CODE_REG_SP)
			err = array__add(&c->offsets, &c->n_offsets, &c->capacity, &insn->disp);
	}
	c->below = depth_of(s->decoder, c->addr);
	return err == -EFAULT ? 0 : err;
}

/* The functions that the bodies call, each with what it calls through fields of vtables. */
static int find_callees(struct search *s)
{
	_owners_ struct owners owners = {0};
	_free_ uint64_t *addrs = NULL;
	size_t n = 0, most = 0;
	int err;

	for (uint32_t i = 0; i < s->plan->n_bodies; i++)
		most += s->mined[i].n_calls;
	addrs = calloc(most + 1, sizeof(*addrs));
	s->callees = calloc(most + 1, sizeof(*s->callees));
	if (!addrs || !s->callees)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->plan->n_bodies; i++)
		for (size_t k = 0; k < s->mined[i].n_calls; k++)
			addrs[n++] = s->mined[i].calls[k];
	if (!n)
		return 0;
	qsort(addrs, n, sizeof(*addrs), array__by_u64);
	for (size_t i = 0; i < n; i++)
		if (!i || addrs[i] != s->callees[s->n_callees - 1].addr)
			s->callees[s->n_callees++].addr = addrs[i];
	for (size_t i = 0; i < s->n_callees; i++)
		addrs[i] = s->callees[i].addr;

	err = owners__find(s->img, addrs, s->n_callees, &owners);
	for (size_t i = 0; i < owners.n && !err; i++) {
		struct between_callee *c = callee_at(s, owners.items[i].entry);

		if (c)
			err = look_into(s, &owners.items[i], c);
	}
	return err;
}

/*
 * The provider's place in the vtables of a group's queries, or -1: a body that is not incremental
 * calls nothing else through them.
 */
static int64_t provider_offset(const struct search *s, uint32_t group)
{
	for (uint32_t i = 0; i < s->plan->n_bodies; i++) {
		const struct mined_body *m = &s->mined[i];

		if (s->plan->bodies[i].group == group && !s->plan->bodies[i].incremental &&
		    (m->n_offsets || m->calls_others) && m->n_masks &&
		    m->masks[0].vtable.offset >= 0)
			return m->masks[0].vtable.offset;
	}
	return -1;
}

static bool has_offset(const int64_t *offsets, size_t n, int64_t offset)
{
	for (size_t i = 0; i < n; i++)
		if (offsets[i] == offset)
			return true;
	return false;
}

/* A function that a body calls through an address that was read elsewhere may be its provider. */
static bool calls_provider(const struct mined_body *m, int64_t offset)
{
	if (m->calls_others || (offset < 0 && m->n_offsets))
		return true;
	for (size_t i = 0; i < m->n_masks; i++)
		if (offset >= 0 && m->masks[i].vtable.offset == offset)
			return true;
	return has_offset(m->offsets, m->n_offsets, offset);
}

/*
 * The distance between a body and its provider; false if it is not known: nothing is found, or what
 * is found does not agree.
 */
static bool find_own(const struct search *s, uint32_t body, uint32_t *below)
{
	const struct mined_body *m = &s->mined[body];
	int64_t offset = provider_offset(s, s->plan->bodies[body].group);
	uint32_t least = UINT32_MAX, most = 0;

	*below = 0;
	if (!m->n_calls || calls_provider(m, offset))
		return true;
	for (size_t i = 0; i < m->n_calls && offset >= 0; i++) {
		const struct between_callee *c = callee_at(s, m->calls[i]);

		if (!has_offset(c->offsets, c->n_offsets, offset))
			continue;
		least = c->below < least ? c->below : least;
		most = c->below > most ? c->below : most;
	}
	*below = most;
	return most && least && most - least <= DIFFER_MAX && !m->more_calls;
}

/* The first problem of a body is the one that is told. */
static int set_problem(struct plan_body *b, struct mined_body *mined, const char *problem)
{
	if (mined->problem)
		return 0;
	mined->problem = problem;
	b->problem = strdup(problem);
	return b->problem ? 0 : -ENOMEM;
}

static int set_between(struct search *s, uint32_t body)
{
	struct plan_body *b = &s->plan->bodies[body];
	struct mined_body *m = &s->mined[body];
	int64_t offset = provider_offset(s, b->group);
	uint32_t outlined = plan__outlined(s->plan, body);
	uint32_t own, other = 0;
	bool known = find_own(s, body, &own);

	for (size_t i = 0; i < m->n_calls && offset >= 0; i++) {
		const struct between_callee *c = callee_at(s, m->calls[i]);

		m->provides[i] = has_offset(c->offsets, c->n_offsets, offset);
	}
	/* The way through the function that executes for the body leads to the provider, too. */
	if (outlined != PLAN_NONE) {
		uint32_t below, depth = depth_of(s->decoder, s->plan->bodies[outlined].addr);

		if (find_own(s, outlined, &below) && depth && depth + below <= PLAN_BETWEEN_MAX)
			other = depth + below;
		else
			known = false;
	}
	b->between = own > other ? own : other;
	/* Its ends are late, as no start is found that far below them. */
	return known ? 0 : set_problem(b, m, "what calls its provider is not known");
}

int between_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		 struct mined_body *mined)
{
	struct search s = {.img = img, .decoder = decoder, .plan = plan, .mined = mined};
	int err = find_callees(&s);

	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		err = set_between(&s, i);
	for (size_t i = 0; i < s.n_callees; i++)
		free(s.callees[i].offsets);
	free(s.callees);
	code__free(&s.code);
	return err;
}

/* ---- Functions that execute for a body ------------------------------------------------------- */

struct outlined_search {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct code code;
	struct plan *plan;
	struct mined_body *mined;
	bool *several;	      /* by body: it calls several bodies without queries */
	bool *foreign;	      /* by body: it executes for others than bodies that call it only */
	uint64_t *candidates; /* bodies without queries */
	size_t n_candidates;
};

static bool has_queries(const struct plan *plan, uint32_t body)
{
	return body != PLAN_NONE && plan->bodies[body].n_queries;
}

/* Note the bodies without queries that a function calls: a body, or a `foreign` function. */
static int outlined_look_into(struct outlined_search *s, const struct owner *f, bool foreign)
{
	uint32_t body = plan__body_at(s->plan, f->entry), *outlined;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	for (size_t i = 0; i < s->code.n && !err; i++) {
		uint64_t to = profiler__callee(&s->code.insns[i]);
		uint32_t called = to ? plan__body_at(s->plan, to) : PLAN_NONE;

		if (called == PLAN_NONE || called == body || has_queries(s->plan, called))
			continue;
		if (foreign) {
			s->foreign[called] = true;
			continue;
		}
		outlined = &s->plan->bodies[body].outlined;
		s->several[body] = s->several[body] || (*outlined && *outlined != called + 1);
		*outlined = called + 1;
	}
	return err == -EFAULT ? 0 : err;
}

static int find_called(struct outlined_search *s)
{
	_owners_ struct owners owners = {0};
	_free_ uint64_t *addrs = calloc(s->plan->n_bodies + 1UL, sizeof(*addrs));
	size_t n = 0;
	int err;

	if (!addrs)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->plan->n_bodies; i++)
		if (has_queries(s->plan, i))
			addrs[n++] = s->plan->bodies[i].addr;
	err = owners__find(s->img, addrs, n, &owners);
	for (size_t i = 0; i < owners.n && !err; i++)
		if (has_queries(s->plan, plan__body_at(s->plan, owners.items[i].entry)))
			err = outlined_look_into(s, &owners.items[i], false);
	return err;
}

static int find_foreign(struct outlined_search *s)
{
	_owners_ struct owners owners = {0};
	int err = callers__find(s->img, s->candidates, s->n_candidates, &owners);

	for (size_t i = 0; i < owners.n && !err; i++) {
		uint32_t body = plan__body_at(s->plan, owners.items[i].entry);

		if (!has_queries(s->plan, body) || s->several[body])
			err = outlined_look_into(s, &owners.items[i], true);
	}
	return err;
}

/* Executions of the body's queries are missed. */
static int outlined_give_up(struct outlined_search *s, uint32_t body, const char *problem)
{
	struct plan_body *b = &s->plan->bodies[body];

	b->outlined = 0;
	s->mined[body].masks_exact = false;
	return set_problem(b, &s->mined[body], problem);
}

static int judge(struct outlined_search *s, uint32_t body)
{
	struct plan *plan = s->plan;
	uint32_t called = plan__outlined(plan, body);

	if (called == PLAN_NONE)
		return 0;
	if (s->several[body])
		return outlined_give_up(s, body, "it calls several functions that execute queries");
	/* With a number, such a function itself shows which query it executes. */
	if (s->foreign[called] && !plan__has_numbers(plan, body))
		return outlined_give_up(
			s, body, "it calls a function that executes queries for others, too");
	plan->bodies[called].incremental = plan->bodies[body].incremental;
	return 0;
}

int outlined_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		  struct mined_body *mined)
{
	struct outlined_search s = {
		.img = img,
		.decoder = decoder,
		.plan = plan,
		.mined = mined,
		.several = calloc(plan->n_bodies + 1UL, sizeof(*s.several)),
		.foreign = calloc(plan->n_bodies + 1UL, sizeof(*s.foreign)),
		.candidates = calloc(plan->n_bodies + 1UL, sizeof(*s.candidates)),
	};
	int err = s.several && s.foreign && s.candidates ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		if (!has_queries(plan, i))
			s.candidates[s.n_candidates++] = plan->bodies[i].addr;
	if (s.n_candidates)
		err = find_called(&s) ?: find_foreign(&s);
	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		err = judge(&s, i);
	for (uint32_t i = 0; i < plan->n_queries && !err; i++) {
		const struct plan_query *q = &plan->queries[i];
		uint32_t first = plan__outlined(plan, q->body_non_incr);
		uint32_t second = plan__outlined(plan, q->body_incr);

		if (first != PLAN_NONE)
			plan->bodies[first].n_queries++;
		if (second != PLAN_NONE && second != first)
			plan->bodies[second].n_queries++;
	}
	code__free(&s.code);
	free(s.candidates);
	free(s.several);
	free(s.foreign);
	return err;
}

/* ---- Queries by the address or the number of their vtable ------------------------------------ */

/* Arguments on the stack that are looked at. */
#define STACK_MAX 8

/* The arguments of a function that are the vtable in all its calls: bits, those in registers first.
 */
struct arguments {
	bool called;
	uint32_t bits;
};

struct identify_search {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct code code;
	struct plan *plan;
	struct mined_body *mined;
	const struct query_numbers *numbers;
	struct arguments *vtables; /* by body */
};

/* A function with its flow. */
struct scene {
	const struct owner *owner;
	struct walk walk;
	struct fixpoint *flow;
};

/* Unknown unless there is one argument: of several, calls that are not seen may pass only one. */
static struct flow_value value_of(struct arguments a)
{
	int64_t i = a.bits ? __builtin_ctz(a.bits) : 0, n = CODE_ARGUMENTS;

	if (!a.bits || a.bits & (a.bits - 1))
		return (struct flow_value){0};
	if (i < n)
		return (struct flow_value){FLOW_ENTRY, code_arguments[i]};
	/* The call pushes the return address. */
	return (struct flow_value){FLOW_ARGUMENT, 8 * (i - n + 1)};
}

static bool same(struct flow_value a, struct flow_value b)
{
	return a.kind && a.kind == b.kind && a.value == b.value;
}

/* ---- What a call passes on ------------------------------------------------------------------- */

/* The arguments of the call before which `at` is that have the value. */
static uint32_t passed(const struct flow_state *at, struct flow_value v)
{
	uint32_t bits = 0, n = CODE_ARGUMENTS;

	for (uint32_t i = 0; i < n; i++)
		bits |= (uint32_t)same(at->regs[code_arguments[i]], v) << i;
	for (uint32_t i = 0; at->has_sp && i < STACK_MAX; i++) {
		const struct flow_slot *slot = flow_state__slot(at, at->sp + 8 * i);

		bits |= (uint32_t)(slot && same(slot->value, v)) << (n + i);
	}
	return bits;
}

/* In the calls of `body`, the vtable is `v`. */
static void note_calls(struct identify_search *s, const struct scene *f, uint32_t body,
		       struct flow_value v)
{
	struct arguments *a = &s->vtables[body];

	for (size_t i = 0; i < s->code.n; i++) {
		struct flow_state at;

		if (!f->walk.live[i] ||
		    profiler__callee(&s->code.insns[i]) != s->plan->bodies[body].addr)
			continue;
		flow__at(f->flow, i, &at);
		if (!at.reached)
			continue;
		a->bits = a->called ? a->bits & passed(&at, v) : passed(&at, v);
		a->called = true;
	}
}

static void place_masks(struct identify_search *s, const struct scene *f, struct mined_body *m,
			struct flow_value v)
{
	bool other = false;

	for (size_t k = 0; k < m->n_masks; k++) {
		struct mined_vtable *vt = &m->masks[k].vtable;
		size_t i = code__index(&s->code, m->masks[k].addr);
		struct flow_state at = {.reached = false};
		struct flow_value called;

		if (i != SIZE_MAX)
			flow__at(f->flow, i, &at);
		/* The value that the provider is called through behind the site, if it is known. */
		called = mined_vtable__value(vt, &at);
		other = other || (called.kind && !same(called, v));
		vt->offset = (int32_t)s->numbers->offset;
		if (vt->offset % 8 || !mined_vtable__place(vt, &at, v, CODE_REGS))
			*vt = vtable_none;
	}
	for (size_t k = 0; k < m->n_masks && other; k++)
		m->masks[k].vtable = vtable_none;
}

/* ---------------------------------------------------------------------------------------------- */

typedef void (*look_fn)(struct identify_search *s, const struct scene *f);

static int identify_look_into(struct identify_search *s, const struct owner *owner, look_fn look)
{
	struct scene f = {.owner = owner};
	int err = code_decoder__decode(s->decoder, owner->regions, owner->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	err = walk__init(&f.walk, s->img, &s->code, owner->entry);
	err = err ?: flow__new(&f.walk, owner->entry, NULL, NULL, &f.flow);
	if (!err)
		look(s, &f);
	fixpoint__free(f.flow);
	walk__fini(&f.walk);
	return err;
}

/* Each query's wrapper: the vtable is in its frame. */
static void look_at_wrapper(struct identify_search *s, const struct scene *f)
{
	const struct query_number *number = query_numbers__of(s->numbers, f->owner->entry);

	for (uint32_t i = 0; number && i < s->plan->n_queries; i++) {
		const struct plan_query *q = &s->plan->queries[i];
		struct flow_value v = {FLOW_STACK, number->vtable};
		uint32_t outlined = plan__outlined(s->plan, q->body_incr);

		if (q->wrapper_incr != f->owner->entry || q->body_incr == PLAN_NONE)
			continue;
		if (s->plan->bodies[q->body_incr].addr != f->owner->entry)
			note_calls(s, f, q->body_incr, v);
		else if (outlined != PLAN_NONE)
			note_calls(s, f, outlined, v);
	}
}

static void look_at_body(struct identify_search *s, const struct scene *f)
{
	uint32_t body = plan__body_at(s->plan, f->owner->entry);
	struct flow_value v = value_of(s->vtables[body]);
	uint32_t outlined = plan__outlined(s->plan, body);

	place_masks(s, f, &s->mined[body], v);
	if (outlined != PLAN_NONE && !query_numbers__of(s->numbers, f->owner->entry))
		note_calls(s, f, outlined, v);
}

static bool is_outlined(const struct plan *plan, uint32_t body)
{
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (plan__outlined(plan, i) == body)
			return true;
	return false;
}

/* First the bodies that others call, then what these call. */
static int look_at_bodies(struct identify_search *s, const struct owners *owners, bool outlined)
{
	int err = 0;

	for (size_t i = 0; i < owners->n && !err; i++) {
		uint32_t body = plan__body_at(s->plan, owners->items[i].entry);

		if (body != PLAN_NONE && is_outlined(s->plan, body) == outlined)
			err = identify_look_into(s, &owners->items[i], look_at_body);
	}
	return err;
}

int identify_by_number(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		       struct mined_body *mined, const struct query_numbers *numbers)
{
	uint32_t n = plan->n_bodies, n_addrs = 0;
	_free_ uint64_t *addrs = calloc(n + numbers->n + 1UL, sizeof(*addrs));
	_free_ struct arguments *vtables = calloc(n + 1UL, sizeof(*vtables));
	_owners_ struct owners owners = {0};
	struct identify_search s = {
		.img = img,
		.decoder = decoder,
		.plan = plan,
		.mined = mined,
		.numbers = numbers,
		.vtables = vtables,
	};
	int err;

	if (!addrs || !vtables)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		addrs[n_addrs++] = plan->bodies[i].addr;
	for (uint32_t i = 0; i < numbers->n; i++)
		addrs[n_addrs++] = numbers->items[i].wrapper;
	err = owners__find(img, addrs, n_addrs, &owners);
	for (size_t i = 0; i < owners.n && !err; i++)
		if (query_numbers__of(numbers, owners.items[i].entry))
			err = identify_look_into(&s, &owners.items[i], look_at_wrapper);
	err = err ?: look_at_bodies(&s, &owners, false) ?: look_at_bodies(&s, &owners, true);
	code__free(&s.code);

	/* A body whose queries do not all have numbers would show a wrong one. */
	for (uint32_t i = 0; i < plan->n_queries; i++)
		for (uint32_t b = 0; b < n; b++) {
			if (plan->queries[i].number || !plan__serves(plan, &plan->queries[i], b))
				continue;
			for (size_t k = 0; k < mined[b].n_masks; k++)
				mined[b].masks[k].vtable = vtable_none;
		}
	return err;
}

/* ---- Callers of providers -------------------------------------------------------------------- */

struct provider_callers_search {
	const struct plan *plan;
	struct code_decoder *decoder;
	struct code code;
	uint64_t *providers; /* by query */
	uint64_t *callers;   /* by query; 0: none yet */
	bool several;	     /* a provider has several, or one calls several */
};

/* Bytes that look like a call may be none, so the function is decoded. */
static int look_for_provider(struct provider_callers_search *s, const struct owner *f)
{
	uint64_t called = 0;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	for (size_t i = 0; i < s->code.n && !err && !s->several; i++) {
		uint64_t to = profiler__callee(&s->code.insns[i]);

		for (uint32_t q = 0; q < s->plan->n_queries && to; q++) {
			if (s->providers[q] != to)
				continue;
			s->several = s->several || (s->callers[q] && s->callers[q] != f->entry) ||
				     (called && called != to);
			s->callers[q] = f->entry;
			called = to;
		}
	}
	return err == -EFAULT ? 0 : err;
}

int provider_callers_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan)
{
	uint32_t n = plan->n_queries;
	_free_ uint64_t *addrs = calloc(n + 1UL, 2 * sizeof(*addrs));
	_owners_ struct owners owners = {0};
	struct provider_callers_search s = {.plan = plan, .decoder = decoder, .providers = addrs};
	int err;

	if (!addrs)
		return -ENOMEM;
	s.callers = addrs + n;
	for (uint32_t i = 0; i < n; i++) {
		s.providers[i] = plan->queries[i].provider;
		if (!s.providers[i])
			return 0;
	}
	err = callers__find(img, s.providers, n, &owners);
	for (size_t i = 0; i < owners.n && !err && !s.several; i++)
		if (!array__has_u64(s.providers, n, owners.items[i].entry))
			err = look_for_provider(&s, &owners.items[i]);
	code__free(&s.code);
	if (err || s.several || array__has_u64(s.callers, n, 0))
		return err;
	for (uint32_t i = 0; i < n; i++)
		plan->queries[i].provider_caller = s.callers[i];
	return 0;
}
