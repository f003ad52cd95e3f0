// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/running_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "capture/compiler_results.h"

/* A compiler of a round. */
struct counted {
	pid_t pid;
	uint64_t serial; /* of its context */
};

struct running_names {
	const struct kernel *kernel;
	struct broker *broker;
	pid_t pid;	   /* that is read now, ... */
	uint64_t until_ns; /* ... until then */
	struct plan_layout layouts[WIRE_MAX_LIBS + 1];
	struct compiler_tables tables[WIRE_MAX_LIBS + 1];
	/* Compilers whose results are read; those before `next` were. */
	struct counted *round;
	size_t n_round, next;
	bool in_round;
	uint64_t round_ns; /* it began then; 0: there was none */
};

int running_names__new(const struct kernel *k, struct broker *broker, struct running_names **out)
{
	struct running_names *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->kernel = k;
	r->broker = broker;
	*out = r;
	return 0;
}

void running_names__set_library(struct running_names *r, uint8_t lib, const struct plan *plan)
{
	struct plan_layout *l = &r->layouts[lib];
	struct compiler_tables *t = &r->tables[lib];

	free(t->queries);
	t->tables = plan->tables;
	t->queries = calloc(plan->n_queries + 1UL, sizeof(*t->queries));
	/* Then nothing is known of them. */
	if (!t->queries || t->tables.n != plan->n_queries)
		t->tables.n = 0;
	for (uint32_t i = 0; i < t->tables.n; i++)
		t->queries[i] = plan->queries[i].table;
	*l = plan->layout;
	/* These belong to the plan. */
	l->problem = l->crates_problem = l->current_problem = l->places_problem = l->calls_problem =
		NULL;
}

static int read_memory(void *ctx, const struct broker_memory *ranges, uint32_t n, uint8_t *bytes)
{
	const struct running_names *r = ctx;

	if (clock_ns(CLOCK_MONOTONIC) > r->until_ns)
		return -ETIME;
	return broker__memory(r->broker, r->pid, ranges, n, bytes);
}

/* A process that is read: its memory, and the contexts found in it. */
struct reading {
	struct compiler_memory memory;
	struct wire_context found;
	struct compiler_context context;
};

static int begin(struct running_names *r, pid_t pid, uint64_t until_ns, struct reading *to)
{
	int err = kernel__context(r->kernel, pid, &to->found);

	r->pid = pid;
	r->until_ns = until_ns;
	to->memory = (struct compiler_memory){r, read_memory};
	to->context = (struct compiler_context){to->found.context, to->found.globals, 0};
	/* The kernel half copies what one that dies has: its memory may go at any time. */
	return err ?: to->found.claimed ? -ENOENT : 0;
}

/* False: what was read may be of memory that has been freed. */
static bool was_there(const struct running_names *r, const struct reading *reading)
{
	struct wire_context now;

	return !kernel__context(r->kernel, r->pid, &now) && now.serial == reading->found.serial &&
	       !now.claimed;
}

int running_names__path(struct running_names *r, pid_t pid, const char *crate, uint32_t index,
			char **out)
{
	_free_ char *path = NULL;
	struct reading reading;
	int err = begin(r, pid, clock_ns(CLOCK_MONOTONIC) + RUNNING_NAMES_PATH_NS, &reading);

	if (err)
		return err;
	err = compiler_names__path(&reading.memory, &r->layouts[(uint8_t)reading.found.lib],
				   &reading.context, crate, index, &path);
	if (!err && !was_there(r, &reading))
		err = -ENOENT;
	if (!err)
		*out = take_ptr(path);
	return err;
}

static size_t room_for(size_t size)
{
	return sizeof(size) + ((size + 7) & ~7ul);
}

int kept_records__add(void *kept, const void *record, size_t size)
{
	struct kept_records *w = kept;
	size_t n = w->n + room_for(size);

	if (n > RUNNING_NAMES_BYTES)
		return -E2BIG;
	if (n > w->room) {
		uint8_t *bytes = realloc(w->bytes, 2 * n);

		if (!bytes)
			return -ENOMEM;
		w->bytes = bytes;
		w->room = 2 * n;
	}
	memcpy(w->bytes + w->n, &size, sizeof(size));
	memcpy(w->bytes + w->n + sizeof(size), record, size);
	w->n = n;
	return 0;
}

int kept_records__pass_on(const struct kept_records *w, record_fn take, void *ctx)
{
	size_t size;
	int err = 0;

	for (size_t at = 0; at < w->n && !err; at += room_for(size)) {
		struct record r;

		memcpy(&size, w->bytes + at, sizeof(size));
		r = record_of(w->bytes + at + sizeof(size), size);
		err = take(ctx, &r);
	}
	return err;
}

/* An unreadable compiler has no names and no results; it is no error. */
static int copy_one(struct running_names *r, pid_t pid, struct kept_records *w, record_fn take,
		    void *ctx)
{
	struct reading reading;
	uint8_t lib;
	size_t n;

	w->n = 0;
	if (begin(r, pid, w->until_ns, &reading))
		return 0;
	lib = (uint8_t)reading.found.lib;
	/* First, as they take less time. */
	if (compiler_results__copy(&reading.memory, &r->tables[lib], &reading.found, pid,
				   clock_ns(CLOCK_MONOTONIC), WIRE_COUNTS_RUNNING,
				   kept_records__add, w))
		w->n = 0;
	n = w->n;
	if (compiler_names__copy(&reading.memory, &r->layouts[lib], &reading.context, pid, lib,
				 kept_records__add, w))
		w->n = n;
	return w->n && was_there(r, &reading) ? kept_records__pass_on(w, take, ctx) : 0;
}

int running_names__copy(struct running_names *r, record_fn take, void *ctx)
{
	struct kept_records w = {.until_ns = clock_ns(CLOCK_MONOTONIC) + RUNNING_NAMES_NS};
	_free_ pid_t *pids = NULL;
	size_t n = 0;
	int err = 0;

	if (kernel__followed(r->kernel, &pids, &n))
		return 0;
	for (size_t i = 0; i < n && !err && clock_ns(CLOCK_MONOTONIC) < w.until_ns; i++)
		err = copy_one(r, pids[i], &w, take, ctx);
	free(w.bytes);
	return err;
}

bool running_names__begin_round(struct running_names *r)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	_free_ pid_t *pids = NULL;
	struct wire_context c;
	size_t n = 0;

	if (r->in_round || (r->round_ns && now_ns - r->round_ns < RUNNING_NAMES_ROUND_NS))
		return false;
	free(take_ptr(r->round));
	r->n_round = r->next = 0;
	if (!kernel__followed(r->kernel, &pids, &n))
		r->round = calloc(n + 1, sizeof(*r->round));
	for (size_t i = 0; r->round && i < n; i++)
		if (!kernel__context(r->kernel, pids[i], &c) && !c.claimed)
			r->round[r->n_round++] = (struct counted){pids[i], c.serial};
	/* Do not let the first compiler wait for the second round. */
	r->in_round = r->n_round || r->round_ns;
	r->round_ns = r->in_round ? now_ns : 0;
	return r->in_round;
}

/* What cannot be read now is read in the next round. */
static int count_one(struct running_names *r, const struct counted *c, struct kept_records *w,
		     record_fn take, void *ctx)
{
	struct reading reading;
	int err;

	w->n = 0;
	if (begin(r, c->pid, clock_ns(CLOCK_MONOTONIC) + RUNNING_NAMES_PATH_NS, &reading) ||
	    reading.found.serial != c->serial)
		return 0;
	err = compiler_results__copy(&reading.memory, &r->tables[(uint8_t)reading.found.lib],
				     &reading.found, c->pid, clock_ns(CLOCK_MONOTONIC),
				     WIRE_COUNTS_RUNNING, kept_records__add, w);
	return !err && was_there(r, &reading) ? kept_records__pass_on(w, take, ctx) : 0;
}

int running_names__count(struct running_names *r, record_fn take, void *ctx)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + RUNNING_NAMES_COUNT_NS;
	struct kept_records w = {};
	bool ends;
	int err = 0;

	while (!err && r->next < r->n_round && clock_ns(CLOCK_MONOTONIC) < until_ns)
		err = count_one(r, &r->round[r->next++], &w, take, ctx);
	free(w.bytes);
	ends = r->in_round && r->next == r->n_round;
	r->in_round &= !ends;
	return err ?: ends;
}

void running_names__free(struct running_names *r)
{
	if (r)
		free(r->round);
	for (uint32_t i = 0; r && i <= WIRE_MAX_LIBS; i++)
		free(r->tables[i].queries);
	free(r);
}
