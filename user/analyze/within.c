// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/within.h"

struct within within__take(struct within_track *t, uint32_t depth)
{
	struct within all = {.depth = depth};

	while (t->n && t->at[t->n - 1].depth > depth) {
		t->n--;
		all.ns[0] += t->at[t->n].ns[0];
		all.ns[1] += t->at[t->n].ns[1];
	}
	return all;
}

int within__put(struct within_track *t, const struct within *sums)
{
	struct within *last = t->n ? &t->at[t->n - 1] : NULL;

	if (!sums->ns[0] && !sums->ns[1])
		return 0;
	if (!last || last->depth != sums->depth)
		return array__add(&t->at, &t->n, &t->capacity, sums);
	last->ns[0] += sums->ns[0];
	last->ns[1] += sums->ns[1];
	return 0;
}

bool explained__take(struct explained *e, const struct trace_span *span, uint64_t ns, bool may)
{
	struct within_track *t =
		table__get(&e->threads, (uint64_t)span->process << 32 | span->tid, .n = 0);
	struct within within;
	bool explains;

	if (!t)
		return may;
	within = within__take(t, span->depth);
	explains = may && within.ns[0] <= ns / 2;
	if (explains)
		within.ns[0] = ns;
	/* Without memory, an outer interval is named that need not be. */
	(void)within__put(t, &within);
	return explains;
}

void explained__clear(struct explained *e)
{
	for (uint32_t i = 0; i < e->threads.n; i++)
		free(e->threads.at[i].at);
	table__destroy(&e->threads);
}
