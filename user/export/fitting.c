// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/fitting.h"

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

void fitting__add(struct fitting *f, const struct trace_span *s)
{
	f->counts[class_of(s->end_ns - s->start_ns)]++;
	f->all++;
}

uint64_t fitting__least(const struct fitting *f, uint64_t most)
{
	unsigned int class = FITTING_CLASSES;
	uint64_t longer = 0;

	if (f->all <= most)
		return 0;
	while (class && longer + f->counts[class - 1] <= most)
		longer += f->counts[--class];
	while (class < FITTING_CLASSES && !f->counts[class])
		class ++;
	return class < FITTING_CLASSES ? least_of(class) : UINT64_MAX;
}

bool fitting_is_due(const struct export_job *job, uint32_t span_bytes)
{
	uint64_t bytes;

	if (!job->max_bytes || !job->survey)
		return false;
	bytes = trace_reader__stats(job->r).file_bytes;
	/* Compression may make many of a byte. */
	return !bytes || bytes * 64 / LEAST_STORED_BYTES * span_bytes >= job->max_bytes;
}

int fitting_least(struct export_job *job, uint32_t span_bytes)
{
	struct fitting f = {0};
	struct trace_item item;
	int err;

	if (!fitting_is_due(job, span_bytes))
		return 0;
	while (!(err = trace_reader__next(job->survey, &item)) && item.kind != TRACE_ITEM_END)
		if (item.kind == TRACE_ITEM_SPAN)
			fitting__add(&f, &item.span);
	if (!err)
		job->least_ns = fitting__least(&f, job->max_bytes / span_bytes);
	return err;
}
