/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The samples of a recording, on their way into the trace. A trace that holds no more stacks is
 * still a trace: one line says so, and later samples with new stacks have none.
 */
#ifndef QPROF_RECORD_SAMPLE_OUTPUT_H
#define QPROF_RECORD_SAMPLE_OUTPUT_H

#include "capture/sampling_options.h"
#include "record/trace_output.h"

/* With `trace` set and the rest zero, nothing was written yet. */
struct sample_output {
	struct trace_output *trace; /* the owner's */
	bool refused;		    /* the stack of the sample to come found no room */
	bool warned;
	bool light;	    /* stacks of page faults are cut on purpose */
	uint64_t n;	    /* samples in the trace */
	uint64_t n_cut;	    /* of these, those whose stack does not reach its thread's start */
	uint64_t n_no_room; /* of these, those whose stack found no room */
};

/* Before the first sample: how they are taken; `queries`: as in struct trace_sampling. Nothing is
 * written if there will be none. */
void sample_output__begin(struct sample_output *o, const struct sampling_options *options,
			  bool queries);

/*
 * As trace_writer__stack(), from the outermost entry of a sample to the innermost one; the sample
 * follows. *id is TRACE_NO_STACK if there is no room, or the trace has failed.
 */
void sample_output__stack(struct sample_output *o, const struct trace_stack *s, uint32_t *id);
/* As trace_writer__job(). *id is TRACE_NO_JOB if there is no room, or the trace has failed. */
int sample_output__job(struct sample_output *o, const struct trace_job *job, uint32_t *id);

/* The same of what LLVM was doing; TRACE_NO_LLVM. */
int sample_output__llvm(struct sample_output *o, const struct trace_llvm *entry, uint32_t *id);
void sample_output__sample(struct sample_output *o, const struct trace_sample *s);

#endif /* QPROF_RECORD_SAMPLE_OUTPUT_H */
