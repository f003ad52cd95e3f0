// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/bodies.h"

#include <errno.h>
#include <stdio.h>

#include "plan/mine/callers.h"

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

int bodies__recover(struct elf_image *img, const struct known_symbols *known, struct recovered *out)
{
	_owners_ struct owners owners = {0};
	int err = callers__of_cold(img, known, NAME_COLD_PROVIDER, NAME_COLD_PROVIDER, &owners)
			  ?: name_bodies(&owners, known, out);

	return err == -ENODATA ? 0 : err;
}
