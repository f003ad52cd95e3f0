// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/tallies.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static uint64_t key_of(const struct trace_tally *t)
{
	uint64_t kind = t->kind == TRACE_KIND_ESTIMATED;

	return (uint64_t)t->process << 32 | (uint64_t)t->label << 1 | kind;
}

static struct trace_tally *find(struct tallies *u, const struct trace_tally *like)
{
	uint64_t key = key_of(like);
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

int tallies__add(struct tallies *u, const struct trace_tally *more)
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

int tallies__take(struct tallies *u, uint32_t process,
		  int (*take)(void *ctx, const struct trace_tally *t), void *ctx)
{
	uint32_t left = 0;
	int err = 0;

	/* Taking entries moves the others, so all are indexed again. Running processes have few. */
	for (uint32_t i = 0; i < u->n; i++) {
		const struct trace_tally t = u->tallies[i];
		int failed;

		u64_map__remove(&u->index_of, key_of(&t));
		if (process == UINT32_MAX || t.process == process) {
			failed = take(ctx, &t);
		} else {
			u->tallies[left] = t;
			failed = u64_map__put(&u->index_of, key_of(&t), left);
			left++;
		}
		err = err ?: failed;
	}
	u->n = left;
	return err;
}

void tallies__clear(struct tallies *u)
{
	u64_map__destroy(&u->index_of);
	free(u->tallies);
	*u = (struct tallies){0};
}
