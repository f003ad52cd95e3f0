// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/reuse.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A load that no span of its depth has followed yet; deeper spans may have. */
struct open_load {
	uint32_t label;
	uint16_t depth;
};

/* Open loads of a thread; the deepest is last. */
struct load_track {
	struct open_load *loads;
	uint32_t n;
	uint32_t capacity;
};

int load_tracks__span(struct load_tracks *l, const struct trace_span *span)
{
	struct open_load last = {0};
	struct load_track *t;

	/* Instants and spans that are no children may occur anywhere in between. */
	if (span->kind >= TRACE_KIND_HIT)
		return 0;
	t = table__get(&l->tracks, (uint64_t)span->process << 32 | span->tid);
	if (!t)
		return -ENOMEM;
	while (t->n && t->loads[t->n - 1].depth > span->depth)
		t->n--;
	if (t->n && t->loads[t->n - 1].depth == span->depth)
		last = t->loads[--t->n];
	else
		last.label = TRACE_NO_STRING;
	if (span->kind != TRACE_KIND_LOAD)
		return span->kind == TRACE_KIND_QUERY && last.label == span->label;
	if (array__reserve_one(&t->loads, t->n, &t->capacity, sizeof(*t->loads)))
		return -ENOMEM;
	t->loads[t->n++] = (struct open_load){span->label, span->depth};
	return 0;
}

void load_tracks__destroy(struct load_tracks *l)
{
	for (uint32_t i = 0; i < l->tracks.n; i++)
		free(l->tracks.at[i].loads);
	table__destroy(&l->tracks);
}
