// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/reuse.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A load with nothing behind it yet, but what is within what follows it. */
struct open_load {
	uint32_t label;
	uint16_t depth;
};

/* Of a thread; the deepest load is last. */
struct load_track {
	struct open_load *loads;
	uint32_t n;
	uint32_t capacity;
};

static struct load_track *track_of(struct load_tracks *l, const struct trace_span *span)
{
	uint64_t key = (uint64_t)span->process << 32 | span->tid;
	uint32_t i = u64_map__get(&l->track_of, key);

	if (i != U64_MAP_NONE)
		return &l->tracks[i];
	if (array__reserve_one(&l->tracks, l->n, &l->capacity, sizeof(*l->tracks)) ||
	    u64_map__put(&l->track_of, key, l->n))
		return NULL;
	l->tracks[l->n] = (struct load_track){0};
	return &l->tracks[l->n++];
}

int load_tracks__span(struct load_tracks *l, const struct trace_span *span)
{
	struct open_load last = {0};
	struct load_track *t;

	/* Instants, and what is no child, come in between anywhere. */
	if (span->kind >= TRACE_KIND_HIT)
		return 0;
	t = track_of(l, span);
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
	for (uint32_t i = 0; i < l->n; i++)
		free(l->tracks[i].loads);
	free(l->tracks);
	u64_map__destroy(&l->track_of);
	*l = (struct load_tracks){0};
}
