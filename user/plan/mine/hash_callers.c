// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/hash_callers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/code/scan.h"

struct call {
	uint64_t addr;
	uint64_t to;
};

struct finder {
	const struct plan *plan;
	const struct owners *owners;
	uint64_t *hashers; /* functions that hash results and are no bodies */
	uint32_t n_hashers, hashers_capacity;
	struct call *calls; /* of these, found by their bytes */
	uint32_t n_calls, calls_capacity;
	struct owners callers;
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
	struct finder *f = arg;
	struct call call = {addr, to};

	return array__has_u64(f->hashers, f->n_hashers, to)
		       ? array__add(&f->calls, &f->n_calls, &f->calls_capacity, &call)
		       : 0;
}

static int find_callers(struct elf_image *img, struct finder *f)
{
	struct code_range range = {UINT64_MAX, 0};
	_free_ uint64_t *addrs = NULL;
	int err;

	for (uint32_t i = 0; i < f->n_hashers; i++) {
		range.first = f->hashers[i] < range.first ? f->hashers[i] : range.first;
		range.last = f->hashers[i] > range.last ? f->hashers[i] : range.last;
	}
	err = f->n_hashers ? code_scan__calls(img, range, note_call, f) : 0;
	addrs = calloc(f->n_calls + 1UL, sizeof(*addrs));
	if (err || !addrs)
		return err ?: -ENOMEM;
	for (uint32_t i = 0; i < f->n_calls; i++)
		addrs[i] = f->calls[i].addr;
	return owners__find(img, addrs, f->n_calls, &f->callers);
}

/* Only bodies call it, and at least one does. */
static bool is_of_bodies(const struct finder *f, uint64_t hasher)
{
	bool called = false;

	for (uint32_t i = 0; i < f->n_calls; i++) {
		const struct owner *o;

		if (f->calls[i].to != hasher)
			continue;
		o = owner_of(&f->callers, f->calls[i].addr);
		if (!o || plan__body_at(f->plan, o->entry) == PLAN_NONE)
			return false;
		called = true;
	}
	return called;
}

int hash_callers_find(struct elf_image *img, struct plan *plan, const struct owners *owners)
{
	struct finder f = {.plan = plan, .owners = owners};
	int err = find_hashers(&f) ?: find_callers(img, &f);

	for (uint32_t i = 0; i < plan->n_sites && !err; i++) {
		const struct plan_site *site = &plan->sites[i];
		uint64_t hasher;

		if (!hashes(plan, site))
			continue;
		hasher = hasher_of(&f, site);
		plan->guards[site->guard].label_of_query = !hasher || is_of_bodies(&f, hasher);
	}
	free(f.hashers);
	free(f.calls);
	owners__destroy(&f.callers);
	return err;
}
