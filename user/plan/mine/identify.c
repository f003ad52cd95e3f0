// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/identify.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/code/flow.h"
#include "plan/code/registers.h"
#include "plan/mine/owners.h"
#include "plan/mine/profiler.h"

/* Arguments on the stack that are looked at. */
#define STACK_MAX 8

/* The arguments of a function that are the vtable in all its calls: bits, those in registers first.
 */
struct arguments {
	bool called;
	uint32_t bits;
};

struct search {
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
	struct flow *flow;
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

static void note_call(struct arguments *a, uint32_t bits)
{
	a->bits = a->called ? a->bits & bits : bits;
	a->called = true;
}

/* In the calls of `body`, the vtable is `v`. */
static void note_calls(struct search *s, const struct scene *f, uint32_t body, struct flow_value v)
{
	for (size_t i = 0; i < s->code.n; i++) {
		struct flow_state at;

		if (!f->walk.live[i] ||
		    profiler__callee(&s->code.insns[i]) != s->plan->bodies[body].addr)
			continue;
		flow__at(f->flow, i, &at);
		if (at.reached)
			note_call(&s->vtables[body], passed(&at, v));
	}
}

/* ---- Where it is at a mask site -------------------------------------------------------------- */

static struct mined_vtable place_of(const struct flow_state *at, struct flow_value v,
				    uint32_t offset)
{
	struct mined_vtable vt = {WIRE_REG_NONE, VTABLE_NO_SLOT, (int32_t)offset};
	int64_t slot = v.value - at->sp;

	if (!at->reached || !v.kind || offset % 8)
		return vtable_none;
	for (uint8_t r = 0; r < CODE_REG_SP; r++)
		if (same(at->regs[r], v)) {
			vt.reg = r;
			return vt;
		}
	if (!at->has_sp)
		return vtable_none;
	if (v.kind == FLOW_ARGUMENT && !at->spoiled && slot % 8 == 0) {
		vt.slot = (int32_t)slot;
		return vt;
	}
	for (uint32_t k = at->n_slots; k-- > 0;) {
		slot = at->slots[k].at - at->sp;
		if (!same(at->slots[k].value, v) || slot < 0 || slot % 8)
			continue;
		vt.slot = (int32_t)slot;
		return vt;
	}
	return vtable_none;
}

/* The value through which the provider is called behind the mask site, if that is known. */
static struct flow_value called_through(const struct flow_state *at, const struct mined_vtable *vt)
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

static void place_masks(struct search *s, const struct scene *f, struct mined_body *m,
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
		called = called_through(&at, vt);
		other = other || (called.kind && !same(called, v));
		*vt = place_of(&at, v, s->numbers->offset);
	}
	for (size_t k = 0; k < m->n_masks && other; k++)
		m->masks[k].vtable = vtable_none;
}

/* ---------------------------------------------------------------------------------------------- */

typedef void (*look_fn)(struct search *s, const struct scene *f);

static int look_into(struct search *s, const struct owner *owner, look_fn look)
{
	struct scene f = {.owner = owner};
	int err = code_decoder__decode(s->decoder, owner->regions, owner->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	err = walk__init(&f.walk, s->img, &s->code, owner->entry);
	err = err ?: flow__new(&f.walk, owner->entry, NULL, NULL, &f.flow);
	if (!err)
		look(s, &f);
	flow__free(f.flow);
	walk__fini(&f.walk);
	return err;
}

/* Each query's wrapper: the vtable is in its frame. */
static void look_at_wrapper(struct search *s, const struct scene *f)
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

static void look_at_body(struct search *s, const struct scene *f)
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
static int look_at_bodies(struct search *s, const struct owners *owners, bool outlined)
{
	int err = 0;

	for (size_t i = 0; i < owners->n && !err; i++) {
		uint32_t body = plan__body_at(s->plan, owners->items[i].entry);

		if (body != PLAN_NONE && is_outlined(s->plan, body) == outlined)
			err = look_into(s, &owners->items[i], look_at_body);
	}
	return err;
}

static int look_at_wrappers(struct search *s, const struct owners *owners)
{
	int err = 0;

	for (size_t i = 0; i < owners->n && !err; i++)
		if (query_numbers__of(s->numbers, owners->items[i].entry))
			err = look_into(s, &owners->items[i], look_at_wrapper);
	return err;
}

/* A body whose queries do not all have numbers would show a wrong one. */
static void forget_unnumbered(struct search *s)
{
	for (uint32_t i = 0; i < s->plan->n_queries; i++)
		for (uint32_t b = 0; b < s->plan->n_bodies; b++) {
			struct mined_body *m = &s->mined[b];

			if (s->plan->queries[i].number ||
			    !plan__serves(s->plan, &s->plan->queries[i], b))
				continue;
			for (size_t k = 0; k < m->n_masks; k++)
				m->masks[k].vtable = vtable_none;
		}
}

static int find(struct search *s)
{
	uint32_t n = s->plan->n_bodies, n_addrs = 0;
	_free_ uint64_t *addrs = calloc(n + s->numbers->n + 1UL, sizeof(*addrs));
	_free_ struct arguments *vtables = calloc(n + 1UL, sizeof(*vtables));
	_owners_ struct owners owners = {0};
	int err;

	if (!addrs || !vtables)
		return -ENOMEM;
	s->vtables = vtables;
	for (uint32_t i = 0; i < n; i++)
		addrs[n_addrs++] = s->plan->bodies[i].addr;
	for (uint32_t i = 0; i < s->numbers->n; i++)
		addrs[n_addrs++] = s->numbers->items[i].wrapper;
	err = owners__find(s->img, addrs, n_addrs, &owners);
	err = err ?: look_at_wrappers(s, &owners) ?: look_at_bodies(s, &owners, false)
		       ?: look_at_bodies(s, &owners, true);
	forget_unnumbered(s);
	return err;
}

int identify_by_number(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		       struct mined_body *mined, const struct query_numbers *numbers)
{
	struct search s = {
		.img = img, .decoder = decoder, .plan = plan, .mined = mined, .numbers = numbers};
	int err = find(&s);

	code__free(&s.code);
	return err;
}
