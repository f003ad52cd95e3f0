/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sums of samples, how exact they are, and access to the entries of sampled stacks. */
#ifndef QPROF_ANALYZE_SAMPLED_H
#define QPROF_ANALYZE_SAMPLED_H

#include <math.h>

#include "trace/trace.h"

struct sample_sum {
	uint64_t n;
	uint64_t value; /* what these samples stand for: ns, or bytes of TRACE_SAMPLE_FAULT */
};

static inline void sample_sum__add(struct sample_sum *to, const struct sample_sum *from)
{
	to->n += from->n;
	to->value += from->value;
}

/*
 * The standard error of a sum of samples that are taken at random, each for an equal value: if n
 * are counted, their number has a standard deviation of about sqrt(n) (Poisson), so the error is
 * sqrt(n) of their mean value. 0 without a sample, where nothing is known but that the true value
 * is below some three of them.
 */
static inline uint64_t sample_sum__error(const struct sample_sum *sum)
{
	return sum->n ? (uint64_t)((double)sum->value / sqrt((double)sum->n) + 0.5) : 0;
}

/* Of one query in one process or in all, by enum trace_sample_cause. */
struct sample_sums {
	struct sample_sum self[TRACE_SAMPLE_CAUSES];  /* it was the innermost */
	struct sample_sum total[TRACE_SAMPLE_CAUSES]; /* it was in the stack, however often */
};

static inline void sample_sums_of__add(struct sample_sum to[TRACE_SAMPLE_CAUSES],
				       const struct sample_sum from[TRACE_SAMPLE_CAUSES])
{
	for (int cause = 0; cause < TRACE_SAMPLE_CAUSES; cause++)
		sample_sum__add(&to[cause], &from[cause]);
}

static inline void sample_sums__add(struct sample_sums *to, const struct sample_sums *from)
{
	sample_sums_of__add(to->self, from->self);
	sample_sums_of__add(to->total, from->total);
}

/* Whether there is a sample in which it was. */
static inline bool sample_sums__any(const struct sample_sums *sums)
{
	uint64_t n = 0;

	for (int cause = 0; cause < TRACE_SAMPLE_CAUSES; cause++)
		n += sums->total[cause].n;
	return n;
}

/*
 * The part of a self time, or of a sum of them, in which the thread was on a CPU; `off_ns` is the
 * other part. All of it where off-CPU times were not recorded: `off_ns` is 0 then. Rows are ranked
 * by it everywhere, because waiting is no work: a thread that waits has self time too.
 */
static inline uint64_t on_cpu_ns(uint64_t self_ns, uint64_t off_ns)
{
	return self_ns > off_ns ? self_ns - off_ns : 0;
}

/* The entries of sampled stacks, and what they stand for: trace_reader__stack() and the like. */
struct stack_source {
	const void *ctx;
	/* NULL: there is none of this number. An entry's parent has a smaller number than it. */
	const struct trace_stack *(*entry)(const void *ctx, uint32_t id);
	/* trace_reader__location(): resolves a locindex. NULL: no place is known. */
	bool (*locate)(const void *ctx, uint32_t locindex, struct trace_location *out);
};

/* An entry, whose parent is TRACE_NO_STACK unless it has a smaller number; or NULL. */
static inline bool stack_source__entry(const struct stack_source *s, uint32_t id,
				       struct trace_stack *out)
{
	const struct trace_stack *entry =
		id != TRACE_NO_STACK && s->entry ? s->entry(s->ctx, id) : NULL;

	if (!entry)
		return false;
	*out = *entry;
	if (out->parent >= id)
		out->parent = TRACE_NO_STACK;
	return true;
}

/* Stable machine names ("cpu", "no_page"), or NULL past the end. */
static inline const char *sample_cause_name(unsigned int cause)
{
	static const char *const names[TRACE_SAMPLE_CAUSES] = {NULL, "cpu", "off_cpu", "faults"};

	return cause < TRACE_SAMPLE_CAUSES ? names[cause] : NULL;
}

static inline const char *sample_cut_name(unsigned int cut)
{
	static const char *const names[TRACE_CUT_MAX] = {"not", "no_map", "no_rule", "no_page",
							 "too_deep"};

	return cut < TRACE_CUT_MAX ? names[cut] : NULL;
}

#endif /* QPROF_ANALYZE_SAMPLED_H */
