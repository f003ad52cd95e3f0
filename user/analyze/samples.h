/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Samples by the query that a thread was in. Takes the samples of a trace; knows no output format.
 * Memory grows with the number of entries of stacks (4 bytes each) and with the different chains of
 * queries in each process.
 *
 * A sample belongs to the query that the probes saw as the innermost interval; if they saw another
 * or none, to the innermost interval of its stack, and if that has none, to what they saw. An
 * execution of an unknown query belongs to the interval around it.
 */
#ifndef QPROF_ANALYZE_SAMPLES_H
#define QPROF_ANALYZE_SAMPLES_H

#include "analyze/sampled.h"
#include "base/cleanup.h"

struct samples;

/* The samples of a recording, over all processes. */
struct samples_totals {
	struct trace_sampling sampling; /* all zeroes: it is not said */
	struct sample_sum of[TRACE_SAMPLE_CAUSES];
	struct sample_sum no_query[TRACE_SAMPLE_CAUSES]; /* of these, in no interval */
	/* Of page faults: the innermost interval is unknown, if there is any (sampling.light). */
	struct sample_sum unknown_query;
	/* Samples by enum trace_sample_cut; TRACE_CUT_NOT: the whole stack is known. */
	uint64_t cut[TRACE_CUT_MAX];
	uint64_t light; /* the other samples: a stack was not asked for */
	/* Of the CPU: the innermost was an execution of an unknown query. */
	uint64_t unknown;
	/*
	 * Of the CPU, where both the stack and the probes show a query that is watched, and where
	 * these are not the same. Counted by samples__rows().
	 */
	uint64_t compared;
	uint64_t differ;
};

static inline uint64_t samples_totals__n(const struct samples_totals *t)
{
	return t->of[TRACE_SAMPLE_CPU].n + t->of[TRACE_SAMPLE_OFF_CPU].n +
	       t->of[TRACE_SAMPLE_FAULT].n;
}

/* 0, or -ENOMEM. */
int samples__new(const struct stack_source *source, struct samples **out);

void samples__set_sampling(struct samples *s, const struct trace_sampling *sampling);

/* Add a sample. 0, -ENOMEM, or -EINVAL if its cause is none. */
int samples__add(struct samples *s, const struct trace_sample *sample);

const struct samples_totals *samples__totals(const struct samples *s);

/* The samples of one label in one process. */
struct samples_row {
	uint32_t process; /* index */
	uint32_t label;
	uint32_t kinds; /* of its intervals, 1 << enum trace_kind */
	struct sample_sums sums;
};

/*
 * All rows, ordered by process. Samples of an interval that `hides` names belong to what is around
 * it; it may be NULL. Free with free().
 * -ENOMEM; -EOVERFLOW beyond SAMPLES_ROWS_MOST, to which a small hostile trace could expand: a
 * stack of many queries in each of many processes.
 */
#define SAMPLES_ROWS_MOST (1u << 21)
int samples__rows(struct samples *s, bool (*hides)(const void *ctx, uint32_t label, uint8_t kind),
		  const void *ctx, struct samples_row **rows, size_t *n);

/* The samples of a process, of any query or none. */
const struct sample_sum *samples__process(const struct samples *s, uint32_t process);

void samples__free(struct samples *s);
DEFINE_CLEANUP(struct samples, samples__free)
#define _samples_ __cleanup(samples__free_p)

/*
 * Samples of one cause by their stacks: what analyze/call_tree.h and the like are made of. Memory:
 * 16 bytes for each entry of stacks.
 */

/* All zeroes but for the cause and the source is empty. */
struct stack_sums {
	uint8_t cause; /* enum trace_sample_cause; other samples are ignored */
	struct stack_source source;
	struct sample_sum *at; /* by the number of a stack's innermost entry */
	uint32_t n;	       /* numbers from 0 on */
	struct sample_sum all; /* of the cause, in a stack or without one */
};

/* 0 or -ENOMEM. A stack that the source does not have counts as none. */
int stack_sums__add(struct stack_sums *s, const struct trace_sample *sample);

void stack_sums__destroy(struct stack_sums *s);

/* CPU time of a build by what it was for: a split that needs no intervals. Knows no output format.
 */

enum sample_share {
	SAMPLE_FRONT_END, /* everything else */
	SAMPLE_CODEGEN,	  /* below a function of rustc_codegen_*: LLVM's code is made, or files */
	SAMPLE_LLVM,	  /* below a function of LLVM */
	SAMPLE_NO_STACK,  /* nothing is known */
	SAMPLE_SHARES,
};

/* The texts and the source of `sums` must outlive the call. 0 or -ENOMEM. */
int sample_shares_of(const struct stack_sums *sums, const struct trace_texts *texts,
		     struct sample_sum shares[SAMPLE_SHARES]);

#endif /* QPROF_ANALYZE_SAMPLES_H */
