// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/callers.h"

#include <stdlib.h>

#include "base/array.h"
#include "plan/code/scan.h"

struct search {
	const uint64_t *targets;
	size_t n_targets;
	uint64_t *calls;
	uint32_t n_calls, capacity;
};

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct search *s = arg;

	return array__has_u64(s->targets, s->n_targets, to)
		       ? array__add(&s->calls, &s->n_calls, &s->capacity, &addr)
		       : 0;
}

int callers__find(struct elf_image *img, const uint64_t *targets, size_t n, struct owners *out)
{
	struct search s = {.targets = targets, .n_targets = n};
	struct code_range range = {UINT64_MAX, 0};
	int err;

	*out = (struct owners){NULL, 0};
	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		range.first = targets[i] < range.first ? targets[i] : range.first;
		range.last = targets[i] > range.last ? targets[i] : range.last;
	}
	err = code_scan__calls(img, range, note_call, &s)
		      ?: owners__find(img, s.calls, s.n_calls, out);
	free(s.calls);
	return err;
}

int callers__of_cold(struct elf_image *img, const struct known_symbols *known, enum name_kind first,
		     enum name_kind last, struct owners *out)
{
	_free_ uint64_t *targets = NULL;
	uint32_t n = 0, capacity = 0;
	int err = 0;

	*out = (struct owners){NULL, 0};
	for (uint32_t i = 0; i < known->n && !err; i++) {
		const struct known_symbol *k = &known->items[i];

		if (k->info.part == NAME_PART_ENTRY && k->info.kind >= first &&
		    k->info.kind <= last)
			err = array__add(&targets, &n, &capacity, &k->sym->addr);
	}
	return err ?: callers__find(img, targets, n, out);
}
