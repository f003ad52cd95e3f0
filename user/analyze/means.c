// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/means.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint32_t x = ((const struct mean *)a)->label, y = ((const struct mean *)b)->label;

	return (x > y) - (x < y);
}

void means__set(struct means *m, struct mean *parts, size_t n)
{
	size_t used = 0;

	qsort(parts, n, sizeof(*parts), compare);
	for (size_t i = 0; i < n; i++) {
		if (!used || parts[used - 1].label != parts[i].label) {
			parts[used++] = parts[i];
			continue;
		}
		parts[used - 1].count += parts[i].count;
		parts[used - 1].ns += parts[i].ns;
	}
	free(m->at);
	m->at = parts;
	m->n = used;
}

uint64_t means__estimate(const struct means *m, uint32_t label, uint64_t count)
{
	const struct mean key = {.label = label};
	const struct mean *found = m->n ? bsearch(&key, m->at, m->n, sizeof(key), compare) : NULL;
	unsigned __int128 ns;

	if (!found || !found->count)
		return 0;
	/* Multiply first: rounding a short mean would falsify the product. */
	ns = (unsigned __int128)found->ns * count / found->count;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

void means__destroy(struct means *m)
{
	free(m->at);
	*m = (struct means){0};
}
