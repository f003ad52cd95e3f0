// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/span_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

static int hold(struct span_merge *m, const struct trace_span *span)
{
	return array__add(&m->held, &m->n, &m->capacity, span);
}

static int hold_sampled(void *ctx, const struct sampled_interval *interval)
{
	return hold(ctx, &interval->span);
}

void span_merge__init(struct span_merge *m, const struct trace_reader *r,
		      int (*take)(void *ctx, const struct trace_span *span), void *take_ctx)
{
	*m = (struct span_merge){
		.sampled = {.job = trace_reader__job_of,
			    .job_ctx = r,
			    .take = hold_sampled,
			    .take_ctx = m},
		.take = take,
		.take_ctx = take_ctx,
	};
}

static bool is_sampled(const struct trace_span *s)
{
	return s->flags & TRACE_SPAN_SAMPLED;
}

static int order(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* By thread and start; an outer interval comes before those in it. */
static int by_start(const void *a, const void *b)
{
	const struct trace_span *x = a, *y = b;

	return order(x->process, y->process)
		       ?: order(x->tid, y->tid)
		       ?: order(x->start_ns, y->start_ns)
		       ?: order(y->end_ns, x->end_ns)
		       ?: order(is_sampled(x), is_sampled(y))
		       ?: order(x->depth, y->depth);
}

/* Intervals of a thread that are around a place, the outermost first. */
struct around {
	struct trace_span **at;
	uint32_t n, capacity;
};

static void around__destroy(struct around *a)
{
	free(a->at);
}

/* An interval that ends where another starts is not around it, unless it is an instant. */
static bool is_over(const struct trace_span *outer, const struct trace_span *s)
{
	return outer->process != s->process || outer->tid != s->tid ||
	       outer->end_ns < s->start_ns ||
	       (outer->end_ns == s->start_ns && outer->start_ns < outer->end_ns);
}

/*
 * Of an interval that begins no later than another, and ends in it: make the sampled one of both
 * longer, so that the other is in it. True if that is `s`, which then is around `outer`. The end of
 * an activity that was left is an upper bound, from which nothing follows.
 */
static bool lengthen(struct trace_span *outer, struct trace_span *s)
{
	if (is_sampled(outer) == is_sampled(s) || (outer->flags | s->flags) & TRACE_SPAN_LEFT)
		return false;
	if (is_sampled(outer))
		outer->end_ns = s->end_ns;
	else
		s->start_ns = outer->start_ns;
	return is_sampled(s);
}

/* Of a trace that somebody made: intervals that overlap, as none of a compiler's do. */
#define OVERLAPS_MOST 256

static int lengthen_all(struct span_merge *m)
{
	__cleanup(around__destroy) struct around a = {};

	for (uint32_t i = 0; i < m->n; i++) {
		struct trace_span *s = &m->held[i];
		uint32_t at;

		while (a.n && is_over(a.at[a.n - 1], s))
			a.n--;
		if (array__reserve_one(&a.at, a.n, &a.capacity, sizeof(struct trace_span *)))
			return -ENOMEM;
		at = a.n;
		for (uint32_t k = a.n;
		     k-- && a.at[k]->end_ns < s->end_ns && a.n - k < OVERLAPS_MOST;)
			if (lengthen(a.at[k], s))
				at = k;
		memmove(&a.at[at + 1], &a.at[at], (a.n++ - at) * sizeof(struct trace_span *));
		a.at[at] = s;
	}
	return 0;
}

static int give(struct span_merge *m, struct around *around)
{
	struct trace_span *s = around->at[--around->n];

	s->depth = (uint16_t)(around->n < UINT16_MAX ? around->n : UINT16_MAX);
	return m->take(m->take_ctx, s);
}

/* Children come before what is around them. */
static int give_all(struct span_merge *m)
{
	__cleanup(around__destroy) struct around around = {};
	int err = 0;

	for (uint32_t i = 0; i < m->n && !err; i++) {
		struct trace_span *s = &m->held[i];

		while (!err && around.n && is_over(around.at[around.n - 1], s))
			err = give(m, &around);
		err = err ?: array__add(&around.at, &around.n, &around.capacity, &s);
	}
	while (!err && around.n)
		err = give(m, &around);
	m->n = 0;
	return err;
}

int span_merge__end(struct span_merge *m)
{
	int err = sampled_intervals__over(&m->sampled, TRACE_NO_PROCESS);

	if (err || !m->n)
		return err;
	qsort(m->held, m->n, sizeof(*m->held), by_start);
	err = lengthen_all(m);
	if (err)
		return err;
	qsort(m->held, m->n, sizeof(*m->held), by_start);
	return give_all(m);
}

int span_merge__item(struct span_merge *m, const struct trace_item *item)
{
	int err;

	if (item->kind == TRACE_ITEM_SPAN && !m->sampled.is_on)
		return m->take(m->take_ctx, &item->span);
	err = item->kind == TRACE_ITEM_SPAN ? hold(m, &item->span) : 0;
	err = err ?: sampled_intervals__item(&m->sampled, item);
	if (err || m->n < SPAN_MERGE_MOST)
		return err;
	return span_merge__end(m);
}

void span_merge__destroy(struct span_merge *m)
{
	sampled_intervals__destroy(&m->sampled);
	free(m->held);
}

/* ---- The size limit -------------------------------------------------------------------------- */

/* A span takes at least two bytes of a trace. */
#define LEAST_STORED_BYTES 2

uint64_t size_limit__least(const struct size_limit *f, uint64_t most)
{
	unsigned int class = SIZE_CLASSES;
	uint64_t longer = 0;

	if (f->all <= most)
		return 0;
	while (class && longer + f->counts[class - 1] <= most)
		longer += f->counts[--class];
	while (class < SIZE_CLASSES && !f->counts[class])
		class ++;
	if (class == SIZE_CLASSES)
		return UINT64_MAX;
	return class < 3 * 8 ? class : (uint64_t)(8 + class % 8) << (class / 8 - 3);
}

bool size_limit_is_due(const struct export_job *job, uint32_t span_bytes)
{
	uint64_t bytes;

	if (!job->max_bytes || !job->survey)
		return false;
	bytes = trace_reader__stats(job->r).file_bytes;
	/* One stored byte may expand to many. */
	return !bytes || bytes * 64 / LEAST_STORED_BYTES * span_bytes >= job->max_bytes;
}

/* A reading of a trace whose intervals are counted. */
struct survey {
	struct span_merge merge;
	int (*item)(void *ctx, const struct trace_item *item);
	void *ctx;
};

static int take_surveyed(void *survey, const struct trace_item *item)
{
	struct survey *s = survey;

	return span_merge__item(&s->merge, item) ?: (s->item ? s->item(s->ctx, item) : 0);
}

static int count_span(void *ctx, const struct trace_span *span)
{
	uint64_t ns = span->end_ns - span->start_ns;
	unsigned int power = ns ? 63 - __builtin_clzll(ns) : 0, class = (unsigned int)ns;
	struct size_limit *f = ctx;

	if (power >= 3)
		class = power * 8 + (unsigned int)(ns >> (power - 3) & 7);
	f->counts[class]++;
	f->all++;
	return 0;
}

int size_limit__read(struct size_limit *f, struct trace_reader *r,
		     int (*item)(void *ctx, const struct trace_item *item), void *ctx)
{
	struct survey s = {.item = item, .ctx = ctx};
	int err;

	span_merge__init(&s.merge, r, count_span, f);
	err = trace_reader__each(r, take_surveyed, &s) ?: span_merge__end(&s.merge);
	span_merge__destroy(&s.merge);
	return err;
}

int size_limit_least(struct export_job *job, uint32_t span_bytes)
{
	struct size_limit f = {0};
	int err;

	if (!size_limit_is_due(job, span_bytes))
		return 0;
	err = size_limit__read(&f, job->survey, NULL, NULL);
	if (err)
		return err;
	job->least_ns = size_limit__least(&f, job->max_bytes / span_bytes);
	return 0;
}
