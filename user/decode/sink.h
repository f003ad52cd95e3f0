/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The receiver of what the decoder makes of the kernel's records. */
#ifndef QPROF_DECODE_SINK_H
#define QPROF_DECODE_SINK_H

#include "qprof/wire.h"
#include "trace/trace.h"

/* The label of an interval whose own could not be had. */
#define DECODER_UNKNOWN	 "<unknown>"
#define DECODER_NO_LABEL UINT32_MAX

/*
 * Any member may be NULL. A function returns 0 or a negative errno, which the call of the decoder
 * that caused it returns.
 */
struct decoder_sink {
	void *ctx;   /* the first argument of all but ... */
	void *items; /* ... text, compose, foreign and place */
	int (*process)(void *ctx, const struct trace_process *p); /* new or changed */
	/* Nothing more comes of a process of the trace, not even spans of its last moments. */
	int (*over)(void *ctx, uint32_t process);
	int (*span)(void *ctx, const struct trace_span *s, const struct trace_times *times);
	/* A thread and its name, before its first span. */
	int (*thread)(void *ctx, const struct trace_thread *thread);
	/* A function of a file (decoder_functions.file), before the first place in it. */
	int (*function)(void *ctx, uint32_t file, const struct trace_function *f);
	/*
	 * As trace_writer__stack() and __sample(). -E2BIG of the first: the stack ends with the
	 * last entry. NULL: samples have no stacks, or are left out.
	 */
	int (*stack)(void *ctx, const struct trace_stack *entry, uint32_t *id);
	int (*sample)(void *ctx, const struct trace_sample *sample);
	/*
	 * As trace_writer__job(), but *id is TRACE_NO_JOB if there is no room. `key` as in struct
	 * wire_job. NULL: samples have no jobs.
	 */
	int (*job)(void *ctx, const struct trace_job *job, uint64_t key, uint32_t *id);
	/*
	 * As trace_writer__llvm(), but *id is TRACE_NO_LLVM if there is no room. NULL: samples do
	 * not have what LLVM was doing.
	 */
	int (*llvm)(void *ctx, const struct trace_llvm *entry, uint32_t *id);
	/*
	 * Set *id to the string id of a dynamic label, or of the reason why a thread was off the
	 * CPU. NULL: records of either are refused.
	 */
	int (*label)(void *ctx, const char *text, uint32_t *id);
	/*
	 * As trace_writer__intern(), __compose() and __map(), for the names of what executions were
	 * about; the id is TRACE_NO_STRING if the trace has no room. All three or none; NULL: keys
	 * are not named.
	 */
	int (*text)(void *ctx, const char *text, uint32_t *id);
	int (*compose)(void *ctx, const struct trace_piece *pieces, uint32_t n, uint32_t *id);
	int (*map)(void *ctx, const struct trace_mapping *m);
	/* As trace_writer__place(), of such a name. */
	int (*place)(void *ctx, const struct trace_place *place);
	/*
	 * How many results a query has in a process (TRACE_KIND_RESULTS, or _AT_LEAST); once, when
	 * it is over. None of a process of which nothing is known.
	 */
	int (*tally)(void *ctx, const struct trace_tally *t);
	/*
	 * What results of a query are about, in any number of parts, before its process is over.
	 * NULL: unwanted.
	 */
	int (*results)(void *ctx, const struct trace_results *results);
	/* As trace_writer__symbol(), before its process is over. NULL: unwanted. */
	int (*symbol)(void *ctx, const struct trace_symbol *symbol);
	/* A string is the name of a crate other than the one that is compiled; NULL: unwanted. */
	int (*foreign)(void *ctx, uint32_t id);
	/* Whether spans with this dynamic label are wanted; NULL: all are. */
	bool (*wants)(void *ctx, const struct wire_label_key *label);
};

#endif /* QPROF_DECODE_SINK_H */
