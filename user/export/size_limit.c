// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/size_limit.h"

#include "base/cleanup.h"
#include "export/span_merge.h"

/* A span takes at least two bytes of a trace. */
#define LEAST_STORED_BYTES 2

static unsigned int class_of(uint64_t ns)
{
	unsigned int power = ns ? 63 - __builtin_clzll(ns) : 0;

	return power < 3 ? (unsigned int)ns : power * 8 + (unsigned int)(ns >> (power - 3) & 7);
}

/* The shortest duration of a class. */
static uint64_t least_of(unsigned int class)
{
	return class < 3 * 8 ? class : (uint64_t)(8 + class % 8) << (class / 8 - 3);
}

static void size_limit__add(struct size_limit *f, const struct trace_span *s)
{
	f->counts[class_of(s->end_ns - s->start_ns)]++;
	f->all++;
}

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
	return class < SIZE_CLASSES ? least_of(class) : UINT64_MAX;
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

static void survey__clear(struct survey *s)
{
	span_merge__destroy(&s->merge);
}

static int take_item(void *survey, const struct trace_item *item)
{
	struct survey *s = survey;

	return span_merge__item(&s->merge, item) ?: (s->item ? s->item(s->ctx, item) : 0);
}

static int take_span(void *ctx, const struct trace_span *span)
{
	size_limit__add(ctx, span);
	return 0;
}

int size_limit__read(struct size_limit *f, struct trace_reader *r,
		     int (*item)(void *ctx, const struct trace_item *item), void *ctx)
{
	__cleanup(survey__clear) struct survey s = {.item = item, .ctx = ctx};

	span_merge__init(&s.merge, r, take_span, f);
	return trace_reader__each(r, take_item, &s) ?: span_merge__end(&s.merge);
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
