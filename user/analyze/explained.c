// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/explained.h"

#include "base/array.h"

/* The time that is explained within an interval of this depth. */
static uint64_t take_parts(struct explained_thread *t, uint32_t depth)
{
	uint64_t ns = 0;

	while (t->n && t->parts[t->n - 1].depth > depth)
		ns += t->parts[--t->n].ns;
	return ns;
}

/* Without memory, an outer interval is named that need not be. */
static void add_part(struct explained_thread *t, uint32_t depth, uint64_t ns)
{
	const struct explained_part part = {depth, ns};

	if (t->n && t->parts[t->n - 1].depth == depth)
		t->parts[t->n - 1].ns += ns;
	else if (ns)
		(void)array__add(&t->parts, &t->n, &t->capacity, &part);
}

bool explained__take(struct explained *e, const struct trace_span *span, uint64_t ns, bool may)
{
	struct explained_thread *t =
		table__get(&e->threads, (uint64_t)span->process << 32 | span->tid, .n = 0);
	uint64_t within;
	bool explains;

	if (!t)
		return may;
	within = take_parts(t, span->depth);
	explains = may && within <= ns / 2;
	add_part(t, span->depth, explains ? ns : within);
	return explains;
}

void explained__clear(struct explained *e)
{
	for (uint32_t i = 0; i < e->threads.n; i++)
		free(e->threads.at[i].parts);
	table__destroy(&e->threads);
}
