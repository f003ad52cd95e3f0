// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/fitting.h"

/* Eight to each power of two. */
#define CLASSES (64 * 8)

/* A span takes at least two bytes of a trace. */
#define LEAST_STORED_BYTES 2

static unsigned int class_of(uint64_t ns)
{
	unsigned int power = ns ? 63 - __builtin_clzll(ns) : 0;

	return power < 3 ? (unsigned int)ns : power * 8 + (unsigned int)(ns >> (power - 3) & 7);
}

/* The shortest of a class. */
static uint64_t least_of(unsigned int class)
{
	return class < 3 * 8 ? class : (uint64_t)(8 + class % 8) << (class / 8 - 3);
}

static int count(struct trace_reader *r, uint64_t counts[CLASSES], uint64_t *all)
{
	struct trace_item item;
	int err;

	*all = 0;
	while (!(err = trace_reader__next(r, &item)) && item.kind != TRACE_ITEM_END) {
		if (item.kind != TRACE_ITEM_SPAN)
			continue;
		counts[class_of(item.span.end_ns - item.span.start_ns)]++;
		++*all;
	}
	return err;
}

static bool is_surely_small(const struct export_job *job, uint32_t span_bytes)
{
	uint64_t bytes = trace_reader__stats(job->r).file_bytes;

	/* Compression may make many of a byte. */
	return bytes && bytes * 64 / LEAST_STORED_BYTES * span_bytes < job->max_bytes;
}

int fitting_least(struct export_job *job, uint32_t span_bytes)
{
	uint64_t counts[CLASSES] = {0}, all, most = job->max_bytes / span_bytes, longer = 0;
	unsigned int class = CLASSES;
	int err;

	if (!job->max_bytes || !job->survey || is_surely_small(job, span_bytes))
		return 0;
	err = count(job->survey, counts, &all);
	if (err || all <= most)
		return err;
	while (class && longer + counts[class - 1] <= most)
		longer += counts[--class];
	while (class < CLASSES && !counts[class])
		class ++;
	job->least_ns = class < CLASSES ? least_of(class) : UINT64_MAX;
	return 0;
}
