// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/unrecorded.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static struct trace_tally *find(struct unrecorded *u, const struct trace_tally *like)
{
	uint64_t kind = like->kind == TRACE_KIND_ESTIMATED;
	uint64_t key = (uint64_t)like->process << 32 | (uint64_t)like->label << 1 | kind;
	uint32_t i = u64_map__get(&u->index_of, key);

	if (i != U64_MAP_NONE)
		return &u->tallies[i];
	if (array__reserve_one(&u->tallies, u->n, &u->capacity, sizeof(*u->tallies)) ||
	    u64_map__put(&u->index_of, key, u->n))
		return NULL;
	u->tallies[u->n] = *like;
	u->tallies[u->n].events = u->tallies[u->n].sum = 0;
	return &u->tallies[u->n++];
}

int unrecorded__add(struct unrecorded *u, const struct trace_tally *more)
{
	struct trace_tally *t;

	if (more->kind != TRACE_KIND_COUNTED && more->kind != TRACE_KIND_ESTIMATED)
		return -EBADMSG;
	t = find(u, more);
	if (!t)
		return -ENOMEM;
	t->events += more->events;
	t->sum += more->sum;
	return 0;
}

void unrecorded__clear(struct unrecorded *u)
{
	u64_map__destroy(&u->index_of);
	free(u->tallies);
	*u = (struct unrecorded){0};
}
