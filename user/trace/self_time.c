// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/self_time.h"

#include <errno.h>

#include "base/map.h"

/* Ended spans of one depth that nothing encloses yet. */
struct siblings {
	uint64_t start_ns; /* of the first */
	uint64_t end_ns;   /* of the last */
	uint64_t sum_ns;   /* of their durations */
	uint64_t n;	   /* of them */
	uint64_t n_spans;  /* and of all that they enclose */
	uint32_t depth;
};

/* What a span encloses. */
struct enclosed {
	uint64_t sum_ns;
	uint64_t n;
	uint64_t n_spans;
};

struct thread {
	uint32_t process;
	uint32_t tid;
	struct siblings *open; /* depths ascend */
	uint32_t n;
	uint32_t capacity;
	uint32_t next_free; /* of a thread that was forgotten */
};

struct self_time {
	struct u64_map thread_of; /* process << 32 | tid -> index into threads */
	struct thread *threads;
	uint32_t n;
	uint32_t capacity;
	uint32_t first_free; /* or U64_MAP_NONE */
	/* The thread that came last, which mostly comes again. */
	uint32_t last;	     /* or U64_MAP_NONE */
	uint64_t inside_ps;  /* of a span's two hits, what is in its own interval */
	uint64_t outside_ps; /* the rest */
};

int self_time__new(struct self_time **out)
{
	struct self_time *st = calloc(1, sizeof(*st));

	if (!st)
		return -ENOMEM;
	st->first_free = U64_MAP_NONE;
	st->last = U64_MAP_NONE;
	*out = st;
	return 0;
}

void self_time__set_costs(struct self_time *st, const struct trace_costs *costs)
{
	uint64_t both = 2 * costs->ps[TRACE_COST_EMULATED];
	uint64_t inside = costs->ps[TRACE_COST_EMULATED_INSIDE];
	bool known = both && inside <= both && !costs->subtracted;

	st->inside_ps = known ? inside : 0;
	st->outside_ps = known ? both - inside : 0;
}

static uint64_t thread_key(uint32_t process, uint32_t tid)
{
	return (uint64_t)process << 32 | tid;
}

/* An unused thread, or U64_MAP_NONE without memory. It is taken only when first_free moves on. */
static uint32_t find_free(struct self_time *st)
{
	uint32_t capacity = st->capacity ? st->capacity * 2 : 16;
	struct thread *threads;

	if (st->first_free != U64_MAP_NONE)
		return st->first_free;
	if (st->n == st->capacity) {
		threads = reallocarray(st->threads, capacity, sizeof(*threads));
		if (!threads)
			return U64_MAP_NONE;
		st->threads = threads;
		st->capacity = capacity;
	}
	st->threads[st->n] = (struct thread){.next_free = U64_MAP_NONE};
	st->first_free = st->n++;
	return st->first_free;
}

static struct thread *get_thread(struct self_time *st, uint32_t process, uint32_t tid)
{
	uint64_t key;
	uint32_t i = st->last;

	if (i != U64_MAP_NONE && st->threads[i].tid == tid && st->threads[i].process == process)
		return &st->threads[i];
	key = thread_key(process, tid);
	i = u64_map__get(&st->thread_of, key);
	if (i == U64_MAP_NONE) {
		i = find_free(st);
		if (i == U64_MAP_NONE || u64_map__put(&st->thread_of, key, i))
			return NULL;
		st->first_free = st->threads[i].next_free;
		st->threads[i] = (struct thread){.process = process, .tid = tid};
	}
	st->last = i;
	return &st->threads[i];
}

/* Take the siblings below `depth` away; their sum is what they fill of the time since `start_ns`.
 */
static struct enclosed take_enclosed(struct thread *t, uint32_t depth, uint64_t start_ns)
{
	struct enclosed all = {0};

	while (t->n && t->open[t->n - 1].depth > depth) {
		struct siblings *s = &t->open[--t->n];
		uint64_t within = s->end_ns > start_ns ? s->end_ns - start_ns : 0;

		/* Only where a parent was lost can some of them have begun before. */
		if (s->start_ns >= start_ns || s->sum_ns < within)
			within = s->sum_ns;
		all.sum_ns += within;
		all.n += s->n;
		all.n_spans += s->n_spans;
	}
	return all;
}

/* `n_spans`: it and all that it encloses. */
static int add_sibling(struct thread *t, const struct trace_span *span, uint64_t n_spans)
{
	struct siblings *s = t->n ? &t->open[t->n - 1] : NULL;

	if (s && s->depth == span->depth) {
		s->end_ns = span->end_ns;
		s->sum_ns += span->end_ns - span->start_ns;
		s->n++;
		s->n_spans += n_spans;
		return 0;
	}
	if (t->n == t->capacity) {
		uint32_t capacity = t->capacity ? t->capacity * 2 : 8;

		s = reallocarray(t->open, capacity, sizeof(*s));
		if (!s)
			return -ENOMEM;
		t->open = s;
		t->capacity = capacity;
	}
	t->open[t->n++] = (struct siblings){
		.start_ns = span->start_ns,
		.end_ns = span->end_ns,
		.sum_ns = span->end_ns - span->start_ns,
		.n = 1,
		.n_spans = n_spans,
		.depth = span->depth,
	};
	return 0;
}

int self_time__span(struct self_time *st, struct trace_span *span)
{
	struct thread *t = get_thread(st, span->process, span->tid);
	uint64_t duration = span->end_ns - span->start_ns;
	struct enclosed in;

	if (!t)
		return -ENOMEM;
	in = take_enclosed(t, span->depth, span->start_ns);
	span->self_ns = in.sum_ns < duration ? duration - in.sum_ns : 0;
	span->self_probe_ns = (st->inside_ps + in.n * st->outside_ps) / 1000;
	span->probe_ns = (st->inside_ps + in.n_spans * (st->inside_ps + st->outside_ps)) / 1000;
	return add_sibling(t, span, in.n_spans + 1);
}

void self_time__forget(struct self_time *st, uint32_t process)
{
	for (uint32_t i = 0; i < st->n; i++) {
		struct thread *t = &st->threads[i];
		uint64_t key = thread_key(process, t->tid);

		if (t->process != process || u64_map__get(&st->thread_of, key) != i)
			continue;
		u64_map__remove(&st->thread_of, key);
		free(t->open);
		*t = (struct thread){.next_free = st->first_free};
		st->first_free = i;
	}
	st->last = U64_MAP_NONE;
}

void self_time__free(struct self_time *st)
{
	if (!st)
		return;
	for (uint32_t i = 0; i < st->n; i++)
		free(st->threads[i].open);
	free(st->threads);
	u64_map__destroy(&st->thread_of);
	free(st);
}
