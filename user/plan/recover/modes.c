// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/modes.h"

#include <stdlib.h>

#include "base/array.h"
#include "plan/code/scan.h"
#include "plan/mine/owners.h"

struct addresses {
	uint64_t *items;
	uint32_t n, capacity;
};

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct addresses *calls = arg;

	(void)to;
	return array__add(&calls->items, &calls->n, &calls->capacity, &addr);
}

static int find_calls(struct elf_image *img, const struct known_symbols *known,
		      struct addresses *calls)
{
	int err = 0;

	for (uint32_t i = 0; i < known->n && !err; i++) {
		const struct known_symbol *k = &known->items[i];
		struct code_range cold = {k->sym->addr, k->sym->addr};

		if ((k->info.kind == NAME_COLD_LOAD || k->info.kind == NAME_COLD_HASHING) &&
		    k->info.part == NAME_PART_ENTRY)
			err = code_scan__calls(img, cold, note_call, calls);
	}
	return err;
}

static bool runs(const struct plan *plan, uint32_t query_body, uint32_t body)
{
	return query_body == body || plan__outlined(plan, query_body) == body;
}

/* Of the body's queries, how many have it for each mode. */
static void count_modes(const struct plan *plan, uint32_t body, uint32_t n[2])
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		n[0] += runs(plan, plan->queries[i].body_non_incr, body);
		n[1] += runs(plan, plan->queries[i].body_incr, body);
	}
}

int modes__check(struct elf_image *img, const struct known_symbols *known, const struct plan *plan,
		 const char **problem)
{
	_owners_ struct owners owners = {0};
	struct addresses calls = {0};
	uint32_t n[2] = {0};
	int err =
		find_calls(img, known, &calls) ?: owners__find(img, calls.items, calls.n, &owners);

	for (size_t i = 0; i < owners.n && !err; i++) {
		uint32_t body = plan__body_at(plan, owners.items[i].entry);

		if (body != PLAN_NONE)
			count_modes(plan, body, n);
	}
	*problem = n[1] && !n[0] ? NULL
				 : "the functions that load or hash results are not those which "
				   "its table of queries has for incremental compiles";
	free(calls.items);
	return err;
}
