// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_depths.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/table.h"

#define BLOCK 1024

struct interval {
	uint64_t start;
	uint64_t end;
};

struct thread {
	struct interval *open; /* each encloses the next */
	uint32_t n;
	uint32_t capacity;
	uint64_t next_end; /* of the next interval in the file */
};

struct walk {
	struct mm_depths *d;
	TABLE(struct thread) threads; /* by number */
};

static void walk__clear(struct walk *w)
{
	for (uint32_t i = 0; i < w->threads.n; i++)
		free(w->threads.at[i].open);
	table__destroy(&w->threads);
}

/* Close the intervals that do not enclose this one. */
static void leave(struct walk *w, struct thread *t, const struct mm_event *e)
{
	bool overlaps = false;

	for (; t->n; t->n--) {
		const struct interval *top = &t->open[t->n - 1];

		if (top->start <= e->start && e->end <= top->end)
			break;
		overlaps |= e->end > top->start;
	}
	w->d->overlapping += overlaps;
}

static int take(struct walk *w, const struct mm_event *e, uint16_t *depth)
{
	const struct interval interval = {e->start, e->end};
	struct thread *t;

	*depth = MM_NO_DEPTH;
	if (e->type != MM_INTERVAL_EVENT)
		return 0;
	if (e->start > e->end) {
		w->d->backwards++;
		return 0;
	}
	t = table__get(&w->threads, e->thread, .next_end = UINT64_MAX);
	if (!t)
		return -ENOMEM;
	if (e->end > t->next_end) {
		w->d->out_of_order++;
		return 0;
	}
	t->next_end = e->end;
	leave(w, t, e);
	*depth = t->n < MM_NO_DEPTH ? t->n : MM_NO_DEPTH - 1;
	if (e->end > w->d->last_end_ns)
		w->d->last_end_ns = e->end;
	return array__add(&t->open, &t->n, &t->capacity, &interval);
}

int mm_depths__find(struct mm_depths *d, struct mm_reader *r)
{
	__cleanup(walk__clear) struct walk w = {.d = d};
	uint64_t left = mm_reader__n_events(r);
	_free_ struct mm_event *events = malloc(BLOCK * sizeof(*events));

	*d = (struct mm_depths){0};
	d->depth = malloc(left * sizeof(*d->depth) + 1);
	if (!events || !d->depth)
		return -ENOMEM;
	while (left) {
		uint32_t n = left < BLOCK ? (uint32_t)left : BLOCK;
		int err;

		left -= n;
		err = mm_reader__events(r, left, n, events);
		for (uint32_t i = n; !err && i--;)
			err = take(&w, &events[i], &d->depth[left + i]);
		if (err)
			return err;
	}
	return 0;
}

void mm_depths__destroy(struct mm_depths *d)
{
	free(d->depth);
	*d = (struct mm_depths){0};
}
