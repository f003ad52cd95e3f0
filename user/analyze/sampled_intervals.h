/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Executions that several samples met, as intervals: of queries without probes. Samples of a thread
 * that follow one another with one job are in one execution, also where the thread waited
 * between them. The interval reaches from the first of them to the last, so the execution began up
 * to a sampling period earlier, and ended up to one later. Samples in inner jobs are in those
 * around, too. One whose job is not known says nothing: it ends no interval.
 *
 * An execution is seen as two where its thread did another's work meanwhile (rustc's threads do
 * that while they wait for a query), and on each thread that works for it.
 *
 * Memory: for each thread, its open jobs, until sampled_intervals__over() of its process. Who reads
 * a trace calls that at the end only.
 */
#ifndef QPROF_ANALYZE_SAMPLED_INTERVALS_H
#define QPROF_ANALYZE_SAMPLED_INTERVALS_H

#include "base/map.h"
#include "analyze/sampled.h"
#include "base/table.h"
#include "trace/trace.h"

/* Jobs around a sample beyond are not looked at, so their intervals end. */
#define SAMPLED_DEPTH_MAX 1024

struct sampled_interval {
	/*
	 * Of the query of the job; TRACE_SPAN_SAMPLED. Its invocation is the job's, its depth the
	 * number of jobs around. Intervals of a thread nest, and come in the order of their ends.
	 */
	struct trace_span span;
	uint32_t job;
	uint64_t samples; /* at least 2; of any cause, also those in jobs within */
};

struct sampled_thread;

/* With the functions set and the rest zero, it is empty. */
struct sampled_intervals {
	/* A job of a sample, or NULL: samples in it are in none, nor around it. */
	const struct trace_job *(*job)(const void *ctx, uint32_t id);
	const void *job_ctx;
	/* 0, or an error that is returned to the caller. */
	int (*take)(void *ctx, const struct sampled_interval *interval);
	void *take_ctx;
	struct sampled_thread *threads;
	uint32_t n, capacity;
	struct u64_map thread_of; /* process << 32 | tid -> its index */
	struct u64_map probed; /* by label: queries whose executions are recorded, and no others */
	bool is_on; /* not all queries have probes: set by TRACE_ITEM_SAMPLING, or by the caller */
};

/*
 * Take an item of a trace; only samples and executions of queries matter. An execution comes before
 * the sample that shows that it has ended. 0, -ENOMEM, or the error of `take`.
 */
int sampled_intervals__item(struct sampled_intervals *s, const struct trace_item *item);

/* The executions of this query are recorded, so it has no intervals by samples. 0 or -ENOMEM. */
int sampled_intervals__probed(struct sampled_intervals *s, uint32_t label);

/* Take a sample, also with is_on unset. Errors as above. */
int sampled_intervals__sample(struct sampled_intervals *s, const struct trace_sample *sample);

/* No more samples come of a process, or of any (TRACE_NO_PROCESS). Errors as above. */
int sampled_intervals__over(struct sampled_intervals *s, uint32_t process);

void sampled_intervals__destroy(struct sampled_intervals *s);

/*
 * The intervals of sampled stacks, without the code between them. They form a tree too, which is
 * much smaller: few chains of queries are different. Each entry of the stacks is looked at once, so
 * the time does not depend on how deep they are.
 */

#define STACK_INTERVAL_NONE UINT32_MAX

struct stack_interval {
	uint32_t outer; /* smaller than its own number, or STACK_INTERVAL_NONE */
	uint32_t label;
	uint8_t kind;	 /* enum trace_kind */
	bool is_unknown; /* an execution, of which query nobody knows; it has no label */
	uint32_t query;	 /* itself or the innermost execution around it; or NONE */
	uint32_t known; /* itself; if it is unknown, the innermost around it that is not, or NONE */
};

/* All zeroes but for the source is empty. */
struct stack_intervals {
	struct stack_source source;
	uint32_t *of; /* by number of an entry: its innermost interval */
	uint32_t n_of;
	uint32_t of_capacity;
	struct stack_interval *at;
	uint32_t n;
	uint32_t capacity;
};

/*
 * Set *interval to the innermost interval of a stack, or to STACK_INTERVAL_NONE. 0 or -ENOMEM. An
 * entry that the source does not have is no interval.
 */
int stack_intervals__find(struct stack_intervals *s, uint32_t stack, uint32_t *interval);

/*
 * Set is_first[i] of each interval: no outer one has its label. Those with is_hidden[i], and
 * unknown ones, count as not there. 0 or -ENOMEM.
 */
int stack_intervals__first(const struct stack_intervals *s, const bool *is_hidden, bool *is_first);

void stack_intervals__destroy(struct stack_intervals *s);

#endif /* QPROF_ANALYZE_SAMPLED_INTERVALS_H */
