/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The function that each thread was in most lately, and its CPU time, by its samples of the CPU. A
 * sample counts for the innermost function that is not general code (analyze/code_name.h), and half
 * as much once its thread has used HOT_HALF_NS of CPU time since. Knows no output format.
 *
 * Memory: up to HOT_FUNCTIONS_MAX functions of 16 bytes for each thread.
 */
#ifndef QPROF_ANALYZE_HOT_FUNCTIONS_H
#define QPROF_ANALYZE_HOT_FUNCTIONS_H

#include "analyze/code_name.h"

#define HOT_HALF_NS	  1000000000ull
#define HOT_FUNCTIONS_MAX 64

struct hot_function {
	const char *name; /* short: without modules; until the next sample */
	const char *part; /* of the compiler: mostly a crate */
	uint64_t last_ns; /* time of the thread's last sample */
	uint32_t tid;
};

struct hot_functions;

/* `texts` and what the source refers to outlive it. 0 or -ENOMEM. */
int hot_functions__new(const struct stack_source *source, const struct trace_texts *texts,
		       struct hot_functions **out);

/* Add a sample; those of other causes are ignored. 0 or -ENOMEM. */
int hot_functions__add(struct hot_functions *h, const struct trace_sample *sample);

/* False: none of its samples has a function. */
bool hot_functions__of(const struct hot_functions *h, uint32_t process, uint32_t tid,
		       struct hot_function *out);

/* CPU time of a thread, by its samples. */
uint64_t hot_functions__cpu_ns(const struct hot_functions *h, uint32_t process, uint32_t tid);

void hot_functions__free(struct hot_functions *h);
DEFINE_CLEANUP(struct hot_functions, hot_functions__free)
#define _hot_functions_ __cleanup(hot_functions__free_p)

#endif /* QPROF_ANALYZE_HOT_FUNCTIONS_H */
