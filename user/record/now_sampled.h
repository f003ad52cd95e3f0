/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The queries that the compilers of a recording are in, by their samples: where there are no
 * probes, nothing else shows it. Of each, the query and the function that it was in most since the
 * last answer, and the item if that was one execution. In LLVM the function is the one of the crate
 * that it compiles.
 *
 * Memory: a few words for each compiler, the names of at most NOW_SAMPLED_FUNCTIONS functions, and
 * a number for each function that a pass of LLVM was seen with, QPT_LLVM_MAX at most.
 */
#ifndef QPROF_RECORD_NOW_SAMPLED_H
#define QPROF_RECORD_NOW_SAMPLED_H

#include "analyze/summary.h"
#include "record/now.h"
#include "record/recent_jobs.h"
#include "base/table.h"
#include "view/top_now.h"

#define NOW_SAMPLED_FUNCTIONS 65536

/* A value that most samples have, if there is one: after Boyer and Moore. */
struct now_vote {
	uint32_t value;
	uint32_t votes;
	uint32_t met; /* samples that have it, without those before it was voted out */
};

struct now_sampled_process {
	struct now_vote label; /* TRACE_NO_STRING: in no query */
	struct now_vote job;   /* TRACE_NO_JOB: none, or not known */
	/* Index + 1; 0: unknown; in LLVM NOW_SAMPLED_FUNCTIONS + 1 + the string of the symbol. */
	struct now_vote function;
	uint32_t n; /* samples */
};

/* A function that a sample met. */
struct now_sampled_function {
	uint32_t first, size; /* locindexes */
	char *name;	      /* short; NULL: general code, which is charged to its callers */
};

/* All zeroes is empty. */
struct now_sampled {
	TABLE(struct now_sampled_process) processes; /* by index */
	struct now_sampled_function *functions;	     /* by rising locindexes */
	uint32_t n_functions;
	uint32_t capacity;
	struct u64_map llvm; /* entry of LLVM -> string of its function's symbol */
	/* Of the stack to come. */
	bool in_interval;
	uint32_t label;
	uint32_t function; /* index + 1 */
};

/* A function before the first entry in it, in the order of locindexes. 0 or -ENOMEM. */
int now_sampled__function(struct now_sampled *n, const struct trace_function *f);

/* An entry of the stack of the sample to come, the outermost first. */
void now_sampled__entry(struct now_sampled *n, const struct trace_stack *entry);

/* An entry of LLVM of samples to come, by its number. 0 or -ENOMEM. */
int now_sampled__llvm(struct now_sampled *n, uint32_t id, const struct trace_llvm *entry);

/* The sample of these entries; others than of the CPU say nothing. 0 or -ENOMEM. */
int now_sampled__sample(struct now_sampled *n, const struct trace_sample *sample);

/*
 * The queries that running compilers were in since the last call, the latest compiler first. Where
 * that was one execution, the innermost around it that is about an item is named, as in
 * now__answer(), by `from->item` unless that is NULL.
 */
void now_sampled__answer(struct now_sampled *n, const struct now_source *from,
			 const struct recent_jobs *jobs, const struct summary *s,
			 const struct trace_texts *texts, struct top_nows *out);

void now_sampled__destroy(struct now_sampled *n);

#endif /* QPROF_RECORD_NOW_SAMPLED_H */
