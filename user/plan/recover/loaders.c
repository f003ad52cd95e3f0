// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/loaders.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/mine/callers.h"

static int add_entries(struct loaders *l, const struct owners *owners)
{
	int err = 0;

	for (size_t i = 0; i < owners->n && !err; i++)
		err = array__add(&l->items, &l->n, &l->capacity, &owners->items[i].entry);
	return err;
}

int loaders__find(struct elf_image *img, struct loaders *out)
{
	_owners_ struct owners holders = {0}, callers = {0};
	_known_symbols_ struct known_symbols known = {0};
	int err = known_symbols__find(img, &known);

	*out = (struct loaders){0};
	err = err ?: callers__of_cold(img, &known, NAME_COLD_LOAD, NAME_COLD_LOAD, &holders);
	err = err ?: add_entries(out, &holders);
	err = err ?: callers__find(img, out->items, out->n, &callers);
	err = err ?: add_entries(out, &callers);
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), array__by_u64);
	return err == -ENODATA ? 0 : err;
}

bool loaders__has(const struct loaders *l, uint64_t function)
{
	return l->n && bsearch(&function, l->items, l->n, sizeof(*l->items), array__by_u64);
}

void loaders__destroy(struct loaders *l)
{
	free(l->items);
	*l = (struct loaders){0};
}
