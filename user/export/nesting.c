// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/nesting.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

/* 1.5 MiB a thread, which takes a query with as many children, or as many lost parents. */
#define OPEN_MAX_INTERVALS 65536u

/* An interval that nothing encloses yet, or several with what is between them. */
struct open_interval {
	uint64_t start;
	uint64_t end;
	bool outermost; /* nothing will enclose it */
};

struct nesting_thread {
	struct open_interval *open; /* they ascend, and do not overlap */
	uint32_t n;
	uint32_t capacity;
	uint64_t last_end;
};

static struct nesting_thread *add_thread(struct nesting *n, uint32_t tid)
{
	if (array__reserve_one(&n->threads, n->n, &n->capacity, sizeof(*n->threads)) ||
	    u64_map__put(&n->thread_of, tid, n->n))
		return NULL;
	n->threads[n->n] = (struct nesting_thread){0};
	return &n->threads[n->n++];
}

/* Forget what was between pairs of neighbours. */
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
	uint32_t i = u64_map__get(&n->thread_of, tid);
	struct nesting_thread *t = i == U64_MAP_NONE ? add_thread(n, tid) : &n->threads[i];
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
	for (uint32_t i = 0; i < n->n; i++)
		free(n->threads[i].open);
	free(n->threads);
	u64_map__destroy(&n->thread_of);
	*n = (struct nesting){0};
}
