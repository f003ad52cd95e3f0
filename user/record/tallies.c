// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/tallies.h"

#include <errno.h>

static uint64_t key_of(const struct trace_tally *t)
{
	uint64_t kind = t->kind == TRACE_KIND_ESTIMATED;

	return (uint64_t)t->process << 32 | (uint64_t)t->label << 1 | kind;
}

int tallies__add(struct tallies *u, const struct trace_tally *more)
{
	struct trace_tally *t;

	if (more->kind != TRACE_KIND_COUNTED && more->kind != TRACE_KIND_ESTIMATED)
		return -EBADMSG;
	t = table__get(&u->of, key_of(more), .process = more->process, .label = more->label,
		       .kind = more->kind);
	if (!t)
		return -ENOMEM;
	t->events += more->events;
	t->sum += more->sum;
	return 0;
}

int tallies__take(struct tallies *u, uint32_t process,
		  int (*take)(void *ctx, const struct trace_tally *t), void *ctx)
{
	struct tallies left = {0};
	int err = 0;

	/* Items of a table cannot be removed, so the others move. Running processes have few. */
	for (uint32_t i = 0; i < u->of.n; i++) {
		const struct trace_tally *t = &u->of.at[i];
		bool taken = process == UINT32_MAX || t->process == process;
		int failed = taken ? take(ctx, t) : tallies__add(&left, t);

		err = err ?: failed;
	}
	tallies__clear(u);
	*u = left;
	return err;
}

void tallies__clear(struct tallies *u)
{
	table__destroy(&u->of);
}
