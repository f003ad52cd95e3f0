// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

enum { BARE, IN_PASS };

/* Remove and return the sum of all waits deeper than `depth`. */
static struct open_waits take_within(struct wait_track *t, uint16_t depth)
{
	struct open_waits all = {.depth = depth};

	while (t->n && t->open[t->n - 1].depth > depth) {
		t->n--;
		all.ns[BARE] += t->open[t->n].ns[BARE];
		all.ns[IN_PASS] += t->open[t->n].ns[IN_PASS];
	}
	return all;
}

/* The caller ensures that there is space for one more. */
static void put(struct wait_track *t, const struct open_waits *waits)
{
	struct open_waits *top = t->n ? &t->open[t->n - 1] : NULL;

	if (!top || top->depth < waits->depth) {
		t->open[t->n++] = *waits;
		return;
	}
	top->ns[BARE] += waits->ns[BARE];
	top->ns[IN_PASS] += waits->ns[IN_PASS];
}

int wait_track__wait(struct wait_track *t, const struct trace_span *span)
{
	/* The spans around deeper waits were lost. */
	struct open_waits waits = take_within(t, span->depth);

	if (array__reserve_one(&t->open, t->n, &t->capacity, sizeof(*t->open)))
		return -ENOMEM;
	waits.ns[BARE] += span->end_ns - span->start_ns;
	put(t, &waits);
	return 0;
}

void wait_track__span(struct wait_track *t, const struct trace_span *span, struct waits *sums)
{
	struct open_waits within;

	if (!t->n || t->open[t->n - 1].depth <= span->depth || span->kind == TRACE_KIND_HIT)
		return;
	within = take_within(t, span->depth);
	within.ns[IN_PASS] += within.ns[BARE];
	within.ns[BARE] = 0;
	if (span->kind != TRACE_KIND_ACTIVITY)
		sums->in_queries += within.ns[IN_PASS];
	else
		put(t, &within); /* uses an entry that take_within() freed */
}

void wait_track__end(struct wait_track *t, struct waits *sums)
{
	for (uint32_t i = 0; i < t->n; i++) {
		sums->in_neither += t->open[i].ns[BARE];
		sums->in_passes += t->open[i].ns[IN_PASS];
	}
	free(t->open);
	*t = (struct wait_track){0};
}
