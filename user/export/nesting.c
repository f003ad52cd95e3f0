// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/nesting.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

/* 1.5 MiB per thread; reached by a query with as many children, or by as many lost parents. */
#define OPEN_MAX_INTERVALS 65536u

/* An interval that no interval encloses yet, or several merged with the gaps between them. */
struct open_interval {
	uint64_t start;
	uint64_t end;
	bool outermost; /* no interval will enclose it */
};

struct nesting_thread {
	struct open_interval *open; /* ascending, without overlaps */
	uint32_t n;
	uint32_t capacity;
	uint64_t last_end;
};

/* Merge pairs of neighbours and the gaps between them. */
static void coarsen(struct nesting_thread *t)
{
	for (uint32_t i = 0; i < t->n / 2; i++)
		t->open[i] = (struct open_interval){t->open[2 * i].start, t->open[2 * i + 1].end,
						    t->open[2 * i].outermost};
	t->n /= 2;
}

static int make_room(struct nesting_thread *t)
{
	if (t->n == OPEN_MAX_INTERVALS)
		coarsen(t);
	return array__reserve_one(&t->open, t->n, &t->capacity, sizeof(*t->open));
}

static int push(struct nesting_thread *t, uint64_t start, uint64_t end, bool outermost)
{
	struct open_interval *last = t->n ? &t->open[t->n - 1] : NULL;

	if (outermost && last && last->outermost) {
		last->end = end;
		return 0;
	}
	if (make_room(t))
		return -ENOMEM;
	t->open[t->n++] = (struct open_interval){start, end, outermost};
	return 0;
}

int nesting__fit(struct nesting *n, uint32_t tid, uint16_t depth, uint64_t *start, uint64_t *end)
{
	struct nesting_thread *t = table__get(&n->threads, tid);
	bool changed = false;

	if (!t)
		return -ENOMEM;
	if (*end < t->last_end) {
		*end = t->last_end;
		changed = true;
	}
	while (t->n && t->open[t->n - 1].start >= *start)
		t->n--;
	if (t->n && t->open[t->n - 1].end > *start) {
		*start = t->open[t->n - 1].end;
		changed = true;
	}
	t->last_end = *end;
	return push(t, *start, *end, !depth) ? -ENOMEM : changed;
}

void nesting__destroy(struct nesting *n)
{
	for (uint32_t i = 0; i < n->threads.n; i++)
		free(n->threads.at[i].open);
	table__destroy(&n->threads);
	*n = (struct nesting){0};
}
