// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/query_numbers.h"

#include <stdlib.h>

#include "base/array.h"

int query_numbers__add(struct query_numbers *q, struct query_number item)
{
	return array__add(&q->items, &q->n, &q->capacity, &item);
}

void query_numbers__sort(struct query_numbers *q)
{
	if (q->n)
		qsort(q->items, q->n, sizeof(*q->items), array__by_u64);
}

const struct query_number *query_numbers__of(const struct query_numbers *q, uint64_t wrapper)
{
	return q->n ? bsearch(&wrapper, q->items, q->n, sizeof(*q->items), array__by_u64) : NULL;
}

void query_numbers__destroy(struct query_numbers *q)
{
	free(q->items);
	*q = (struct query_numbers){0};
}
