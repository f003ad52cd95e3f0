// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/hash_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/scan.h"

struct call {
	uint64_t addr;
	uint64_t to;
};

/* The calls of some functions, found by their bytes. */
struct calls {
	const uint64_t *targets;
	uint32_t n_targets;
	struct call *items;
	uint32_t n, capacity;
	struct owners callers;
};

struct finder {
	struct elf_image *img;
	const struct plan *plan;
	const struct mined_body *mined;
	const struct owners *owners;
	uint64_t *hashers; /* functions that hash results and are no bodies */
	uint32_t n_hashers, hashers_capacity;
	uint64_t *between; /* functions that call these, and that bodies call to run providers */
	uint32_t n_between, between_capacity;
	struct calls of_hashers, of_between;
};

static const struct owner *owner_of(const struct owners *owners, uint64_t addr)
{
	for (size_t i = 0; i < owners->n; i++) {
		const struct owner *o = &owners->items[i];

		for (size_t k = 0; k < o->n_regions; k++)
			if (addr - o->regions[k].addr < o->regions[k].size)
				return o;
	}
	return NULL;
}

static bool hashes(const struct plan *plan, const struct plan_site *site)
{
	return site->role == WIRE_ROLE_GUARD && plan->guards[site->guard].kind == WIRE_KIND_HASHING;
}

/* The function that holds a site; 0 if that is a body. */
static uint64_t hasher_of(const struct finder *f, const struct plan_site *site)
{
	const struct owner *o = site->body == PLAN_NONE ? owner_of(f->owners, site->addr) : NULL;

	return o ? o->entry : 0;
}

static int find_hashers(struct finder *f)
{
	int err = 0;

	for (uint32_t i = 0; i < f->plan->n_sites && !err; i++) {
		const struct plan_site *site = &f->plan->sites[i];
		uint64_t entry = hashes(f->plan, site) ? hasher_of(f, site) : 0;

		if (entry && !array__has_u64(f->hashers, f->n_hashers, entry))
			err = array__add(&f->hashers, &f->n_hashers, &f->hashers_capacity, &entry);
	}
	return err;
}

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct calls *c = arg;
	struct call call = {addr, to};

	return array__has_u64(c->targets, c->n_targets, to)
		       ? array__add(&c->items, &c->n, &c->capacity, &call)
		       : 0;
}

static int find_calls(struct elf_image *img, const uint64_t *targets, uint32_t n, struct calls *c)
{
	struct code_range range = {UINT64_MAX, 0};
	_free_ uint64_t *addrs = NULL;
	int err;

	c->targets = targets;
	c->n_targets = n;
	for (uint32_t i = 0; i < n; i++) {
		range.first = targets[i] < range.first ? targets[i] : range.first;
		range.last = targets[i] > range.last ? targets[i] : range.last;
	}
	err = n ? code_scan__calls(img, range, note_call, c) : 0;
	addrs = calloc(c->n + 1UL, sizeof(*addrs));
	if (err || !addrs)
		return err ?: -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		addrs[i] = c->items[i].addr;
	return owners__find(img, addrs, c->n, &c->callers);
}

static void calls__destroy(struct calls *c)
{
	free(c->items);
	owners__destroy(&c->callers);
}

static bool is_body(const struct finder *f, uint64_t entry)
{
	return plan__body_at(f->plan, entry) != PLAN_NONE;
}

/* True if all callers of `to` are as `is` says, and there is one. */
static bool only_called_by(const struct finder *f, const struct calls *c, uint64_t to,
			   bool (*is)(const struct finder *f, uint64_t entry))
{
	bool called = false;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct owner *o;

		if (c->items[i].to != to)
			continue;
		o = owner_of(&c->callers, c->items[i].addr);
		if (!o || !is(f, o->entry))
			return false;
		called = true;
	}
	return called;
}

/* A body calls it to run its provider. */
static bool provides(const struct finder *f, uint64_t entry)
{
	for (uint32_t b = 0; b < f->plan->n_bodies; b++)
		for (size_t i = 0; i < f->mined[b].n_calls; i++)
			if (f->mined[b].provides[i] && f->mined[b].calls[i] == entry)
				return true;
	return false;
}

static int find_between(struct finder *f)
{
	const struct owners *callers = &f->of_hashers.callers;
	int err = 0;

	for (size_t i = 0; i < callers->n && !err; i++)
		if (!is_body(f, callers->items[i].entry) && provides(f, callers->items[i].entry))
			err = array__add(&f->between, &f->n_between, &f->between_capacity,
					 &callers->items[i].entry);
	return err ?: find_calls(f->img, f->between, f->n_between, &f->of_between);
}

static bool is_of_bodies(const struct finder *f, uint64_t entry)
{
	return is_body(f, entry) || only_called_by(f, &f->of_between, entry, is_body);
}

static int settle(const struct finder *f, const struct plan_site *site, struct plan_guard *g)
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
	struct finder f = {.img = img, .plan = plan, .mined = mined, .owners = owners};
	int err = find_hashers(&f)
			  ?: find_calls(img, f.hashers, f.n_hashers, &f.of_hashers)
			  ?: find_between(&f);

	for (uint32_t i = 0; i < plan->n_sites && !err; i++)
		if (hashes(plan, &plan->sites[i]))
			err = settle(&f, &plan->sites[i], &plan->guards[plan->sites[i].guard]);
	calls__destroy(&f.of_hashers);
	calls__destroy(&f.of_between);
	free(f.hashers);
	free(f.between);
	return err;
}
