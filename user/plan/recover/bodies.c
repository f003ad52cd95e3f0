// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/bodies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/code/scan.h"
#include "plan/mine/owners.h"
#include "plan/symbols/known_symbols.h"

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

		if (k->info.kind == NAME_COLD_PROVIDER && k->info.part == NAME_PART_ENTRY)
			err = code_scan__calls(img, cold, note_call, calls);
	}
	return err;
}

/* Some compilers export bodies: that name shows more. */
static bool has_name(const struct known_symbols *known, uint64_t entry)
{
	for (uint32_t i = 0; i < known->n; i++)
		if (known->items[i].sym->addr == entry &&
		    (known->items[i].info.kind == NAME_BODY_NON_INCR ||
		     known->items[i].info.kind == NAME_BODY_INCR))
			return true;
	return false;
}

/* The number tells them apart, as the types do in the names that the compiler gives. */
static int name_bodies(const struct owners *owners, const struct known_symbols *known,
		       struct recovered *out)
{
	char name[96];
	int err = 0;

	for (size_t i = 0; i < owners->n && !err; i++) {
		if (has_name(known, owners->items[i].entry))
			continue;
		snprintf(name, sizeof(name),
			 "_RNvNtC16rustc_query_impl9execution17try_execute_query.%zu", i);
		err = recovered__add(out, owners->items[i].entry, name);
	}
	return err;
}

int bodies__recover(struct elf_image *img, struct recovered *out)
{
	_known_symbols_ struct known_symbols known;
	_owners_ struct owners owners = {0};
	struct addresses calls = {0};
	int err;

	err = known_symbols__find(img, &known) ?: find_calls(img, &known, &calls)
			  ?: owners__find(img, calls.items, calls.n, &owners)
			  ?: name_bodies(&owners, &known, out);
	free(calls.items);
	return err == -ENODATA ? 0 : err;
}
