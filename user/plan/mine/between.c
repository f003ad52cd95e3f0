// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/between.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/mine/owners.h"

/* Distances between a body and its providers may differ by as much: starts are looked for that much
 * further below. */
#define DIFFER_MAX 256

/* A function that a body calls, and that may call the provider. */
struct callee {
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
	struct callee *callees; /* by address */
	size_t n_callees;
};

static int collect(struct search *s)
{
	_free_ uint64_t *addrs = NULL;
	size_t n = 0, most = 0;

	for (uint32_t i = 0; i < s->plan->n_bodies; i++)
		most += s->mined[i].n_calls;
	addrs = calloc(most + 1, sizeof(*addrs));
	s->callees = calloc(most + 1, sizeof(*s->callees));
	if (!addrs || !s->callees)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->plan->n_bodies; i++)
		for (size_t k = 0; k < s->mined[i].n_calls; k++)
			addrs[n++] = s->mined[i].calls[k];
	qsort(addrs, n, sizeof(*addrs), array__by_u64);
	for (size_t i = 0; i < n; i++)
		if (!i || addrs[i] != addrs[i - 1])
			s->callees[s->n_callees++].addr = addrs[i];
	return 0;
}

static const struct callee *callee_at(const struct search *s, uint64_t addr)
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

static int look_into(struct search *s, const struct owner *f, struct callee *c)
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

static int look_into_all(struct search *s)
{
	_owners_ struct owners owners = {0};
	_free_ uint64_t *addrs = calloc(s->n_callees + 1, sizeof(*addrs));
	int err;

	if (!addrs)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_callees; i++)
		addrs[i] = s->callees[i].addr;
	err = owners__find(s->img, addrs, s->n_callees, &owners);
	for (size_t i = 0; i < owners.n && !err; i++) {
		const struct callee *c = callee_at(s, owners.items[i].entry);

		if (c)
			err = look_into(s, &owners.items[i], &s->callees[c - s->callees]);
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

/* False if nothing is found, or what is found does not agree. */
static bool find_below(const struct search *s, const struct mined_body *m, int64_t offset,
		       uint32_t *below)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (size_t i = 0; i < m->n_calls && offset >= 0; i++) {
		const struct callee *c = callee_at(s, m->calls[i]);

		if (!has_offset(c->offsets, c->n_offsets, offset))
			continue;
		least = c->below < least ? c->below : least;
		most = c->below > most ? c->below : most;
	}
	*below = most;
	return most && least && most - least <= DIFFER_MAX && !m->more_calls;
}

/* The distance between a body and its provider; false if it is not known. */
static bool find_own(const struct search *s, uint32_t body, uint32_t *below)
{
	const struct mined_body *m = &s->mined[body];
	int64_t offset = provider_offset(s, s->plan->bodies[body].group);

	*below = 0;
	return !m->n_calls || calls_provider(m, offset) || find_below(s, m, offset, below);
}

static void mark_calls(const struct search *s, uint32_t body)
{
	struct mined_body *m = &s->mined[body];
	int64_t offset = provider_offset(s, s->plan->bodies[body].group);

	for (size_t i = 0; i < m->n_calls && offset >= 0; i++) {
		const struct callee *c = callee_at(s, m->calls[i]);

		m->provides[i] = has_offset(c->offsets, c->n_offsets, offset);
	}
}

/* The way through the function that executes for a body leads to the provider, too. */
static bool find_other(const struct search *s, uint32_t outlined, uint32_t *below)
{
	uint32_t own, depth = depth_of(s->decoder, s->plan->bodies[outlined].addr);
	bool known = find_own(s, outlined, &own) && depth && depth + own <= PLAN_BETWEEN_MAX;

	*below = known ? depth + own : 0;
	return known;
}

/* Its ends are late, as no start is found that far below them. */
static int give_up(struct search *s, uint32_t body)
{
	static const char problem[] = "what calls its provider is not known";
	struct plan_body *b = &s->plan->bodies[body];

	if (s->mined[body].problem)
		return 0;
	s->mined[body].problem = problem;
	b->problem = strdup(problem);
	return b->problem ? 0 : -ENOMEM;
}

static int set_between(struct search *s, uint32_t body)
{
	uint32_t outlined = plan__outlined(s->plan, body);
	uint32_t own, other = 0;
	bool known = find_own(s, body, &own);

	mark_calls(s, body);
	if (outlined != PLAN_NONE)
		known = find_other(s, outlined, &other) && known;
	s->plan->bodies[body].between = own > other ? own : other;
	return known ? 0 : give_up(s, body);
}

int between_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		 struct mined_body *mined)
{
	struct search s = {.img = img, .decoder = decoder, .plan = plan, .mined = mined};
	int err = collect(&s);

	if (!err && s.n_callees)
		err = look_into_all(&s);
	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		err = set_between(&s, i);
	for (size_t i = 0; i < s.n_callees; i++)
		free(s.callees[i].offsets);
	free(s.callees);
	code__free(&s.code);
	return err;
}
